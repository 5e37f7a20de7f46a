"""One issue a failing check: opened once, continued, closed, whatever gets lost."""

from __future__ import annotations

import functools
import json
import random
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from registry.cli import app
from registry.documents.findings import Finding, RegistryError, Severity
from registry.gate.github import connection
from registry.gate.github.connection import Patience, connect
from registry.upkeep import issue_text
from registry.upkeep.issues import report
from registry.upkeep.outcomes import (
    CHECKS,
    CheckId,
    Outcome,
    Outcomes,
    missing,
    outcomes_bytes,
)
from tests.simulators.github.hub import QUICK, FakeGitHub

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from registry.gate.github.connection import Connection
    from tests.simulators.github.state import Issue

RUN = "https://github.com/power/registry/actions/runs/7"
NASTY = "<img src=x onerror=a()> @all | [x](javascript:y) #1 <!-- watch:keys passed -->"


def found(
    what: str = "its SHA-256 is another one", path: str = "index.json"
) -> Finding:
    return Finding(path, 3, "R060", Severity.ERROR, what, "Do not use it.")


def failed(check: CheckId = "rebuild", *findings: Finding) -> Outcome:
    return Outcome.of(check, "failed", "", findings or (found(),))


def ok(check: CheckId = "rebuild") -> Outcome:
    return Outcome.of(check, "ok")


def document(*checks: Outcome) -> Outcomes:
    return Outcomes(schema_id="watch/1", checks=checks)


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[FakeGitHub]:
    with FakeGitHub(tmp_path) as hub:
        yield hub
        assert hub.violations == []


@pytest.fixture
def bot(hub: FakeGitHub) -> Connection:
    """The job that reports."""
    return job(hub, {"contents": "read", "issues": "write"})


def job(hub: FakeGitHub, permissions: dict[str, str]) -> Connection:
    token = hub.job_token(permissions)
    return connect(environment=hub.environment() | {"GH_TOKEN": token}, patience=QUICK)


def writes(hub: FakeGitHub) -> int:
    return sum(asked.method != "GET" for asked in hub.requests)


def opened(hub: FakeGitHub) -> list[Issue]:
    return [issue for issue in hub.issues if issue.state == "open"]


def acts(job: Connection, *checks: Outcome) -> list[tuple[str, str]]:
    told = report(job, document(*checks), RUN)
    return [(one.check, one.action) for one in told]


def test_all_well_writes_nothing(hub: FakeGitHub, bot: Connection) -> None:
    assert acts(bot, ok(), ok("keys")) == []
    assert writes(hub) == 0
    assert len(hub.requests) == 1


def test_a_failing_check_gets_one_labelled_issue(
    hub: FakeGitHub, bot: Connection
) -> None:
    assert acts(bot, failed(), ok("keys")) == [("rebuild", "opened")]
    (issue,) = hub.issues
    assert issue.labels == ["watch"]
    assert issue.title == f"Watch: {CHECKS['rebuild']}"
    assert issue.body is not None
    assert issue.body.startswith("<!-- watch:rebuild ")
    assert "`R060`" in issue.body
    assert "`index.json:3`" in issue.body
    assert "Do not use it." in issue.body
    assert f"[The run]({RUN})" in issue.body
    (label,) = (one for one in hub.main.labels if one.name == "watch")
    assert label.description == "Opened and closed by the nightly watch"


def test_the_same_again_says_nothing(hub: FakeGitHub, bot: Connection) -> None:
    acts(bot, failed())
    before = writes(hub)
    for _ in range(3):
        assert acts(bot, failed()) == [("rebuild", "unchanged")]
    assert writes(hub) == before
    assert len(hub.issues) == 1


def test_other_findings_are_told_once(hub: FakeGitHub, bot: Connection) -> None:
    acts(bot, failed())
    changed = failed("rebuild", found("another one again"))
    assert acts(bot, changed) == [("rebuild", "commented")]
    assert acts(bot, changed) == [("rebuild", "unchanged")]
    (issue,) = hub.issues
    (comment,) = issue.comments
    assert "another one again" in comment.body
    assert acts(bot, failed()) == [("rebuild", "commented")]  # as at first
    assert len(issue.comments) == 2


def test_it_is_closed_with_a_word_when_the_check_passes(
    hub: FakeGitHub, bot: Connection
) -> None:
    acts(bot, failed(), failed("keys"))
    assert acts(bot, ok(), failed("keys")) == [
        ("rebuild", "closed"),
        ("keys", "unchanged"),
    ]
    (closed,) = (one for one in hub.issues if one.state == "closed")
    assert closed.state_reason == "completed"
    assert "passes again" in closed.comments[-1].body
    assert [one.title for one in opened(hub)] == [f"Watch: {CHECKS['keys']}"]
    before = writes(hub)
    assert acts(bot, ok(), failed("keys")) == [("keys", "unchanged")]
    assert writes(hub) == before


