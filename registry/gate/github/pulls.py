"""Pull requests as GitHub tells of them: who made one, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from registry.documents.findings import RegistryError, Severity, code, finding
from registry.gate.github.connection import asking

if TYPE_CHECKING:
    from registry.gate.github.connection import Connection

__all__ = [
    "BRANCH",
    "GONE",
    "PullRequest",
    "changed_blobs",
    "merged_pulls_of",
    "pull_request",
]

BRANCH = "main"
"""The branch that is the registry."""

GONE = code(
    "N010",
    Severity.ERROR,
    "The account that made the pull request does not exist any more.",
    "Close the pull request; whoever measured the data proposes it again.",
    "S8",
)


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull request.

    Attributes:
        number: its number.
        author_id: numeric id of the account that made it.
        author_login: that account's name: shown, never trusted.
        base: the branch that it is to be merged into.
        head_sha: its newest commit; fixed once it is merged.
        state: open, closed (without merging) or merged.
        merged_sha: the commit of the base by which it was merged, or None.
        merged_at: when, in seconds since 1970 by GitHub's clock, or None.
    """

    number: int
    author_id: int
    author_login: str
    base: str
    head_sha: str
    state: str
    merged_sha: str | None = None
    merged_at: int | None = None


def pull_request(connection: Connection, number: int) -> PullRequest:
    """A pull request by its number.

    Raises:
        RegistryError: N010, its author is gone; N001 to N005.
    """
    found = connection.read(f"/repos/{connection.name}/pulls/{number}")
    return _read(found)


def merged_pulls_of(connection: Connection, sha: str) -> tuple[PullRequest, ...]:
    """The pull requests merged into the registry's branch that brought a commit.

    Usually one. There are more where several have the same commits: whoever sees a
    pull request can open another one with its commits.

    Args:
        connection: the repository on GitHub.
        sha: full name of a commit of the branch.

    Returns:
        By number. None that was closed without merging, merged into another branch or
        into a fork, whose numbers are not ours, or made by an account that is gone.

    Raises:
        RegistryError: N001 to N005.
    """
    listed = connection.read_all(f"/repos/{connection.name}/commits/{sha}/pulls")
    with asking(f"pull requests of {sha}"):
        ours = [one for one in listed if _is_of(one, connection.name)]
        named = [one for one in ours if one["user"] is not None]
    pulls = [_read(one) for one in named]
    merged = (one for one in pulls if one.state == "merged" and one.base == BRANCH)
    return tuple(sorted(merged, key=lambda one: one.number))


def changed_blobs(connection: Connection, number: int) -> dict[str, str]:
    """The files that a pull request adds or alters, with their git blobs' names.

    Raises:
        RegistryError: N001 to N005.
    """
    listed = connection.read_all(f"/repos/{connection.name}/pulls/{number}/files")
    with asking(f"files of pull request {number}"):
        return {
            str(one["filename"]): str(one["sha"])
            for one in listed
            if one["status"] != "removed"
        }


def _is_of(found: dict[str, Any], name: str) -> bool:
    """Whether a pull request is one of this repository, whatever forks have."""
    repository = found["base"]["repo"]
    if repository is None:
        return False
    return str(repository["full_name"]).casefold() == name.casefold()


def _read(found: dict[str, Any]) -> PullRequest:
    with asking("a pull request"):
        number, user = int(found["number"]), found["user"]
        if user is None:
            what = f"pull request {number} has no author any more"
            raise RegistryError(finding(GONE, "github", what))
        merged_at = found["merged_at"]
        return PullRequest(
            number=number,
            author_id=int(user["id"]),
            author_login=str(user["login"]),
            base=str(found["base"]["ref"]),
            head_sha=str(found["head"]["sha"]),
            state="merged" if merged_at else str(found["state"]),
            merged_sha=str(found["merge_commit_sha"]) if merged_at else None,
            merged_at=None if merged_at is None else _seconds(merged_at),
        )


def _seconds(instant: str) -> int:
    return int(datetime.fromisoformat(instant).timestamp())
