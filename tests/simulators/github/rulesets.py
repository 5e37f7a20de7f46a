"""Rulesets: what they say, and whether they let a ref be changed so."""

from __future__ import annotations

import fnmatch
from typing import TYPE_CHECKING, Any

from tests.simulators.github.routing import Ask, Refused, Reply, page, route
from tests.simulators.github.shapes import node

if TYPE_CHECKING:
    from tests.simulators.github.hub import FakeGitHub
    from tests.simulators.github.state import Repository

__all__ = ["active", "blocked", "guards", "new_ruleset"]

_NONE = "0" * 40
_ADMIN = {"actor_id": 5, "actor_type": "RepositoryRole", "bypass_mode": "always"}


def new_ruleset(
    hub: FakeGitHub,
    known: Repository,
    wanted: dict[str, Any],
    number: int | None = None,
) -> dict[str, Any]:
    """A ruleset as GitHub keeps it, from what a client sends.

    Args:
        hub: the fake.
        known: the repository.
        wanted: name, enforcement, target, conditions, rules, bypass actors.
        number: its id, if it was there before.
    """
    name, now = hub.full_name(known), hub.stamp()
    made = number or hub.next_id()
    # GitHub names every parameter in its answers, also those that were not sent.
    rules = [dict(rule) for rule in wanted.get("rules", [])]
    return {
        "id": made,
        "name": wanted["name"],
        "target": wanted.get("target", "branch"),
        "source_type": "Repository",
        "source": name,
        "enforcement": wanted["enforcement"],
        "conditions": wanted.get("conditions"),
        "rules": rules,
        "node_id": node("RRS", made),
        "created_at": now,
        "updated_at": now,
        "bypass_actors": wanted.get("bypass_actors", []),
        "current_user_can_bypass": "never",
        "_links": {
            "self": {"href": f"{hub.api}/repos/{name}/rulesets/{made}"},
            "html": {"href": f"{hub.web}/{name}/rules/{made}"},
        },
    }


def _covers(known: Repository, ruleset: dict[str, Any], ref: str) -> bool:
    names = (ruleset.get("conditions") or {}).get("ref_name") or {}

    def among(patterns: list[str]) -> bool:
        default = f"refs/heads/{known.default_branch}"
        return any(
            pattern == "~ALL"
            or (pattern == "~DEFAULT_BRANCH" and ref == default)
            or fnmatch.fnmatchcase(ref, pattern)
            for pattern in patterns
        )

    target = "refs/tags/" if ruleset.get("target") == "tag" else "refs/heads/"
    inside = among(names.get("include", [])) and not among(names.get("exclude", []))
    return ref.startswith(target) and inside


def active(known: Repository, ref: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """The rules for a ref, each with its ruleset."""
    return [
        (rule, ruleset)
        for ruleset in known.settings.rulesets
        if ruleset.get("enforcement") == "active" and _covers(known, ruleset, ref)
        for rule in ruleset.get("rules", [])
    ]


def guards(known: Repository, ref: str, role: str) -> set[str]:
    """The kinds of changes to a ref that somebody may not make.

    Args:
        known: the repository.
        ref: the whole name.
        role: of who changes it; a ruleset may let admins pass.
    """
    kinds = {
        rule["type"]
        for rule, ruleset in active(known, ref)
        if role != "admin" or _ADMIN not in ruleset.get("bypass_actors", [])
    }
    for release in known.releases:
        if release.immutable and ref == f"refs/tags/{release.tag_name}":
            kinds |= {"deletion", "update"}
    return kinds


def blocked(kinds: set[str], old: str | None, new: str | None, forced: bool) -> bool:
    """Whether a change of a ref is refused.

    Args:
        kinds: from ``guards``.
        old: the object before, or None.
        new: the object after, or None.
        forced: whether the new one lacks the old one among its ancestors.
    """
    if old in {None, _NONE}:
        return bool(kinds & {"creation", "pull_request"})
    if new in {None, _NONE}:
        return bool(kinds & {"deletion", "pull_request"})
    if forced and "non_fast_forward" in kinds:
        return True
    return bool(kinds & {"update", "pull_request", "merge_queue"})


def _shown(ask: Ask, ruleset: dict[str, Any], *, whole: bool) -> dict[str, Any]:
    """A ruleset; who may bypass it is shown to those who may write it."""
    hidden = set() if whole else {"rules", "conditions", "bypass_actors"}
    if ask.hub.role(ask.repository, ask.account, ask.token) != "admin":
        hidden |= {"bypass_actors", "current_user_can_bypass"}
    return {name: value for name, value in ruleset.items() if name not in hidden}


def _ruleset(ask: Ask) -> dict[str, Any]:
    for ruleset in ask.repository.settings.rulesets:
        if ruleset["id"] == ask.number("ruleset_id"):
            return ruleset
    raise Refused(404, "Not Found")


@route("GET", "R/rulesets")
def _list(ask: Ask) -> Reply:
    found = ask.repository.settings.rulesets
    return page(ask, [_shown(ask, ruleset, whole=False) for ruleset in found])


@route("POST", "R/rulesets", needs=("administration", "write"), role="admin")
def _create(ask: Ask) -> Reply:
    rulesets = ask.repository.settings.rulesets
    _check_name(ask, None)
    rulesets.append(new_ruleset(ask.hub, ask.repository, ask.json))
    return Reply(201, _shown(ask, rulesets[-1], whole=True))


def _check_name(ask: Ask, number: int | None) -> None:
    for ruleset in ask.repository.settings.rulesets:
        if ruleset["name"] == ask.json.get("name") and ruleset["id"] != number:
            raise Refused(422, "Validation Failed", errors=["Name must be unique"])


@route("GET", "R/rulesets/{ruleset_id}")
def _get(ask: Ask) -> Reply:
    return Reply(200, _shown(ask, _ruleset(ask), whole=True))


@route(
    "PUT", "R/rulesets/{ruleset_id}", needs=("administration", "write"), role="admin"
)
def _replace(ask: Ask) -> Reply:
    before = _ruleset(ask)
    _check_name(ask, before["id"])
    wanted = {**before, **ask.json}
    after = new_ruleset(ask.hub, ask.repository, wanted, before["id"])
    before.update(after, created_at=before["created_at"])
    return Reply(200, _shown(ask, before, whole=True))


@route(
    "DELETE", "R/rulesets/{ruleset_id}", needs=("administration", "write"), role="admin"
)
def _delete(ask: Ask) -> Reply:
    ask.repository.settings.rulesets.remove(_ruleset(ask))
    return Reply(204)


@route("GET", "R/rules/branches/{branch}")
def _of_branch(ask: Ask) -> Reply:
    ref = f"refs/heads/{ask.params['branch']}"
    shown = [
        {
            **rule,
            "ruleset_source_type": "Repository",
            "ruleset_source": ask.hub.full_name(ask.repository),
            "ruleset_id": ruleset["id"],
        }
        for rule, ruleset in active(ask.repository, ref)
    ]
    return page(ask, shown)