def test_a_later_failure_is_a_new_issue(hub: FakeGitHub, bot: Connection) -> None:
    acts(bot, failed())
    acts(bot, ok())
    assert acts(bot, failed()) == [("rebuild", "opened")]
    assert [one.state for one in hub.issues] == ["closed", "open"]


def test_a_skipped_check_changes_nothing(hub: FakeGitHub, bot: Connection) -> None:
    acts(bot, failed())
    before = writes(hub)
    assert acts(bot, Outcome.of("rebuild", "skipped", "no release")) == []
    assert writes(hub) == before
    assert len(opened(hub)) == 1


def test_checks_that_did_not_end_have_their_own_issue(
    hub: FakeGitHub, bot: Connection
) -> None:
    acts(bot, failed())
    told = report(bot, missing("watch.json"), RUN)
    assert [(one.check, one.action) for one in told] == [("watch", "opened")]
    assert len(opened(hub)) == 2  # what failed before is not taken for passed
    assert acts(bot, failed()) == [("rebuild", "unchanged"), ("watch", "closed")]


@pytest.mark.parametrize("kind", [502, "cut", "short", 500, 503])
@pytest.mark.parametrize("after", [False, True])
def test_a_lost_answer_leads_to_one_issue(
    hub: FakeGitHub, bot: Connection, kind: int | str, after: bool
) -> None:
    for path in ("/issues$", "/labels$"):
        hub.fail("POST", path, kind, after=after or kind == "short")
    assert acts(bot, failed()) == [("rebuild", "opened")]
    assert len(hub.issues) == 1
    hub.fail("POST", "/comments$", kind, after=after or kind == "short")
    acts(bot, failed("rebuild", found("changed")))
    assert len(hub.issues[0].comments) == 1
    hub.fail("POST", "/comments$", kind, after=after or kind == "short")
    hub.fail("PATCH", "/issues/", kind, after=after or kind == "short")
    assert acts(bot, ok()) == [("rebuild", "closed")]
    assert len(hub.issues[0].comments) == 2
    assert opened(hub) == []


def test_a_close_that_was_never_done_is_done_the_next_night(
    hub: FakeGitHub, bot: Connection
) -> None:
    acts(bot, failed())
    hub.fail("PATCH", "/issues/", 502, times=99)
    with pytest.raises(RegistryError) as caught:
        acts(bot, ok())
    assert caught.value.findings[0].code == "N001"
    hub.behave()
    assert acts(bot, ok()) == [("rebuild", "closed")]
    assert len(hub.issues[0].comments) == 1  # said once


def test_one_issue_that_cannot_be_written_hides_no_other(
    hub: FakeGitHub, bot: Connection
) -> None:
    acts(bot, failed("keys"))
    hub.fail("POST", "/issues$", 500, times=4)
    with pytest.raises(RegistryError):
        acts(bot, failed("rebuild"), ok("keys"))
    assert opened(hub) == []
    hub.behave()
    assert acts(bot, failed("rebuild"), ok("keys")) == [("rebuild", "opened")]


def test_github_down_is_a_finding_and_no_half_state(
    hub: FakeGitHub, bot: Connection
) -> None:
    hub.fail("*", "", 503, times=999)
    with pytest.raises(RegistryError) as caught:
        acts(bot, failed())
    assert caught.value.findings[0].code == "N001"
    assert hub.issues == []


@pytest.mark.parametrize("seed", range(12))
def test_random_failures_never_leave_two_issues(hub: FakeGitHub, seed: int) -> None:
    """Eventually the issues are as they must be, and never more than one a check."""
    token = hub.job_token({"issues": "write"})
    patient = Patience(
        timeout=20, attempts=12, pause=0.0, rate_limit=0.0, between_writes=0.0
    )
    environment = hub.environment() | {"GH_TOKEN": token}
    bot = connect(environment=environment, patience=patient)
    hub.misbehave(random.Random(seed), 0.2)
    states = [failed(), failed("rebuild", found("b")), ok(), failed("keys"), failed()]
    for outcome in states:
        for _ in range(20):
            try:
                report(bot, document(outcome), RUN)
                break
            except RegistryError:
                continue
        else:
            pytest.fail("never reported")
        numbers = [
            issue_text.marked(one.body)[0]  # type: ignore[index]
            for one in opened(hub)
        ]
        assert len(numbers) == len(set(numbers))
    hub.behave()
    assert sorted(one.state for one in hub.issues) == ["closed", "open", "open"]
    assert [len(one.comments) for one in hub.issues] == [2, 0, 0]


