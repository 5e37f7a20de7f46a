"""Who approved a pull request, and whether that is enough for a change of trust.

GitHub's own rules demand approvals as well; they are settings that one stolen account
can change. So approvals are counted again here, and by the branch's own list of
maintainers (threat-model.md S11).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from registry.documents.findings import Finding, Severity, code, finding
from registry.gate.github.connection import asking
from registry.gate.github.pulls import changed_blobs
from registry.gate.paths import MAINTAINERS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from registry.documents.maintainers import Maintainers
    from registry.gate.github.connection import Connection
    from registry.gate.github.pulls import PullRequest

__all__ = [
    "NOBODY",
    "Review",
    "approvals",
    "check_approvals",
    "count_approvals",
    "objections",
    "reviews",
]

NOBODY = code(
    "S021",
    Severity.ERROR,
    "The main branch names no maintainers, so nobody can approve a change of trust.",
    "The founders list three accounts or more in registry/trust/maintainers.yaml (see "
    "README.md) and push that commit to main before they protect it.",
    "S11",
)
UNAPPROVED = code(
    "S022",
    Severity.ERROR,
    "A change of trust lacks approvals of maintainers.",
    "Ask maintainers other than the author to approve the newest commit; they can do "
    "that after the merge as well. Else take the change back in full.",
    "S11",
)
OTHER_CONTENT = code(
    "S023",
    Severity.ERROR,
    "What was merged is not what the maintainers approved.",
    "An administrator takes it back in full (`git revert`); propose it again.",
    "S11",
    "W10",
)

_DECIDING = frozenset({"APPROVED", "CHANGES_REQUESTED", "DISMISSED"})


@dataclass(frozen=True, slots=True)
class Review:
    """One review of a pull request.

    Attributes:
        user_id: numeric id of the account; 0 if it is gone.
        login: its name: shown, never trusted.
        state: APPROVED, CHANGES_REQUESTED, COMMENTED, DISMISSED or PENDING.
        commit_id: the commit that was looked at.
        submitted_at: when, an instant that sorts as text.
        bot: whether the account is no person.
    """

    user_id: int
    login: str
    state: str
    commit_id: str
    submitted_at: str
    bot: bool = False


def reviews(connection: Connection, number: int) -> tuple[Review, ...]:
    """All reviews of a pull request, in GitHub's order, the oldest first.

    Raises:
        RegistryError: N001 to N005.
    """
    path = f"/repos/{connection.name}/pulls/{number}/reviews"
    listed = connection.read_all(path)
    with asking(f"reviews of pull request {number}"):
        return tuple(_review(one) for one in listed)


def approvals(
    found: Iterable[Review], *, author: int, head: str, maintainers: Mapping[int, str]
) -> tuple[int, ...]:
    """The maintainers who approve exactly the commit that is to be merged.

    The last word of each counts; a comment is none. Nobody approves while one of them
    asks for changes. Neither the author's word counts nor that of anybody else.

    Args:
        found: reviews, the oldest first.
        author: numeric id of the pull request's author.
        head: full name of its newest commit.
        maintainers: login by id, from the branch that it is merged into.

    Returns:
        Ids, sorted.
    """
    last = _last_words(found, author, maintainers)
    if any(one.state == "CHANGES_REQUESTED" for one in last.values()):
        return ()
    return tuple(
        sorted(
            user
            for user, one in last.items()
            if one.state == "APPROVED" and one.commit_id == head
        )
    )


def objections(
    found: Iterable[Review], *, author: int, maintainers: Mapping[int, str]
) -> tuple[int, ...]:
    """The maintainers whose last word asks for changes, on whatever commit.

    Args:
        found: reviews, the oldest first.
        author: numeric id of the pull request's author.
        maintainers: login by id.
    """
    last = _last_words(found, author, maintainers)
    asking_for_changes = (
        user for user, one in last.items() if one.state == "CHANGES_REQUESTED"
    )
    return tuple(sorted(asking_for_changes))


def check_approvals(
    connection: Connection,
    pull: PullRequest,
    maintainers: Maintainers | None,
    paths: Collection[str],
    merged: Mapping[str, str] | None,
) -> list[Finding]:
    """Whether a change of trust has the approvals that it needs; see `count_approvals`.

    Raises:
        RegistryError: N001 to N005.
    """
    return count_approvals(connection, pull, maintainers, paths, merged)[0]


def count_approvals(
    connection: Connection,
    pull: PullRequest,
    maintainers: Maintainers | None,
    paths: Collection[str],
    merged: Mapping[str, str] | None,
) -> tuple[list[Finding], int]:
    """Count the approvals of a change of trust, and say if that is not enough.

    Args:
        connection: the repository on GitHub.
        pull: the pull request.
        maintainers: whom the base names, or None for nobody.
        paths: the trust files that it touches.
        merged: the git blob that each of them is now; None while the pull request is
            still open, when missing approvals are yet to come and only told of.

    Returns:
        Findings, and how many approvals count.

    Raises:
        RegistryError: N001 to N005.
    """
    where = min(paths, default=MAINTAINERS)
    if maintainers is None:
        what = f"pull request {pull.number} touches {where}"
        return [finding(NOBODY, MAINTAINERS, what)], 0
    said = reviews(connection, pull.number)
    logins = maintainers.logins
    author = pull.author_id
    given = approvals(said, author=author, head=pull.head_sha, maintainers=logins)
    against = objections(said, author=author, maintainers=logins)
    found: list[Finding] = []
    if len(given) < maintainers.approvals:
        what = (
            f"pull request {pull.number} has {len(given)} of {maintainers.approvals} "
            f"approvals of its commit {pull.head_sha[:12]}"
        )
        if against:
            names = ", ".join(f"{logins[one]} ({one})" for one in against)
            what += f"; changes are requested by {names}"
        severity = Severity.INFO if merged is None else Severity.ERROR
        found.append(finding(UNAPPROVED, where, what, severity=severity))
    if merged is not None:
        approved = changed_blobs(connection, pull.number)
        found += [
            finding(OTHER_CONTENT, path, f"it differs from pull request {pull.number}")
            for path in sorted(paths)
            if approved.get(path) != merged.get(path)
        ]
    return found, len(given)


def _review(one: dict[str, Any]) -> Review:
    user = one["user"]  # None if the account is gone
    return Review(
        user_id=int(user["id"]) if user else 0,
        login=str(user["login"]) if user else "ghost",
        state=str(one["state"]),
        commit_id=str(one["commit_id"] or ""),
        submitted_at=str(one.get("submitted_at") or ""),
        bot=bool(user) and user.get("type") == "Bot",
    )


def _last_words(
    found: Iterable[Review], author: int, maintainers: Mapping[int, str]
) -> dict[int, Review]:
    """The last review of each maintainer that says yes or no, or takes it back."""
    deciding = [one for one in found if one.state in _DECIDING and not one.bot]
    last: dict[int, Review] = {}
    for one in sorted(deciding, key=lambda one: one.submitted_at):
        if one.user_id in maintainers and one.user_id != author:
            last[one.user_id] = one
    return last
