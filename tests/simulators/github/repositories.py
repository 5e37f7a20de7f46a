"""Operations about a repository itself: forks, branches, commits, collaborators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.simulators.github.history import commit_body, commit_page, compared
from tests.simulators.github.routing import Ask, Refused, Reply, invalid, page, route
from tests.simulators.github.rulesets import active
from tests.simulators.github.shapes import (
    full_repository,
    minimal_repository,
    simple_user,
)

if TYPE_CHECKING:
    from tests.simulators.github.state import Account

__all__: list[str] = []

_ROLES = {
    "pull": "read",
    "triage": "triage",
    "push": "write",
    "maintain": "maintain",
    "admin": "admin",
}


def _role(ask: Ask) -> str:
    return ask.hub.role(ask.repository, ask.account, ask.token)


@route("GET", "R")
def _get(ask: Ask) -> Reply:
    return Reply(200, full_repository(ask.hub, ask.repository, _role(ask)))


@route("PATCH", "R", needs=("administration", "write"), role="admin")
def _edit(ask: Ask) -> Reply:
    known, wanted = ask.repository, ask.json
    flags = known.settings.flags
    flags |= {name: value for name, value in wanted.items() if name in flags}
    for name, value in (wanted.get("security_and_analysis") or {}).items():
        known.settings.security[name] = value["status"]
    if "default_branch" in wanted:
        known.default_branch = wanted["default_branch"]
    return Reply(200, full_repository(ask.hub, known, "admin"))


@route("GET", "R/forks")
def _forks(ask: Ask) -> Reply:
    forks = [
        minimal_repository(ask.hub, known)
        for known in ask.hub.repositories.values()
        if known.parent == ask.repository.id and known.visible
    ]
    return page(ask, forks)


@route("POST", "R/forks", needs=("administration", "write"))
def _fork(ask: Ask) -> Reply:
    if ask.user.id == ask.repository.owner:
        raise Refused(403, "You cannot fork your own repository.")
    made = ask.hub.make_fork(ask.user, ask.repository, ask.json.get("name"))
    return Reply(202, full_repository(ask.hub, made, "admin"))


@route("POST", "R/merge-upstream", needs=("contents", "write"), role="write")
def _merge_upstream(ask: Ask) -> Reply:
    known, branch = ask.repository, ask.json["branch"]
    if known.parent is None:
        raise Refused(422, "This repository is not a fork.")
    parent = ask.hub.repositories[known.parent]
    theirs = ask.hub.git(parent).branch(branch)
    bare = ask.hub.git(known)
    if theirs is None:
        raise Refused(422, "The upstream repository has no such branch.")
    bare.take(ask.hub.git(parent), theirs)
    ours = bare.branch(branch)
    kind = "none" if ours == theirs else "fast-forward"
    if ours is not None and not bare.contains(ours, theirs):
        raise Refused(409, "There are merge conflicts")
    bare.set_ref(f"refs/heads/{branch}", theirs)
    text = f"Successfully fetched and fast-forwarded from upstream {branch}."
    owner = ask.hub.accounts[parent.owner].login
    shown = {"message": text, "merge_type": kind, "base_branch": f"{owner}:{branch}"}
    return Reply(200, shown)


@route("GET", "R/branches", needs=("contents", "read"))
def _branches(ask: Ask) -> Reply:
    start = "refs/heads/"
    found = ask.hub.git(ask.repository).refs(start)
    shown = [
        {
            "name": ref.removeprefix(start),
            "commit": {"sha": sha, "url": _commit_url(ask, sha)},
            "protected": bool(active(ask.repository, ref)),
        }
        for ref, sha in found.items()
    ]
    return page(ask, shown)


@route("GET", "R/branches/{branch}", needs=("contents", "read"))
def _branch(ask: Ask) -> Reply:
    name = ask.params["branch"]
    sha = ask.hub.git(ask.repository).branch(name)
    if sha is None:
        raise Refused(404, "Branch not found")
    protected = bool(active(ask.repository, f"refs/heads/{name}"))
    url = f"{ask.hub.api}{ask.path}"
    shown = {
        "name": name,
        "commit": commit_body(ask.hub, ask.repository, sha),
        "protected": protected,
        "protection": {"enabled": protected},
        "protection_url": f"{url}/protection",
        "_links": {
            "self": url,
            "html": f"{ask.hub.web}/{ask.hub.full_name(ask.repository)}/tree/{name}",
        },
    }
    return Reply(200, shown)


@route("GET", "R/commits", needs=("contents", "read"))
def _commits(ask: Ask) -> Reply:
    bare = ask.hub.git(ask.repository)
    start = bare.resolve(ask.query.get("sha") or ask.repository.default_branch)
    if start is None:
        raise Refused(404, "Not Found")
    path = ask.query.get("path")
    words = ["--", path] if path else []
    return commit_page(ask, bare.git("rev-list", start, *words).split())


@route("GET", "R/commits/{ref}", needs=("contents", "read"))
def _commit(ask: Ask) -> Reply:
    ref = ask.params["ref"]
    bare = ask.hub.git(ask.repository)
    sha = bare.branch(ref) or bare.resolve(ref)
    if sha is None:
        raise Refused(422, f"No commit found for SHA: {ref}")
    return Reply(200, commit_body(ask.hub, ask.repository, sha, files=True))


@route("GET", "R/compare/{basehead}", needs=("contents", "read"))
def _compare(ask: Ask) -> Reply:
    return Reply(200, compared(ask, ask.params["basehead"]))


@route("GET", "R/commits/{ref}/check-runs", needs=("checks", "read"))
def _check_runs(ask: Ask) -> Reply:
    sha = ask.hub.git(ask.repository).resolve(ask.params["ref"])
    if sha is None:
        raise Refused(422, f"No commit found for SHA: {ask.params['ref']}")
    runs = [run for run in ask.repository.check_runs if run["head_sha"] == sha]
    return page(ask, runs, "check_runs")


def _commit_url(ask: Ask, sha: str) -> str:
    return f"{ask.hub.api}/repos/{ask.hub.full_name(ask.repository)}/commits/{sha}"


def _member(ask: Ask) -> Account:
    found = ask.hub.account(ask.params["username"])
    if found is None:
        raise Refused(404, "Not Found")
    return found


def _permissions(role: str) -> dict[str, bool]:
    order = list(_ROLES.values())
    place = order.index(role) if role in order else -1
    return {name: at <= place for at, name in enumerate(_ROLES)}


def _collaborator(ask: Ask, number: int, role: str) -> dict[str, Any]:
    return {
        **simple_user(ask.hub, number),
        "permissions": _permissions(role),
        "role_name": role,
    }


@route("GET", "R/collaborators", role="write")
def _collaborators(ask: Ask) -> Reply:
    known = ask.repository
    roles = {known.owner: "admin", **known.collaborators}
    return page(ask, [_collaborator(ask, who, role) for who, role in roles.items()])


@route("GET", "R/collaborators/{username}", role="write")
def _is_collaborator(ask: Ask) -> Reply:
    member = _member(ask)
    if member.id not in {ask.repository.owner, *ask.repository.collaborators}:
        raise Refused(404, "Not Found")
    return Reply(204)


@route(
    "PUT",
    "R/collaborators/{username}",
    needs=("administration", "write"),
    role="admin",
)
def _add_collaborator(ask: Ask) -> Reply:
    wanted = ask.json.get("permission", "push")
    if wanted not in _ROLES:
        raise invalid("Repository", "permission", "invalid")
    ask.repository.collaborators[_member(ask).id] = _ROLES[wanted]
    return Reply(204)


@route(
    "DELETE",
    "R/collaborators/{username}",
    needs=("administration", "write"),
    role="admin",
)
def _remove_collaborator(ask: Ask) -> Reply:
    ask.repository.collaborators.pop(_member(ask).id, None)
    return Reply(204)


@route("GET", "R/collaborators/{username}/permission")
def _permission(ask: Ask) -> Reply:
    member = _member(ask)
    role = ask.hub.role(ask.repository, member, None)
    old = {"maintain": "write", "triage": "read"}.get(role, role)
    shown = {
        "permission": old,
        "role_name": role,
        "user": _collaborator(ask, member.id, role),
    }
    return Reply(200, shown)
