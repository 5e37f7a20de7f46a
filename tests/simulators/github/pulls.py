"""Operations about pull requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.simulators.github.history import changed_files, commit_page
from tests.simulators.github.merging import CannotMerge
from tests.simulators.github.routing import Ask, Refused, Reply, invalid, page, route
from tests.simulators.github.rulesets import active
from tests.simulators.github.shapes import label, node, repository, simple_user

if TYPE_CHECKING:
    from tests.simulators.github.hub import FakeGitHub
    from tests.simulators.github.state import Pull, Repository

__all__ = ["association", "pull_of", "simple_pull"]

_READ = ("pull_requests", "read")
_WRITE = ("pull_requests", "write")


def association(known: Repository, number: int) -> str:
    """How an account stands to a repository."""
    if number == known.owner:
        return "OWNER"
    if number in known.collaborators:
        return "COLLABORATOR"
    merged = any(p.issue.user == number and p.merged_at for p in known.pulls)
    return "CONTRIBUTOR" if merged else "NONE"


def pull_of(ask: Ask) -> Pull:
    """The pull request that the path names.

    Raises:
        Refused: 404.
    """
    number = ask.number("pull_number")
    for pull in ask.repository.pulls:
        if pull.number == number:
            ask.hub.refresh(ask.repository, pull)
            return pull
    raise Refused(404, "Not Found")


def _side(
    hub: FakeGitHub, number: int | None, owner: int, branch: str, sha: str
) -> dict[str, Any]:
    known = None if number is None else hub.repositories.get(number)
    return {
        "label": f"{hub.accounts[owner].login}:{branch}",
        "ref": branch,
        "sha": sha,
        "user": simple_user(hub, owner),
        "repo": None if known is None else repository(hub, known),
    }


def simple_pull(hub: FakeGitHub, known: Repository, pull: Pull) -> dict[str, Any]:
    """A pull request in a list."""
    issue = pull.issue
    start = f"{hub.api}/repos/{hub.full_name(known)}"
    url, about = f"{start}/pulls/{pull.number}", f"{start}/issues/{pull.number}"
    html = f"{hub.web}/{hub.full_name(known)}/pull/{pull.number}"
    links = {
        "self": url,
        "html": html,
        "issue": about,
        "comments": f"{about}/comments",
        "review_comments": f"{url}/comments",
        "review_comment": f"{start}/pulls/comments{{/number}}",
        "commits": f"{url}/commits",
        "statuses": f"{start}/statuses/{pull.head_sha}",
    }
    labels = [found for found in known.labels if found.name in issue.labels]
    return {
        "id": issue.id,
        "node_id": node("PR", issue.id),
        "number": pull.number,
        "url": url,
        "html_url": html,
        "diff_url": f"{html}.diff",
        "patch_url": f"{html}.patch",
        "issue_url": about,
        **{
            f"{name}_url": links[name]
            for name in ("commits", "review_comments", "review_comment", "comments")
        },
        "statuses_url": links["statuses"],
        "state": issue.state,
        "locked": False,
        "title": issue.title,
        "body": issue.body,
        "user": simple_user(hub, issue.user),
        "labels": [
            {**label(hub, known, found), "description": found.description or ""}
            for found in labels
        ],
        "milestone": None,
        "created_at": issue.created_at,
        "updated_at": issue.updated_at,
        "closed_at": issue.closed_at,
        "merged_at": pull.merged_at,
        "merge_commit_sha": pull.merged_sha or pull.test_merge,
        "assignee": None,
        "assignees": [],
        "requested_reviewers": [simple_user(hub, who) for who in pull.reviewers],
        "requested_teams": [],
        "head": _side(
            hub, pull.head_repository, pull.head_owner, pull.head, pull.head_sha
        ),
        "base": _side(hub, known.id, known.owner, pull.base, pull.shown_base),
        "_links": {name: {"href": href} for name, href in links.items()},
        "author_association": association(known, issue.user),
        "auto_merge": None,
        "draft": pull.draft,
    }


def _whole(ask: Ask, pull: Pull) -> dict[str, Any]:
    hub, known = ask.hub, ask.repository
    files = changed_files(hub, known, _base(ask, pull), pull.head_sha, patches=False)
    mergeable = pull.test_merge is not None if pull.open else None
    state = "unknown" if mergeable is None else "clean" if mergeable else "dirty"
    by = None if pull.merged_by is None else simple_user(hub, pull.merged_by)
    return {
        **simple_pull(hub, known, pull),
        "merged": pull.merged_at is not None,
        "merged_by": by,
        "mergeable": mergeable,
        "rebaseable": mergeable,
        "mergeable_state": state,
        "comments": len(pull.issue.comments),
        "review_comments": 0,
        "maintainer_can_modify": pull.maintainer_can_modify,
        "commits": len(pull.commits),
        "additions": sum(file["additions"] for file in files),
        "deletions": sum(file["deletions"] for file in files),
        "changed_files": len(files),
    }


def _base(ask: Ask, pull: Pull) -> str:
    """The commit that both sides share, which GitHub compares the head with."""
    bare = ask.hub.git(ask.repository)
    return bare.git("merge-base", pull.base_sha, pull.head_sha)


@route("GET", "R/pulls", needs=_READ)
def _list(ask: Ask) -> Reply:
    state = ask.query.get("state", "open")
    head, base = ask.query.get("head"), ask.query.get("base")
    for pull in ask.repository.pulls:
        ask.hub.refresh(ask.repository, pull)
    found = [
        pull
        for pull in ask.repository.pulls
        if state in {"all", pull.issue.state}
        and (head is None or head == _label(ask.hub, pull))
        and (base is None or base == pull.base)
    ]
    ascending = ask.query.get("direction") == "asc"
    reply = page(ask, found if ascending else found[::-1])
    reply.body = [simple_pull(ask.hub, ask.repository, pull) for pull in reply.body]
    return reply


def _label(hub: FakeGitHub, pull: Pull) -> str:
    return f"{hub.accounts[pull.head_owner].login}:{pull.head}"


@route("POST", "R/pulls", needs=_WRITE)
def _create(ask: Ask) -> Reply:
    wanted = ask.json
    owner, _, branch = wanted["head"].rpartition(":")
    source = ask.hub.head_repository(ask.repository, owner, wanted.get("head_repo"))
    if source is None or ask.hub.git(source).branch(branch) is None:
        raise invalid("PullRequest", "head", "invalid")
    if ask.hub.git(ask.repository).branch(wanted["base"]) is None:
        raise invalid("PullRequest", "base", "invalid")
    name = f"{ask.hub.accounts[source.owner].login}:{branch}"
    for pull in ask.repository.pulls:
        same = pull.base == wanted["base"] and _label(ask.hub, pull) == name
        if pull.open and same:
            text = f"A pull request already exists for {name}."
            raise invalid("PullRequest", "base", "custom", text)
    pull = ask.hub.make_pull(
        ask.repository,
        ask.user,
        source,
        branch,
        base=wanted["base"],
        title=wanted.get("title", ""),
        body=wanted.get("body"),
    )
    if not pull.commits:
        ask.repository.pulls.remove(pull)
        text = f"No commits between {wanted['base']} and {wanted['head']}"
        raise invalid("PullRequest", "base", "custom", text)
    pull.draft = bool(wanted.get("draft", False))
    return Reply(201, _whole(ask, pull))


@route("GET", "R/pulls/{pull_number}", needs=_READ)
def _get(ask: Ask) -> Reply:
    return Reply(200, _whole(ask, pull_of(ask)))


@route("PATCH", "R/pulls/{pull_number}", needs=_WRITE)
def _edit(ask: Ask) -> Reply:
    pull, wanted = pull_of(ask), ask.json
    role = ask.hub.role(ask.repository, ask.account, ask.token)
    if ask.user.id != pull.issue.user and role not in {"write", "maintain", "admin"}:
        raise Refused(403, "Resource not accessible by personal access token")
    for name in ("title", "body"):
        if name in wanted:
            setattr(pull.issue, name, wanted[name])
    if wanted.get("state") in {"open", "closed"} and pull.merged_at is None:
        ask.hub.set_state(pull.issue, wanted["state"])
        ask.hub.refresh(ask.repository, pull)
    pull.issue.updated_at = ask.hub.stamp()
    return Reply(200, _whole(ask, pull))


@route("GET", "R/pulls/{pull_number}/commits", needs=_READ)
def _commits(ask: Ask) -> Reply:
    return commit_page(ask, pull_of(ask).commits[:250])


@route("GET", "R/pulls/{pull_number}/files", needs=_READ)
def _files(ask: Ask) -> Reply:
    pull = pull_of(ask)
    listed = changed_files(ask.hub, ask.repository, _base(ask, pull), pull.head_sha)
    return page(ask, listed)


@route("GET", "R/pulls/{pull_number}/merge", needs=_READ)
def _is_merged(ask: Ask) -> Reply:
    if pull_of(ask).merged_at is None:
        raise Refused(404, "Not Found")
    return Reply(204)


@route("PUT", "R/pulls/{pull_number}/merge", needs=("contents", "write"), role="write")
def _merge(ask: Ask) -> Reply:
    pull, wanted = pull_of(ask), ask.json
    if wanted.get("sha", pull.head_sha) != pull.head_sha:
        raise Refused(409, "Head branch was modified. Review and try the merge again.")
    method = wanted.get("merge_method", "merge")
    _check_rules(ask, pull)
    if method not in _FLAGS:
        raise invalid("PullRequest", "merge_method", "invalid")
    if not ask.repository.settings.flags[f"allow_{_FLAGS[method]}"]:
        raise Refused(405, f"{method.title()} merges are not allowed.")
    try:
        sha = ask.hub.merge_pull(
            ask.repository,
            pull,
            ask.user,
            method,
            title=wanted.get("commit_title"),
            body=wanted.get("commit_message"),
        )
    except CannotMerge as reason:
        raise Refused(405, str(reason)) from None
    text = "Pull Request successfully merged"
    return Reply(200, {"sha": sha, "merged": True, "message": text})


def _check_rules(ask: Ask, pull: Pull) -> None:
    """Refuse a merge that the rules of its base do not allow.

    Raises:
        Refused: 405.
    """
    for rule, _ in active(ask.repository, f"refs/heads/{pull.base}"):
        if rule["type"] == "merge_queue":
            raise Refused(405, "Changes must be made through the merge queue")
        wanted = rule.get("parameters", {}).get("required_approving_review_count", 0)
        if rule["type"] == "pull_request" and _approvals(ask, pull) < wanted:
            plural = "" if wanted == 1 else "s"
            text = f"At least {wanted} approving review{plural} is required"
            raise Refused(405, f"{text} by reviewers with write access.")


def _approvals(ask: Ask, pull: Pull) -> int:
    """How many people who may push approve the head as it is now."""
    last = {review.user: review for review in pull.reviews}
    return sum(
        review.state == "APPROVED"
        and review.commit_id == pull.head_sha
        and ask.hub.may_push(ask.repository, ask.hub.accounts[user], None)
        for user, review in last.items()
    )


_FLAGS = {"merge": "merge_commit", "squash": "squash_merge", "rebase": "rebase_merge"}


@route("GET", "R/commits/{commit_sha}/pulls", needs=_READ)
def _of_commit(ask: Ask) -> Reply:
    known, bare = ask.repository, ask.hub.git(ask.repository)
    sha = bare.resolve(ask.params["commit_sha"])
    if sha is None:
        raise Refused(422, f"No commit found for SHA: {ask.params['commit_sha']}")
    main = bare.branch(known.default_branch)
    landed = main is not None and bare.contains(sha, main)
    found = [
        simple_pull(ask.hub, known, pull)
        for pull in known.pulls
        if (sha == pull.merged_sha or sha in {*pull.commits, *pull.landed})
        and (pull.merged_at is not None or not landed)
    ]
    return page(ask, found)
