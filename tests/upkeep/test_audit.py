"""The audit of the repository's settings: each wrong one is found, and only that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from registry.documents import limits
from registry.documents.findings import RegistryError
from registry.upkeep.audit import as_json, as_lines, audit
from registry.upkeep.wanted import Setting, wishes
from tests.simulators.told import NAME, good, spoil

if TYPE_CHECKING:
    from tests.simulators.told import Told

HERE = f"/repos/{NAME}"
SETTINGS = wishes().settings
DEPENDENT = {
    "main-verify": {"main-verify-source"},
    "actions-selected": {"actions-github", "actions-unverified", "actions-others"},
}
"""Settings that only exist within another."""


def look(told: Told) -> Any:
    return audit(told)  # type: ignore[arg-type]  # reads as a connection does


@pytest.mark.parametrize("queue", [False, True])
def test_good_settings_have_no_findings(queue: bool) -> None:
    done = look(good(queue=queue))
    assert done.findings == ()
    assert set(done.states.values()) == {"ok"}
    assert len(done.states) == len(SETTINGS) > 40
    assert done.fine


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda one: one.id)
def test_each_wrong_setting_is_found_alone(setting: Setting) -> None:
    told = good(queue=setting.id.startswith("queue"))
    spoil(told, setting)
    done = look(told)
    wrong = {name for name, state in done.states.items() if state == "differs"}
    assert wrong - DEPENDENT.get(setting.id, set()) == {setting.id}
    (found,) = (one for one in done.findings if one.path == f"github/{setting.id}")
    assert found.code == "N040"
    assert found.severity == "error"
    assert setting.way.page in found.fix
    assert NAME in found.fix or "docs/github-settings.md" in found.fix
    assert len(found.fix) <= limits.MESSAGE_CHARACTERS
    assert not found.fix.endswith("…")
    assert "should be" in found.what
    assert len(done.findings) == len(wrong)


def test_a_merge_queue_stands_for_being_up_to_date() -> None:
    told = good(queue=True)
    rules = told.answers[f"{HERE}/rules/branches/main"]
    rules[:] = [rule for rule in rules if rule["type"] != "merge_queue"]
    assert look(told).states["main-up-to-date"] == "differs"


def test_a_queue_that_rebases_or_gathers_is_found() -> None:
    told = good(queue=True)
    (queue,) = (
        rule
        for rule in told.answers[f"{HERE}/rules/branches/main"]
        if rule["type"] == "merge_queue"
    )
    queue["parameters"] |= {"merge_method": "REBASE", "max_entries_to_merge": 5}
    wrong = {name for name, state in look(told).states.items() if state == "differs"}
    assert wrong == {"queue-single", "queue-method"}


@pytest.mark.parametrize("number", [1, 3])
def test_bypass_actors_that_github_hides_are_not_counted_as_none(number: int) -> None:
    told = good()
    del told.answers[f"{HERE}/rulesets/{number}"]["bypass_actors"]
    done = look(told)
    unread = {name for name, state in done.states.items() if state == "unread"}
    assert unread == {"main-no-bypass" if number == 1 else "tags-no-bypass"}
    (found,) = done.findings
    assert (found.code, found.severity) == ("N041", "warning")
    assert "needs Administration: write" in found.what
    assert not done.fine


@pytest.mark.parametrize(
    "change",
    [
        {"enforcement": "evaluate"},
        {"enforcement": "disabled"},
        {"target": "branch"},
        {"conditions": {"ref_name": {"include": ["refs/tags/v*"], "exclude": []}}},
        {
            "conditions": {
                "ref_name": {"include": ["~ALL"], "exclude": ["refs/tags/r-0*"]}
            }
        },
    ],
)
def test_a_tag_ruleset_that_does_not_protect_releases_is_none(
    change: dict[str, Any],
) -> None:
    told = good()
    told.answers[f"{HERE}/rulesets/3"] |= change
    listed = told.answers[f"{HERE}/rulesets"][-1]
    listed |= {key: change[key] for key in change.keys() & listed.keys()}
    states = look(told).states
    assert states["tags-unmoved"] == states["tags-undeleted"] == "differs"


def test_not_found_is_off_for_an_administrator() -> None:
    told = good()
    for path in ("immutable-releases", "vulnerability-alerts", "pages"):
        del told.answers[f"{HERE}/{path}"]
    states = look(told).states
    assert {name for name, state in states.items() if state == "differs"} == {
        "releases-immutable",
        "alerts",
        "site-by-actions",
        "site-https",
    }


def test_not_found_says_nothing_to_anybody_else() -> None:
    told = good()
    told.answers[HERE]["permissions"] = {"admin": False}
    for path in ("immutable-releases", "vulnerability-alerts", "environments/release"):
        del told.answers[f"{HERE}/{path}"]
    done = look(told)
    assert done.states["releases-immutable"] == "unread"
    assert done.states["alerts"] == "unread"
    assert done.states["release-reviewers"] == "differs"  # anyone may read those
    assert done.states["release-main"] == "differs"


def test_a_refusal_names_the_permission_in_githubs_words() -> None:
    told = good()
    told.refusals[f"{HERE}/actions/permissions"] = 403
    assert "needs Administration: read" in look(told).findings[0].what
    told.headers = {"X-Accepted-GitHub-Permissions": "administration=read"}
    done = look(told)
    assert "needs administration: read" in done.findings[0].what
    unread = {name for name, state in done.states.items() if state == "unread"}
    assert unread == {one.id for one in SETTINGS if one.way.page.count("Actions p")} | {
        "actions-github",
        "actions-unverified",
        "actions-others",
    }


def test_a_secret_setting_that_github_leaves_out_is_not_readable() -> None:
    told = good()
    del told.answers[HERE]["security_and_analysis"]
    del told.answers[HERE]["allow_rebase_merge"]
    done = look(told)
    unread = {name for name, state in done.states.items() if state == "unread"}
    assert unread == {"secrets-scanned", "secrets-blocked", "no-rebase"}
    (found,) = done.findings
    assert "secrets-scanned, secrets-blocked, no-rebase" in found.what


@pytest.mark.parametrize(
    ("path", "unread"),
    [
        ("/rulesets/1", {"main-no-bypass"}),
        ("/rules/branches/main", {"main-no-bypass", "main-approval", "queue-single"}),
        ("/rulesets", {"tags-unmoved", "tags-no-bypass"}),
        ("/rulesets/3", {"tags-undeleted", "tags-created"}),
    ],
)
def test_rules_that_cannot_be_read_are_not_fine(path: str, unread: set[str]) -> None:
    told = good()
    told.refusals[HERE + path] = 403
    done = look(told)
    found = {name for name, state in done.states.items() if state == "unread"}
    assert unread <= found
    assert "differs" not in done.states.values()
    assert {one.code for one in done.findings} == {"N041"}


@pytest.mark.parametrize("status", [500, 503])
def test_a_broken_answer_ends_the_audit_and_is_no_pass(status: int) -> None:
    told = good()
    told.refusals[f"{HERE}/pages"] = status
    with pytest.raises(RegistryError) as caught:
        look(told)
    assert [one.code for one in caught.value.findings] == ["N001"]
    assert told.asked[-1] == f"{HERE}/pages"


def test_everything_is_asked_once() -> None:
    told = good(queue=True)
    look(told)
    assert len(told.asked) == len(set(told.asked))
    assert len(told.asked) <= 30


def test_nothing_is_asked_that_does_not_exist() -> None:
    told = good()
    told.answers[f"{HERE}/actions/permissions"]["allowed_actions"] = "all"
    del told.answers[f"{HERE}/environments/release"]
    look(told)
    assert f"{HERE}/actions/permissions/selected-actions" not in told.asked
    branches = f"{HERE}/environments/release/deployment-branch-policies"
    assert branches not in told.asked


def test_the_outcome_as_a_document_and_as_a_line() -> None:
    told = good()
    spoil(told, next(one for one in SETTINGS if one.id == "token-read"))
    done = look(told)
    document = as_json(done)
    assert document["schema"] == "audit/1"
    assert document["settings"]["token-read"] == "differs"
    assert [one["path"] for one in document["findings"]] == ["github/token-read"]
    (line,) = as_lines(done)
    count = len(SETTINGS) - 1
    assert line == (
        f"{NAME}: {count} settings as they should be, 1 differ, 0 could not be read"
    )
