"""Operations about reviews of pull requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.simulators.github.pulls import association, pull_of, simple_pull
from tests.simulators.github.routing import Ask, Refused, Reply, page, route
from tests.simulators.github.shapes import node, simple_user

if TYPE_CHECKING:
    from tests.simulators.github.state import Pull, Review

__all__: list[str] = []

_STATES = {
    "APPROVE": "APPROVED",
    "REQUEST_CHANGES": "CHANGES_REQUESTED",
    "COMMENT": "COMMENTED",
}


def _shown(ask: Ask, pull: Pull, review: Review) -> dict[str, Any]:
    name = ask.hub.full_name(ask.repository)
    html = f"{ask.hub.web}/{name}/pull/{pull.number}#pullrequestreview-{review.id}"
    url = f"{ask.hub.api}/repos/{name}/pulls/{pull.number}"
    return {
        "id": review.id,
        "node_id": node("PRR", review.id),
        "user": simple_user(ask.hub, review.user),
        "body": review.body,
        "state": review.state,
        "html_url": html,
        "pull_request_url": url,
        "author_association": association(ask.repository, review.user),
        "_links": {"html": {"href": html}, "pull_request": {"href": url}},
        "submitted_at": review.submitted_at,
        "commit_id": review.commit_id,
    }


@route("GET", "R/pulls/{pull_number}/reviews", needs=("pull_requests", "read"))
def _list(ask: Ask) -> Reply:
    pull = pull_of(ask)
    return page(ask, [_shown(ask, pull, review) for review in pull.reviews])


@route("POST", "R/pulls/{pull_number}/reviews", needs=("pull_requests", "write"))
def _create(ask: Ask) -> Reply:
    pull, wanted = pull_of(ask), ask.json
    event = wanted.get("event", "COMMENT")
    if event not in _STATES:
        raise Refused(422, "Unprocessable Entity", errors=["event is invalid"])
    if event != "COMMENT" and ask.user.id == pull.issue.user:
        text = f"Can not {event.lower().replace('_', ' ')} your own pull request"
        raise Refused(422, "Unprocessable Entity", errors=[text])
    review = ask.hub.make_review(
        pull, ask.user, _STATES[event], wanted.get("commit_id"), wanted.get("body", "")
    )
    return Reply(200, _shown(ask, pull, review))


@route(
    "GET", "R/pulls/{pull_number}/requested_reviewers", needs=("pull_requests", "read")
)
def _requested(ask: Ask) -> Reply:
    users = [simple_user(ask.hub, who) for who in pull_of(ask).reviewers]
    return Reply(200, {"users": users, "teams": []})


@route(
    "POST",
    "R/pulls/{pull_number}/requested_reviewers",
    needs=("pull_requests", "write"),
    role="write",
)
def _request(ask: Ask) -> Reply:
    pull = pull_of(ask)
    for login in ask.json.get("reviewers", []):
        found = ask.hub.account(login)
        if found is None or found.id == pull.issue.user:
            raise Refused(422, "Reviews may only be requested from collaborators.")
        if found.id not in pull.reviewers:
            pull.reviewers.append(found.id)
    return Reply(201, simple_pull(ask.hub, ask.repository, pull))
