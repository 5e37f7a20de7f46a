"""Operations about issues, their comments and labels; pull requests are issues too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.simulators.github.pulls import association
from tests.simulators.github.routing import Ask, Refused, Reply, invalid, page, route
from tests.simulators.github.shapes import label, node, simple_user
from tests.simulators.github.state import Comment, Issue, Label

if TYPE_CHECKING:
    from tests.simulators.github.state import Pull

__all__: list[str] = []

_READ = ("issues", "read")
_WRITE = ("issues", "write")


def _all(ask: Ask) -> dict[int, tuple[Issue, Pull | None]]:
    found: dict[int, tuple[Issue, Pull | None]] = {
        issue.number: (issue, None) for issue in ask.repository.issues
    }
    return found | {pull.number: (pull.issue, pull) for pull in ask.repository.pulls}


def _issue(ask: Ask) -> tuple[Issue, Pull | None]:
    found = _all(ask).get(ask.number("issue_number"))
    if found is None:
        raise Refused(404, "Not Found")
    return found


def _shown(ask: Ask, issue: Issue, pull: Pull | None) -> dict[str, Any]:
    hub, known = ask.hub, ask.repository
    name = hub.full_name(known)
    url = f"{hub.api}/repos/{name}/issues/{issue.number}"
    kind = "issues" if pull is None else "pull"
    people = [simple_user(hub, who) for who in issue.assignees]
    shown = {
        "id": issue.id,
        "node_id": node("I" if pull is None else "PR", issue.id),
        "number": issue.number,
        "url": url,
        "repository_url": f"{hub.api}/repos/{name}",
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "timeline_url": f"{url}/timeline",
        "html_url": f"{hub.web}/{name}/{kind}/{issue.number}",
        "state": issue.state,
        "state_reason": issue.state_reason,
        "title": issue.title,
        "body": issue.body,
        "user": simple_user(hub, issue.user),
        "labels": [label(hub, known, one) for one in _labels(ask, issue)],
        "assignee": people[0] if people else None,
        "assignees": people,
        "milestone": None,
        "locked": False,
        "active_lock_reason": None,
        "comments": len(issue.comments),
        "created_at": issue.created_at,
        "updated_at": issue.updated_at,
        "closed_at": issue.closed_at,
        "author_association": association(known, issue.user),
    }
    if pull is not None:
        html = shown["html_url"]
        shown["draft"] = pull.draft
        shown["pull_request"] = {
            "url": f"{hub.api}/repos/{name}/pulls/{issue.number}",
            "html_url": html,
            "diff_url": f"{html}.diff",
            "patch_url": f"{html}.patch",
            "merged_at": pull.merged_at,
        }
    return shown


def _labels(ask: Ask, issue: Issue) -> list[Label]:
    return [one for one in ask.repository.labels if one.name in issue.labels]


@route("GET", "R/issues", needs=_READ)
def _list(ask: Ask) -> Reply:
    state = ask.query.get("state", "open")
    wanted = {name for name in ask.query.get("labels", "").split(",") if name}
    creator = ask.query.get("creator")
    found = [
        (issue, pull)
        for _, (issue, pull) in sorted(_all(ask).items(), reverse=True)
        if state in {"all", issue.state}
        and wanted <= set(issue.labels)
        and creator in {None, ask.hub.accounts[issue.user].login}
    ]
    if ask.query.get("direction") == "asc":
        found.reverse()
    reply = page(ask, found)
    reply.body = [_shown(ask, issue, pull) for issue, pull in reply.body]
    return reply


@route("POST", "R/issues", needs=_WRITE)
def _create(ask: Ask) -> Reply:
    if not ask.repository.settings.flags["has_issues"]:
        raise Refused(410, "Issues are disabled for this repo")
    wanted = ask.json
    if not wanted.get("title"):
        raise invalid("Issue", "title", "missing_field")
    issue = ask.hub.make_issue(
        ask.repository, ask.user, str(wanted["title"]), wanted.get("body")
    )
    ask.repository.issues.append(issue)
    # Who may not push has their labels and assignees dropped, without a word.
    if ask.hub.may_label(ask.repository, ask.account, ask.token):
        _set(ask, issue, wanted)
    return Reply(201, _shown(ask, issue, None))


@route("GET", "R/issues/{issue_number}", needs=_READ)
def _get(ask: Ask) -> Reply:
    return Reply(200, _shown(ask, *_issue(ask)))


@route("PATCH", "R/issues/{issue_number}", needs=_WRITE)
def _edit(ask: Ask) -> Reply:
    issue, pull = _issue(ask)
    wanted = ask.json
    may = ask.hub.may_label(ask.repository, ask.account, ask.token)
    if ask.user.id != issue.user and not may:
        raise Refused(403, "Resource not accessible by personal access token")
    for name in ("title", "body"):
        if name in wanted:
            setattr(issue, name, wanted[name])
    if wanted.get("state") in {"open", "closed"}:
        ask.hub.set_state(issue, wanted["state"], wanted.get("state_reason"))
    if may:
        _set(ask, issue, wanted)
    issue.updated_at = ask.hub.stamp()
    return Reply(200, _shown(ask, issue, pull))


def _set(ask: Ask, issue: Issue, wanted: dict[str, Any]) -> None:
    if "labels" in wanted:
        given = wanted["labels"] or []
        issue.labels = [one if isinstance(one, str) else one["name"] for one in given]
        _know(ask, issue.labels)
    if "assignees" in wanted:
        people = [ask.hub.account(login) for login in wanted["assignees"] or []]
        issue.assignees = [person.id for person in people if person is not None]


def _know(ask: Ask, names: list[str]) -> None:
    """Make the labels that the repository lacks, as GitHub does."""
    known = {one.name for one in ask.repository.labels}
    for name in names:
        if name not in known:
            ask.repository.labels.append(Label(ask.hub.next_id(), name))


def _shown_comment(ask: Ask, issue: Issue, comment: Comment) -> dict[str, Any]:
    name = ask.hub.full_name(ask.repository)
    start = f"{ask.hub.api}/repos/{name}/issues"
    html = f"{ask.hub.web}/{name}/issues/{issue.number}#issuecomment-{comment.id}"
    return {
        "id": comment.id,
        "node_id": node("IC", comment.id),
        "url": f"{start}/comments/{comment.id}",
        "html_url": html,
        "issue_url": f"{start}/{issue.number}",
        "body": comment.body,
        "user": simple_user(ask.hub, comment.user),
        "created_at": comment.created_at,
        "updated_at": comment.updated_at,
        "author_association": association(ask.repository, comment.user),
    }


@route("GET", "R/issues/{issue_number}/comments", needs=_READ)
def _comments(ask: Ask) -> Reply:
    issue, _ = _issue(ask)
    return page(ask, [_shown_comment(ask, issue, one) for one in issue.comments])


@route("POST", "R/issues/{issue_number}/comments", needs=_WRITE)
def _comment(ask: Ask) -> Reply:
    issue, _ = _issue(ask)
    text, now = ask.json.get("body"), ask.hub.stamp()
    if not text:
        raise invalid("IssueComment", "body", "missing_field")
    if len(text) > 65536:
        about = "body is too long (maximum is 65536 characters)"
        raise invalid("IssueComment", "body", "custom", about)
    made = Comment(ask.hub.next_id(), ask.user.id, text, now, now)
    issue.comments.append(made)
    issue.updated_at = now
    return Reply(201, _shown_comment(ask, issue, made))


def _one_comment(ask: Ask) -> tuple[Issue, Comment]:
    number = ask.number("comment_id")
    for issue, _ in _all(ask).values():
        for comment in issue.comments:
            if comment.id == number:
                return issue, comment
    raise Refused(404, "Not Found")


@route("GET", "R/issues/comments/{comment_id}", needs=_READ)
def _get_comment(ask: Ask) -> Reply:
    return Reply(200, _shown_comment(ask, *_one_comment(ask)))


@route("PATCH", "R/issues/comments/{comment_id}", needs=_WRITE)
def _edit_comment(ask: Ask) -> Reply:
    issue, comment = _one_comment(ask)
    may = ask.hub.may_label(ask.repository, ask.account, ask.token)
    if ask.user.id != comment.user and not may:
        raise Refused(403, "Resource not accessible by personal access token")
    comment.body, comment.updated_at = ask.json["body"], ask.hub.stamp()
    return Reply(200, _shown_comment(ask, issue, comment))


@route("DELETE", "R/issues/comments/{comment_id}", needs=_WRITE, role="write")
def _delete_comment(ask: Ask) -> Reply:
    issue, comment = _one_comment(ask)
    issue.comments.remove(comment)
    return Reply(204)
