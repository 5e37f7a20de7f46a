"""The main branch's own history: what came to it, when, and since when it is judged.

Only first parents count: what a contributor committed on a branch of their own, with
whatever dates and names, is no history of the registry (threat-model.md S10, S13).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from registry.documents.findings import RegistryError, Severity, code, finding
from registry.gate.git import commit_of, git
from registry.gate.git_tree import git_tree
from registry.gate.maintainers import maintainers_of
from registry.gate.paths import MAINTAINERS
from registry.gate.tree import history

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["Step", "founding", "mainline", "steps_since"]

ELSEWHERE = code(
    "N014",
    Severity.ERROR,
    "The commit since which the branch is to be judged is not in its history.",
    "If the branch was rewritten, restore it. Else name a commit of it with `--since`.",
    "W10",
    "P3",
)


@dataclass(frozen=True, slots=True)
class Step:
    """One commit of the main branch.

    Attributes:
        sha: its full name.
        parent: the commit of the branch before it, or None for the first.
        time: its committer time, in seconds since 1970.
        merges: whether it joins another line of commits.
    """

    sha: str
    parent: str | None
    time: int
    merges: bool = False


def mainline(repo: Path, head: str) -> list[Step]:
    """The first-parent history of a commit, the oldest first, the commit included.

    Args:
        repo: a repository.
        head: a revision.

    Raises:
        RegistryError: T003, there is no such commit, or the history was cut short.
    """
    commit = commit_of(repo, head)
    if git(repo, "rev-parse", "--is-shallow-repository").strip() != b"false":
        message = "the history is shallow, so it is unknown what came to the branch"
        raise history(message)
    form = ("--first-parent", "--parents", "--timestamp")
    lines = git(repo, "rev-list", *form, commit, "--").decode("ascii").splitlines()
    steps: list[Step] = []
    for line in reversed(lines):
        time, sha, *parents = line.split()
        parent = parents[0] if parents else None
        steps.append(Step(sha, parent, int(time), merges=len(parents) > 1))
    return steps


def founding(repo: Path, steps: Sequence[Step]) -> str | None:
    """The commit of a branch that first names maintainers, or None.

    What is before it was pushed by the registry's founders, who had nobody to ask.

    Args:
        repo: a repository.
        steps: the branch's history, the oldest first.
    """
    if not steps:
        return None
    shape = ("--first-parent", "--diff-merges=first-parent", "--no-renames", "--root")
    form = ("--raw", "--abbrev=40", "--format=tformat:%H")
    log = git(repo, "log", *shape, *form, steps[-1].sha, "--", f":(top){MAINTAINERS}")
    changed = {line for line in log.decode("ascii").split() if len(line) == 40}
    for step in steps:
        if step.sha in changed and _names_someone(repo, step.sha):
            return step.sha
    return None


def steps_since(steps: Sequence[Step], since: str) -> list[Step]:
    """What came to a branch after one of its commits, the oldest first.

    Raises:
        RegistryError: N014, the commit is not on the branch.
    """
    at = next((n for n, step in enumerate(steps) if step.sha == since), None)
    if at is None:
        what = f"{since[:12]} is no commit of the branch itself"
        raise RegistryError(finding(ELSEWHERE, "github", what))
    return list(steps[at + 1 :])


def _names_someone(repo: Path, sha: str) -> bool:
    try:
        return maintainers_of(git_tree(repo, sha)) is not None
    except RegistryError:
        return False