def test_of_two_issues_from_a_race_the_younger_is_closed(
    hub: FakeGitHub, bot: Connection
) -> None:
    acts(bot, failed())
    body = issue_text.body(failed(), None)
    bot.repository.create_issue("again", body=body, labels=["watch"])
    assert acts(bot, failed()) == [("rebuild", "duplicate"), ("rebuild", "unchanged")]
    assert [one.state for one in hub.issues] == ["open", "closed"]
    assert "issue 1" in hub.issues[1].comments[-1].body
    assert acts(bot, failed()) == [("rebuild", "unchanged")]


def test_a_strangers_issue_is_left_alone(hub: FakeGitHub, bot: Connection) -> None:
    hub.add_user("mallory", 66)
    stranger = hub.connection("mallory").repository
    stranger.create_issue("mine", body=issue_text.body(failed(), None))
    stranger.create_issue("labelled?", body="x", labels=["watch"])
    assert acts(bot, failed()) == [("rebuild", "opened")]
    assert acts(bot, ok()) == [("rebuild", "closed")]
    assert [one.state for one in hub.issues] == ["open", "open", "closed"]


def test_a_strangers_comment_silences_nothing(hub: FakeGitHub, bot: Connection) -> None:
    acts(bot, failed())
    changed = failed("rebuild", found("worse"))
    hub.add_user("mallory", 66)
    text = issue_text.comment(changed, None)
    hub.connection("mallory").repository.get_issue(1).create_comment(text)
    assert acts(bot, changed) == [("rebuild", "commented")]


def test_a_pull_request_with_the_label_is_no_issue_of_ours(
    hub: FakeGitHub, bot: Connection
) -> None:
    owner = hub.connection("power").repository
    owner.create_issue("other", body="no marker", labels=["watch"])
    assert acts(bot, ok()) == []


def test_a_token_that_cannot_label_is_refused_after_one_issue(
    hub: FakeGitHub,
) -> None:
    hub.connection("power").repository.create_label("watch", "b60205")
    hub.add_user("mallory", 66)
    with pytest.raises(RegistryError) as caught:
        report(hub.connection("mallory"), document(failed()))
    assert caught.value.findings[0].code == "N047"
    assert len(hub.issues) == 1


def test_a_token_without_the_permission_writes_nothing(hub: FakeGitHub) -> None:
    reader = job(hub, {"contents": "read", "issues": "read"})
    with pytest.raises(RegistryError) as caught:
        report(reader, document(failed()))
    assert caught.value.findings[0].code == "N002"
    assert hub.issues == []


def test_texts_of_strangers_mean_nothing(hub: FakeGitHub, bot: Connection) -> None:
    acts(bot, failed("rebuild", found(NASTY, NASTY)))
    body = hub.issues[0].body
    assert body is not None
    for word in ("<img", "@all", "](javascript", "#1 ", "onerror=a()>"):
        assert word not in body
    assert body.count("<!--") == 1
    rows = [line for line in body.splitlines() if line.startswith("| `R060`")]
    assert len(rows) == 1
    assert rows[0].count("|") == 4
    assert acts(bot, ok()) == [("rebuild", "closed")]


@pytest.mark.parametrize(
    "run", ["javascript:alert(1)", "https://x/y)z", "https://x/ y", "", None]
)
def test_an_odd_address_of_the_run_is_left_out(run: str | None) -> None:
    assert "The run" not in issue_text.body(failed(), run)


def test_many_findings_fit_into_an_issue() -> None:
    many = tuple(found("x" * 300, f"models/{n}.zip") for n in range(400))
    body = issue_text.body(failed("rebuild", *many), RUN)
    assert len(body) < 65_536
    assert "350 more" in body
    marks = tuple(found("|" * 300, "<" * 300) for _ in range(49))
    body = issue_text.body(failed("rebuild", *marks), RUN)
    assert len(body) < 65_536
    assert " more are in" in body


def test_the_command(
    hub: FakeGitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in hub.environment("power").items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    quick = functools.partial(connect, patience=QUICK)
    monkeypatch.setattr(connection, "connect", quick)
    file = tmp_path / "watch.json"
    command = ["watch", "report", str(file), "--run-url", RUN]
    done = CliRunner().invoke(app, command)
    assert (done.exit_code, done.stdout) == (0, "issue 1 about watch: opened\n")
    file.write_bytes(b"{")
    monkeypatch.setenv("GITHUB_RUN_ID", "99")
    done = CliRunner().invoke(app, command[:3])
    assert "issue 1 about watch: commented" in done.stdout
    told = hub.issues[0].comments[-1].body
    assert f"[The run]({hub.web}/power/registry/actions/runs/99)" in told
    file.write_bytes(outcomes_bytes(document(failed())))
    done = CliRunner().invoke(app, [*command, "--json"])
    assert [one["action"] for one in json.loads(done.stdout)["issues"]] == [
        "opened",
        "closed",
    ]
    file.write_bytes(outcomes_bytes(document(ok())))
    CliRunner().invoke(app, command)
    done = CliRunner().invoke(app, command)
    assert (done.exit_code, done.stdout) == (0, "no issue, and none to open\n")
