"""The audit against a GitHub on loopback, set up by the very commands that we print."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from registry.cli import app
from registry.documents.findings import RegistryError
from registry.documents.maintainers import Maintainer, Maintainers, maintainers_bytes
from registry.gate.github.connection import connect
from registry.upkeep.audit import audit
from registry.upkeep.outcomes import Outcomes, outcomes_bytes, read_outcomes
from registry.upkeep.wanted import wishes
from tests.simulators.github.hub import QUICK, FakeGitHub
from tests.simulators.github_cli import gh
from tests.simulators.registry import run_git

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from registry.gate.github.connection import Connection

PEOPLE = {11: "ada", 12: "ben", 13: "cyd"}


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[FakeGitHub]:
    """A repository with maintainers and code owners, and no settings yet."""
    with FakeGitHub(tmp_path) as hub:
        for number, login in PEOPLE.items():
            hub.add_user(login, number)
            hub.add_maintainer(login)
        people = tuple(Maintainer(id=who, login=name) for who, name in PEOPLE.items())
        named = Maintainers(schema_id="maintainers/1", approvals=2, maintainers=people)
        files = {
            ".github/CODEOWNERS": b"* @ada @ben @cyd\n",
            "registry/trust/maintainers.yaml": maintainers_bytes(named),
        }
        repository = hub.connection("power").repository
        for path, data in files.items():
            repository.create_file(path, f"Add {path}", data, branch="main")
        yield hub


def set_up(hub: FakeGitHub, root: Path) -> Connection:
    """Follow docs/github-settings.md from top to bottom."""
    owner = hub.connection("power")
    for way in wishes().ways.values():
        gh(owner, way.command, root, ID="11")
    return owner


def test_a_new_repository_lacks_nearly_everything(hub: FakeGitHub) -> None:
    done = audit(hub.connection("power"))
    wrong = {name for name, state in done.states.items() if state == "differs"}
    assert {"main-approval", "tags-unmoved", "actions-pinned", "alerts"} <= wrong
    assert {one.code for one in done.findings} == {"N040"}
    assert len(wrong) > 30
    assert hub.violations == []


def test_the_printed_commands_make_everything_right(
    hub: FakeGitHub, repository: Path
) -> None:
    owner = set_up(hub, repository)
    hub.requests.clear()
    done = audit(owner)
    assert done.findings == ()
    assert set(done.states.values()) == {"ok"}
    assert hub.violations == []
    assert {asked.method for asked in hub.requests} == {"GET"}
    assert len(hub.requests) <= 30


def test_a_jobs_token_reads_what_it_may_and_says_what_it_may_not(
    hub: FakeGitHub, repository: Path
) -> None:
    set_up(hub, repository)
    token = hub.job_token({"contents": "read"})
    environment = hub.environment() | {"GH_TOKEN": token}
    done = audit(connect(environment=environment, patience=QUICK))
    assert done.states["main-approval"] == "ok"
    assert done.states["actions-pinned"] == "unread"
    assert done.states["releases-immutable"] == "unread"
    assert "differs" not in done.states.values()
    assert {one.code for one in done.findings} == {"N041"}
    assert not done.fine


def test_without_a_token_nothing_is_fine_that_was_not_read(
    hub: FakeGitHub, repository: Path
) -> None:
    set_up(hub, repository)
    done = audit(hub.connection())
    assert "differs" not in done.states.values()
    assert done.states["actions-selected"] == "unread"


def test_github_down_is_said_once(hub: FakeGitHub) -> None:
    hub.fail("GET", "", 503, times=1000)
    with pytest.raises(RegistryError) as caught:
        audit(hub.connection("power"))
    assert [one.code for one in caught.value.findings] == ["N001"]


def test_a_hiccup_is_read_again(hub: FakeGitHub, repository: Path) -> None:
    owner = set_up(hub, repository)
    for path in ("/pages$", "/rulesets$", "CODEOWNERS"):
        for kind in (502, "cut"):
            hub.fail("GET", path, kind)
    assert audit(owner).fine


def test_an_answer_that_breaks_off_is_not_taken_for_one(
    hub: FakeGitHub, repository: Path
) -> None:
    owner = set_up(hub, repository)
    hub.fail("GET", "/pages$", "short", times=9)
    with pytest.raises(RegistryError) as caught:
        audit(owner)
    assert [one.code for one in caught.value.findings] == ["N001"]


@pytest.mark.parametrize("path", ["/actions/permissions$", "/contents/"])
@pytest.mark.parametrize(("kind", "code"), [("limit", "N003"), (500, "N001")])
def test_nothing_is_asked_after_github_falls_silent(
    hub: FakeGitHub, repository: Path, path: str, kind: int | str, code: str
) -> None:
    owner = set_up(hub, repository)
    hub.fail("GET", path, kind, times=999, seconds=7200)
    hub.requests.clear()
    with pytest.raises(RegistryError) as caught:
        audit(owner)
    assert [one.code for one in caught.value.findings] == [code]
    asked = [one.path for one in hub.requests]
    assert len({one for one in asked if re.search(path, one.partition("?")[0])}) == 1
    assert re.search(path, asked[-1].partition("?")[0])


def test_a_team_of_maintainers(hub: FakeGitHub, repository: Path) -> None:
    owner = set_up(hub, repository)
    hub.settings.rulesets.clear()
    file = owner.repository.get_contents(".github/CODEOWNERS")
    owner.repository.update_file(
        file.path, "Name a team", b"* @power/keepers\n", file.sha, branch="main"
    )
    hub.teams["power/keepers"] = ["ada", "ben"]
    found = [one.what for one in audit(owner).findings if one.code == "N044"]
    assert found == ["@power/keepers lacks cyd"]


def test_the_command(
    hub: FakeGitHub, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_up(hub, repository)
    for name, value in hub.environment("power").items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    done = CliRunner().invoke(app, ["github", "audit-settings", "--json"])
    assert done.exit_code == 0
    assert json.loads(done.stdout)["findings"] == []
    hub.settings.workflow["default_workflow_permissions"] = "write"
    done = CliRunner().invoke(app, ["github", "audit-settings"])
    assert done.exit_code == 1
    assert "error N040 github/token-read: default_workflow_permissions is write" in (
        done.stdout
    )
    assert f"{len(wishes().settings) - 1} settings as they should be, 1 differ" in (
        done.stdout
    )
    hub.settings.workflow["default_workflow_permissions"] = "read"
    monkeypatch.setenv("GH_TOKEN", hub.job_token({"contents": "read"}))
    done = CliRunner().invoke(app, ["github", "audit-settings"])
    assert done.exit_code == 1
    assert "warning N041" in done.stdout


def test_the_command_takes_the_name_from_the_checkout(
    hub: FakeGitHub, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_up(hub, repository)
    for name, value in hub.environment("power").items():
        monkeypatch.setenv(name, value)
    for name in ("GITHUB_REPOSITORY", "GITHUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "checkout"
    run_git(tmp_path, "init", "-q", str(folder))
    monkeypatch.chdir(folder)
    watch = tmp_path / "watch.json"
    watch.write_bytes(outcomes_bytes(Outcomes(schema_id="watch/1", checks=())))
    commands = (("github", "audit-settings"), ("watch", "report", str(watch)))
    for command in commands:
        done = CliRunner().invoke(app, [*command])
        assert isinstance(done.exception, RegistryError)
        assert [one.code for one in done.exception.findings] == ["N006"]
    run_git(folder, "remote", "add", "origin", f"{hub.web}/power/registry.git")
    assert [CliRunner().invoke(app, [*one]).exit_code for one in commands] == [0, 0]
    out = tmp_path / "out.json"
    CliRunner().invoke(app, ["watch", "check", "--from", ".", "--out", str(out)])
    outcomes = read_outcomes(out.read_bytes(), "out.json")
    (found,) = (one for one in outcomes.checks if one.id == "settings")
    assert found.status == "ok"


def test_a_wrong_call_is_told_in_text_on_standard_error() -> None:
    done = CliRunner().invoke(app, ["github", "audit-settings", "--json", "--no-such"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--no-such" in done.stderr
