"""Answers about a repository's settings, told from dictionaries: no server."""

from __future__ import annotations

import base64
import json
from copy import deepcopy
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Any

import github

from registry.documents.findings import RegistryError
from registry.documents.maintainers import Maintainer, Maintainers, maintainers_bytes
from registry.gate.github.connection import failure
from registry.upkeep.answers import Step, met, values

if TYPE_CHECKING:
    from registry.upkeep.wanted import Setting

__all__ = ["NAME", "PEOPLE", "Told", "good", "ruleset", "spoil"]

NAME = "power/registry"
PEOPLE = {11: "ada", 12: "ben", 13: "cyd"}
_HERE = f"/repos/{NAME}"
_BYPASS = {"actor_id": 5, "actor_type": "RepositoryRole", "bypass_mode": "always"}


@dataclass
class Told:
    """Stands in for `Connection`: reads from a dictionary.

    Attributes:
        answers: By path.
        refusals: Statuses by path; what neither is told nor refused is not found.
        asked: Every path that was read.
    """

    answers: dict[str, Any]
    refusals: dict[str, int] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    name: str = NAME

    def read(self, path: str) -> Any:
        self.asked.append(path)
        if path not in self.refusals and path in self.answers:
            return self.answers[path]
        status = self.refusals.get(path, 404)
        said = {"message": "Not Found"}
        error = github.GithubException(status, data=said, headers=self.headers)
        raise RegistryError(failure(error, path)) from error

    def read_all(self, path: str, key: str | None = None) -> list[Any]:
        found = self.read(path)
        return list(found if key is None else found[key])


def ruleset(name: str, number: int) -> dict[str, Any]:
    """A ruleset of the package as GitHub gives it back."""
    folder = resources.files("registry.upkeep").joinpath("rulesets")
    written = json.loads(folder.joinpath(f"{name}.json").read_text("utf-8"))
    return {"id": number, "source_type": "Repository", "source": NAME, **written}


def good(*, queue: bool = False) -> Told:
    """All that a well-kept repository says."""
    main, tags = ruleset("main", 1), ruleset("tags", 3)
    applied = [main]
    if queue:
        applied.append(ruleset("queue", 2))
        strict = "strict_required_status_checks_policy"
        main["rules"][3]["parameters"][strict] = False
    rules = [
        deepcopy(rule) | {"ruleset_id": one["id"]}
        for one in applied
        for rule in one["rules"]
    ]
    everything = [*applied, tags]
    owners = "* @ada @ben @cyd\n"
    branches = {
        "total_count": 1,
        "branch_policies": [{"id": 1, "name": "main", "type": "branch"}],
    }
    limited = {"protected_branches": False, "custom_branch_policies": True}
    gate = {
        "id": 1,
        "type": "required_reviewers",
        "prevent_self_review": True,
        "reviewers": [{"type": "User", "reviewer": {"id": 11, "login": "ada"}}],
    }
    answers: dict[str, Any] = {
        "": {
            "default_branch": "main",
            "visibility": "public",
            "archived": False,
            "has_issues": True,
            "allow_forking": True,
            "allow_rebase_merge": False,
            "permissions": {"admin": True},
            "security_and_analysis": {
                "secret_scanning": {"status": "enabled"},
                "secret_scanning_push_protection": {"status": "enabled"},
            },
        },
        "/rules/branches/main": rules,
        "/rulesets": [
            {key: one[key] for key in ("id", "name", "target", "enforcement")}
            for one in everything
        ],
        "/actions/permissions": {
            "enabled": True,
            "allowed_actions": "selected",
            "sha_pinning_required": True,
        },
        "/actions/permissions/workflow": {
            "default_workflow_permissions": "read",
            "can_approve_pull_request_reviews": False,
        },
        "/actions/permissions/selected-actions": {
            "github_owned_allowed": True,
            "verified_allowed": False,
            "patterns_allowed": ["ossf/scorecard-action@*"],
        },
        "/actions/permissions/fork-pr-contributor-approval": {
            "approval_policy": "all_external_contributors"
        },
        "/environments/release": {
            "protection_rules": [{"id": 2, "type": "branch_policy"}, gate],
            "deployment_branch_policy": limited,
        },
        "/environments/github-pages": {
            "protection_rules": [],
            "deployment_branch_policy": dict(limited),
        },
        "/environments/release/deployment-branch-policies": branches,
        "/environments/github-pages/deployment-branch-policies": deepcopy(branches),
        "/immutable-releases": {"enabled": True, "enforced_by_owner": False},
        "/pages": {"build_type": "workflow", "https_enforced": True},
        "/private-vulnerability-reporting": {"enabled": True},
        "/vulnerability-alerts": None,
        "/codeowners/errors": {"errors": []},
        "/contents/.github/CODEOWNERS?ref=main": _content(owners.encode()),
        "/contents/registry/trust/maintainers.yaml?ref=main": _content(_named()),
    }
    answers |= {f"/rulesets/{one['id']}": one for one in everything}
    told = {_HERE + path: value for path, value in answers.items()}
    told |= {
        f"/user/{number}": {"id": number, "login": login}
        for number, login in PEOPLE.items()
    }
    return Told(told)


def spoil(told: Told, setting: Setting) -> None:
    """Make one setting wrong, and as little else as possible."""
    for answer in _answers(told, setting):
        for want in setting.wants:
            if met(want, answer):
                _spoil(answer, want.steps, want.kind, want.value)


def _answers(told: Told, setting: Setting) -> list[Any]:
    path = setting.reading.path.replace("{name}", NAME)
    if setting.reading.id == "tag-rulesets":
        return [[told.answers[f"{_HERE}/rulesets/3"]]]
    if setting.reading.id == "main-rulesets":
        return [[told.answers[f"{_HERE}/rulesets/1"]]]
    if setting.reading.flag:
        del told.answers[path]
        return []
    return [told.answers[path]]


def _spoil(answer: Any, steps: tuple[Step, ...], kind: str, value: Any) -> None:
    (above, *_), last = values(answer, steps[:-1]), steps[-1]
    if kind == "present" and value:
        above[:] = [one for one in above if one not in values(above, [last])]
    elif kind == "present":
        above.append(dict(_BYPASS) if last == Step() else {"type": last.value})
    elif isinstance(above[last.name], list):
        above[last.name].append(value if kind == "lacks" else "other/action@*")
    else:
        above[last.name] = _other(kind, value)


def _other(kind: str, value: Any) -> Any:
    if kind == "lacks":
        return value
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value - 1 if kind == "at_least" else value + 1
    return "other"


def _content(data: bytes) -> dict[str, Any]:
    return {"type": "file", "content": base64.encodebytes(data).decode("ascii")}


def _named() -> bytes:
    people = tuple(Maintainer(id=who, login=name) for who, name in PEOPLE.items())
    document = Maintainers(schema_id="maintainers/1", approvals=2, maintainers=people)
    return maintainers_bytes(document)
