"""Operations about environments of workflows' jobs."""

from __future__ import annotations

from typing import Any

from tests.simulators.github.routing import Ask, Refused, Reply, page, route
from tests.simulators.github.shapes import node, simple_user

__all__: list[str] = []

_READ = ("actions", "read")
_WRITE = ("administration", "write")
_NAMED = "R/environments/{environment_name}"
_POLICIES = f"{_NAMED}/deployment-branch-policies"


def _environment(ask: Ask) -> dict[str, Any]:
    found = ask.repository.settings.environments.get(ask.params["environment_name"])
    if found is None:
        raise Refused(404, "Not Found")
    return found


def _rules(ask: Ask, kept: dict[str, Any]) -> list[dict[str, Any]]:
    number = kept["id"]
    rules: list[dict[str, Any]] = []
    if kept.get("wait_timer"):
        rules.append({"type": "wait_timer", "wait_timer": kept["wait_timer"]})
    if kept.get("reviewers"):
        reviewers = [
            {"type": one["type"], "reviewer": simple_user(ask.hub, one["id"])}
            for one in kept["reviewers"]
        ]
        rules.append(
            {
                "type": "required_reviewers",
                "prevent_self_review": bool(kept.get("prevent_self_review")),
                "reviewers": reviewers,
            }
        )
    if kept.get("deployment_branch_policy"):
        rules.append({"type": "branch_policy"})
    return [
        {"id": number + at, "node_id": node("GA", number + at), **rule}
        for at, rule in enumerate(rules, 1)
    ]


def _shown(ask: Ask, name: str, kept: dict[str, Any]) -> dict[str, Any]:
    full_name = ask.hub.full_name(ask.repository)
    return {
        "id": kept["id"],
        "node_id": node("EN", kept["id"]),
        "name": name,
        "url": f"{ask.hub.api}/repos/{full_name}/environments/{name}",
        "html_url": f"{ask.hub.web}/{full_name}/deployments?environments_filter={name}",
        "created_at": kept["created_at"],
        "updated_at": kept["created_at"],
        "can_admins_bypass": kept.get("can_admins_bypass", True),
        "protection_rules": _rules(ask, kept),
        "deployment_branch_policy": kept.get("deployment_branch_policy"),
    }


@route("GET", "R/environments", needs=_READ)
def _list(ask: Ask) -> Reply:
    found = ask.repository.settings.environments.items()
    return page(ask, [_shown(ask, name, kept) for name, kept in found], "environments")


@route("GET", _NAMED, needs=_READ)
def _get(ask: Ask) -> Reply:
    return Reply(200, _shown(ask, ask.params["environment_name"], _environment(ask)))


@route("PUT", _NAMED, needs=_WRITE, role="admin")
def _put(ask: Ask) -> Reply:
    name, wanted = ask.params["environment_name"], ask.json or {}
    policy = wanted.get("deployment_branch_policy")
    kinds = ("protected_branches", "custom_branch_policies")
    if policy and policy[kinds[0]] == policy[kinds[1]]:
        raise Refused(422, f"{kinds[0]} and {kinds[1]} cannot have the same value")
    environments = ask.repository.settings.environments
    kept = environments.setdefault(name, ask.hub.new_environment())
    # What a client leaves out is set back, as GitHub does with this operation.
    for field in ("wait_timer", "prevent_self_review", "reviewers"):
        kept[field] = wanted.get(field)
    kept["deployment_branch_policy"] = policy
    return Reply(200, _shown(ask, name, kept))


@route("DELETE", _NAMED, needs=_WRITE, role="admin")
def _delete(ask: Ask) -> Reply:
    _environment(ask)
    del ask.repository.settings.environments[ask.params["environment_name"]]
    return Reply(204)


def _shown_policy(policy: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": policy["id"],
        "node_id": node("DBP", policy["id"]),
        "name": policy["name"],
        "type": policy.get("type", "branch"),
    }


@route("GET", _POLICIES, needs=_READ)
def _policies(ask: Ask) -> Reply:
    found = _environment(ask)["branch_policies"]
    return page(ask, [_shown_policy(one) for one in found], "branch_policies")


@route("POST", _POLICIES, needs=_WRITE, role="admin")
def _add_policy(ask: Ask) -> Reply:
    kept, wanted = _environment(ask), ask.json
    policy = kept.get("deployment_branch_policy") or {}
    if not policy.get("custom_branch_policies"):
        raise Refused(404, "Not Found")
    for one in kept["branch_policies"]:
        if one["name"] == wanted["name"]:
            return Reply(303, _shown_policy(one))
    made = {"id": ask.hub.next_id(), "type": "branch", **wanted}
    kept["branch_policies"].append(made)
    return Reply(200, _shown_policy(made))


@route("DELETE", f"{_POLICIES}/{{branch_policy_id}}", needs=_WRITE, role="admin")
def _delete_policy(ask: Ask) -> Reply:
    policies = _environment(ask)["branch_policies"]
    for one in policies:
        if one["id"] == ask.number("branch_policy_id"):
            policies.remove(one)
            return Reply(204)
    raise Refused(404, "Not Found")
