"""Operations about a repository's settings, each of which only an admin may change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.simulators.github.routing import Ask, Refused, Reply, page, route
from tests.simulators.github.shapes import node, simple_user

if TYPE_CHECKING:
    from tests.simulators.github.state import Settings

__all__: list[str] = []

_READ = ("administration", "read")
_WRITE = ("administration", "write")


def _settings(ask: Ask) -> Settings:
    return ask.repository.settings


def _start(ask: Ask) -> str:
    return f"{ask.hub.api}/repos/{ask.hub.full_name(ask.repository)}"


@route("GET", "R/actions/permissions", needs=_READ, role="admin")
def _actions(ask: Ask) -> Reply:
    shown = dict(_settings(ask).actions)
    if shown.get("allowed_actions") == "selected":
        url = f"{_start(ask)}/actions/permissions/selected-actions"
        shown["selected_actions_url"] = url
    return Reply(200, shown)


@route("PUT", "R/actions/permissions", needs=_WRITE, role="admin")
def _set_actions(ask: Ask) -> Reply:
    _settings(ask).actions |= ask.json
    return Reply(204)


@route("GET", "R/actions/permissions/selected-actions", needs=_READ, role="admin")
def _selected(ask: Ask) -> Reply:
    if _settings(ask).actions.get("allowed_actions") != "selected":
        raise Refused(409, "Actions are not restricted to selected ones.")
    return Reply(200, _settings(ask).selected_actions)


@route("PUT", "R/actions/permissions/selected-actions", needs=_WRITE, role="admin")
def _set_selected(ask: Ask) -> Reply:
    _settings(ask).selected_actions |= ask.json
    return Reply(204)


@route("GET", "R/actions/permissions/workflow", needs=_READ, role="admin")
def _workflow(ask: Ask) -> Reply:
    return Reply(200, _settings(ask).workflow)


@route("PUT", "R/actions/permissions/workflow", needs=_WRITE, role="admin")
def _set_workflow(ask: Ask) -> Reply:
    _settings(ask).workflow |= ask.json
    return Reply(204)


@route(
    "GET",
    "R/actions/permissions/fork-pr-contributor-approval",
    needs=_READ,
    role="admin",
)
def _forks(ask: Ask) -> Reply:
    return Reply(200, {"approval_policy": _settings(ask).fork_approval})


@route(
    "PUT",
    "R/actions/permissions/fork-pr-contributor-approval",
    needs=_WRITE,
    role="admin",
)
def _set_forks(ask: Ask) -> Reply:
    _settings(ask).fork_approval = ask.json["approval_policy"]
    return Reply(204)


@route("GET", "R/immutable-releases", needs=_READ, role="admin")
def _immutable(ask: Ask) -> Reply:
    if not _settings(ask).immutable_releases:
        raise Refused(404, "Not Found")
    return Reply(200, {"enabled": True, "enforced_by_owner": False})


@route("PUT", "R/immutable-releases", needs=_WRITE, role="admin")
def _set_immutable(ask: Ask) -> Reply:
    _settings(ask).immutable_releases = True
    return Reply(204)


@route("DELETE", "R/immutable-releases", needs=_WRITE, role="admin")
def _unset_immutable(ask: Ask) -> Reply:
    _settings(ask).immutable_releases = False
    return Reply(204)


@route("GET", "R/private-vulnerability-reporting")
def _private_reports(ask: Ask) -> Reply:
    return Reply(200, {"enabled": _settings(ask).private_vulnerability_reporting})


@route("PUT", "R/private-vulnerability-reporting", needs=_WRITE, role="admin")
def _set_private_reports(ask: Ask) -> Reply:
    _settings(ask).private_vulnerability_reporting = True
    return Reply(204)


@route("DELETE", "R/private-vulnerability-reporting", needs=_WRITE, role="admin")
def _unset_private_reports(ask: Ask) -> Reply:
    _settings(ask).private_vulnerability_reporting = False
    return Reply(204)


@route("GET", "R/vulnerability-alerts", needs=_READ, role="admin")
def _alerts(ask: Ask) -> Reply:
    if not _settings(ask).vulnerability_alerts:
        raise Refused(404, "Vulnerability alerts are disabled.")
    return Reply(204)


@route("PUT", "R/vulnerability-alerts", needs=_WRITE, role="admin")
def _set_alerts(ask: Ask) -> Reply:
    _settings(ask).vulnerability_alerts = True
    return Reply(204)


@route("DELETE", "R/vulnerability-alerts", needs=_WRITE, role="admin")
def _unset_alerts(ask: Ask) -> Reply:
    _settings(ask).vulnerability_alerts = False
    return Reply(204)


@route("GET", "R/automated-security-fixes", needs=_READ, role="admin")
def _fixes(ask: Ask) -> Reply:
    if not _settings(ask).automated_security_fixes:
        raise Refused(404, "Not Found")
    return Reply(200, {"enabled": True, "paused": False})


@route("PUT", "R/automated-security-fixes", needs=_WRITE, role="admin")
def _set_fixes(ask: Ask) -> Reply:
    _settings(ask).automated_security_fixes = True
    return Reply(204)


@route("DELETE", "R/automated-security-fixes", needs=_WRITE, role="admin")
def _unset_fixes(ask: Ask) -> Reply:
    _settings(ask).automated_security_fixes = False
    return Reply(204)


@route("GET", "R/code-scanning/default-setup", needs=_READ, role="write")
def _scanning(ask: Ask) -> Reply:
    return Reply(200, _settings(ask).code_scanning)


@route("PATCH", "R/code-scanning/default-setup", needs=_WRITE, role="admin")
def _set_scanning(ask: Ask) -> Reply:
    _settings(ask).code_scanning |= ask.json
    return Reply(200, {})


@route("GET", "R/topics")
def _topics(ask: Ask) -> Reply:
    return Reply(200, {"names": _settings(ask).topics})


@route("PUT", "R/topics", needs=_WRITE, role="admin")
def _set_topics(ask: Ask) -> Reply:
    _settings(ask).topics = list(ask.json["names"])
    return Reply(200, {"names": _settings(ask).topics})


def _shown_pages(ask: Ask, pages: dict[str, Any]) -> dict[str, Any]:
    owner, name = ask.hub.full_name(ask.repository).split("/")
    return {
        "url": f"{_start(ask)}/pages",
        "status": None,
        "cname": pages.get("cname"),
        "custom_404": False,
        "html_url": f"https://{owner}.github.io/{name}/",
        "build_type": pages.get("build_type", "legacy"),
        "source": {"branch": ask.repository.default_branch, "path": "/"},
        "public": True,
        "https_enforced": pages.get("https_enforced", True),
    }


@route("GET", "R/pages", needs=("pages", "read"))
def _pages(ask: Ask) -> Reply:
    found = _settings(ask).pages
    if found is None:
        raise Refused(404, "Not Found")
    return Reply(200, _shown_pages(ask, found))


@route("POST", "R/pages", needs=("pages", "write"), role="maintain")
def _create_pages(ask: Ask) -> Reply:
    if _settings(ask).pages is not None:
        raise Refused(409, "GitHub Pages is already enabled.")
    made = {"build_type": "legacy", "https_enforced": True, **ask.json}
    _settings(ask).pages = made
    return Reply(201, _shown_pages(ask, made))


@route("PUT", "R/pages", needs=("pages", "write"), role="maintain")
def _set_pages(ask: Ask) -> Reply:
    found = _settings(ask).pages
    if found is None:
        raise Refused(404, "Not Found")
    found |= ask.json
    return Reply(204)


@route("DELETE", "R/pages", needs=("pages", "write"), role="maintain")
def _delete_pages(ask: Ask) -> Reply:
    if _settings(ask).pages is None:
        raise Refused(404, "Not Found")
    _settings(ask).pages = None
    return Reply(204)


@route("GET", "R/codeowners/errors", needs=("contents", "read"))
def _owners(ask: Ask) -> Reply:
    return Reply(200, {"errors": _settings(ask).codeowners_errors})


@route("GET", "/orgs/{org}/teams/{team_slug}/members")
def _team(ask: Ask) -> Reply:
    ask.user  # noqa: B018  nobody without a token
    found = ask.hub.teams.get(f"{ask.params['org']}/{ask.params['team_slug']}")
    if found is None:
        raise Refused(404, "Not Found")
    people = [ask.hub.person(login) for login in found]
    return page(ask, [simple_user(ask.hub, person.id) for person in people])


@route("GET", "R/tags", needs=("contents", "read"))
def _tags(ask: Ask) -> Reply:
    start, web = _start(ask), f"{ask.hub.web}/{ask.hub.full_name(ask.repository)}"
    shown = [
        {
            "name": name,
            "commit": {"sha": sha, "url": f"{start}/commits/{sha}"},
            "zipball_url": f"{web}/archive/{name}.zip",
            "tarball_url": f"{web}/archive/{name}.tar.gz",
            "node_id": node("REF", int(sha[:12], 16)),
        }
        for ref, sha in ask.hub.git(ask.repository).refs("refs/tags/").items()
        for name in [ref.removeprefix("refs/tags/")]
    ]
    return page(ask, shown)
