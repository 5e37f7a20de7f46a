"""Verify a pull request with what GitHub knows of its author.

The author is asked for by the pull request's number: neither a commit's author nor a
line in a message says who somebody is (threat-model.md S5, S8, S13).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from registry.documents.findings import RegistryError, Severity, code, finding
from registry.gate.changes import changes, fork_point
from registry.gate.git import commit_of
from registry.gate.git_tree import git_tree
from registry.gate.github.accounts import owners_keys
from registry.gate.github.approvals import count_approvals
from registry.gate.github.pulls import BRANCH, pull_request
from registry.gate.maintainers import maintainers_of
from registry.gate.outcome import Report, extended
from registry.gate.paths import MAINTAINERS, contribution
from registry.gate.tree import TRUST
from registry.gate.verify_change import verify_change

if TYPE_CHECKING:
    from pathlib import Path

    from registry.documents.findings import Finding
    from registry.gate.github.connection import Connection
    from registry.gate.github.pulls import PullRequest

__all__ = ["queued_number", "trust_paths", "verify_pull"]

ELSEWHERE = code(
    "N012",
    Severity.ERROR,
    "The pull request is not for the main branch.",
    f"Set its base branch to {BRANCH}: the registry is that branch.",
    "W10",
)

_QUEUE = re.compile(
    rf"(?:refs/heads/)?gh-readonly-queue/{BRANCH}/pr-([1-9][0-9]{{0,9}})-[0-9a-f]{{40}}"
)


def queued_number(ref: str) -> int | None:
    """The number of the pull request for which a merge queue made a ref, or None."""
    match = _QUEUE.fullmatch(ref)
    return None if match is None else int(match.group(1))


def verify_pull(
    repo: Path,
    base: str,
    head: str,
    number: int,
    connection: Connection,
    *,
    now: int,
    queued: bool = False,
    expectations: bool = True,
) -> Report:
    """Verify what a pull request adds.

    The account's keys are asked for only if the change brings keys: somebody whose keys
    are on main is not refused because a list that is not needed cannot be read.

    Args:
        repo: a repository that holds both commits.
        base: the branch to be merged into; trust comes from here.
        head: the change.
        number: of the pull request.
        connection: the repository on GitHub.
        now: the present, in seconds since 1970.
        queued: whether it is about to be merged, so that approvals must be there;
            before, it is only told which are missing.
        expectations: whether to run the profile's expectation suite.

    Returns:
        All findings. Where GitHub cannot be asked, that is an error, and the rest is
        verified as far as it can be without.
    """
    found: list[Finding] = []
    pull: PullRequest | None = None
    keys: tuple[str, ...] | None = None
    trust = trust_paths(repo, base, head)
    try:
        pull = pull_request(connection, number)
        if pull.base != BRANCH:
            what = f"pull request {number} is for {pull.base}"
            found.append(finding(ELSEWHERE, "github", what))
        if any(path != MAINTAINERS for path in trust):
            keys = owners_keys(connection, trust, pull.author_id)
    except RegistryError as error:
        found += error.findings
    given: int | None = None
    if pull is not None and trust:
        problems, given = _approvals(repo, base, head, pull, trust, connection, queued)
        found += problems
    report = verify_change(
        repo,
        base,
        head,
        author=None if pull is None else pull.author_id,
        published_keys=keys,
        now=now,
        expectations=expectations,
    )
    return replace(extended(report, found), approvals=given)


def trust_paths(repo: Path, base: str, head: str) -> list[str]:
    """The trust files that a change touches; none if the change cannot be read."""
    try:
        commits = commit_of(repo, base), commit_of(repo, head)
        changed = changes(repo, fork_point(repo, *commits), commits[1])
    except RegistryError:
        return []  # verify_change finds the same
    ours = (one.path for one in changed if contribution(one.path))
    return [path for path in ours if path.startswith(TRUST)]


def _approvals(
    repo: Path,
    base: str,
    head: str,
    pull: PullRequest,
    trust: list[str],
    connection: Connection,
    queued: bool,
) -> tuple[list[Finding], int | None]:
    merged = None
    try:
        maintainers = maintainers_of(git_tree(repo, base))
        if queued:
            entries = git_tree(repo, head).entries(TRUST)
            merged = {one.path: one.oid for one in entries if one.path in trust}
        return count_approvals(connection, pull, maintainers, trust, merged)
    except RegistryError as error:
        return list(error.findings), None
