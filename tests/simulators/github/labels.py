"""Operations about labels: those of the repository, and those of an issue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.simulators.github.routing import Ask, Refused, Reply, invalid, page, route
from tests.simulators.github.shapes import label
from tests.simulators.github.state import Label

if TYPE_CHECKING:
    from tests.simulators.github.state import Issue

__all__: list[str] = []

_READ = ("issues", "read")
_WRITE = ("issues", "write")


def _shown(ask: Ask, one: Label) -> dict[str, Any]:
    return label(ask.hub, ask.repository, one)


def _label(ask: Ask) -> Label:
    for one in ask.repository.labels:
        if one.name.lower() == ask.params["name"].lower():
            return one
    raise Refused(404, "Not Found")


@route("GET", "R/labels", needs=_READ)
def _list(ask: Ask) -> Reply:
    return page(ask, [_shown(ask, one) for one in ask.repository.labels])


@route("POST", "R/labels", needs=_WRITE, role="write")
def _create(ask: Ask) -> Reply:
    wanted = ask.json
    if any(one.name.lower() == wanted["name"].lower() for one in ask.repository.labels):
        raise invalid("Label", "name", "already_exists")
    made = Label(
        ask.hub.next_id(),
        wanted["name"],
        wanted.get("color", "ededed"),
        wanted.get("description"),
    )
    ask.repository.labels.append(made)
    return Reply(201, _shown(ask, made))


@route("GET", "R/labels/{name}", needs=_READ)
def _get(ask: Ask) -> Reply:
    return Reply(200, _shown(ask, _label(ask)))


@route("PATCH", "R/labels/{name}", needs=_WRITE, role="write")
def _edit(ask: Ask) -> Reply:
    one, wanted = _label(ask), ask.json
    one.color = wanted.get("color", one.color)
    one.description = wanted.get("description", one.description)
    name = wanted.get("new_name")
    if name is not None:
        for issue in _issues(ask):
            issue.labels = [name if n == one.name else n for n in issue.labels]
        one.name = name
    return Reply(200, _shown(ask, one))


@route("DELETE", "R/labels/{name}", needs=_WRITE, role="write")
def _delete(ask: Ask) -> Reply:
    one = _label(ask)
    ask.repository.labels.remove(one)
    for issue in _issues(ask):
        issue.labels = [name for name in issue.labels if name != one.name]
    return Reply(204)


def _issues(ask: Ask) -> list[Issue]:
    return [*ask.repository.issues, *(pull.issue for pull in ask.repository.pulls)]


def _issue(ask: Ask) -> Issue:
    number = ask.number("issue_number")
    for issue in _issues(ask):
        if issue.number == number:
            return issue
    raise Refused(404, "Not Found")


def _of_issue(ask: Ask, issue: Issue) -> Reply:
    found = [one for one in ask.repository.labels if one.name in issue.labels]
    return Reply(200, [_shown(ask, one) for one in found])


def _given(ask: Ask) -> list[str]:
    """The names in a body, which may be a list or an object; unknown ones are made."""
    wanted = ask.json
    given = wanted.get("labels", []) if isinstance(wanted, dict) else wanted
    names = [one if isinstance(one, str) else one["name"] for one in given]
    known = {one.name for one in ask.repository.labels}
    for name in names:
        if name not in known:
            ask.repository.labels.append(Label(ask.hub.next_id(), name))
    return names


@route("GET", "R/issues/{issue_number}/labels", needs=_READ)
def _labels(ask: Ask) -> Reply:
    return _of_issue(ask, _issue(ask))


@route("POST", "R/issues/{issue_number}/labels", needs=_WRITE, role="triage")
def _add(ask: Ask) -> Reply:
    issue = _issue(ask)
    issue.labels += [name for name in _given(ask) if name not in issue.labels]
    return _of_issue(ask, issue)


@route("PUT", "R/issues/{issue_number}/labels", needs=_WRITE, role="triage")
def _replace(ask: Ask) -> Reply:
    issue = _issue(ask)
    issue.labels = _given(ask)
    return _of_issue(ask, issue)


@route("DELETE", "R/issues/{issue_number}/labels/{name}", needs=_WRITE, role="triage")
def _remove(ask: Ask) -> Reply:
    issue = _issue(ask)
    if ask.params["name"] not in issue.labels:
        raise Refused(404, "Label does not exist")
    issue.labels.remove(ask.params["name"])
    return _of_issue(ask, issue)
