"""What a change touches, decided on git's trees and never on a text diff.

Names come NUL-terminated, so that no quoting can hide one (threat-model.md W5); renames
are a deletion and an addition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from registry.documents.findings import RegistryError
from registry.gate.git import git
from registry.gate.git_tree import path_text
from registry.gate.tree import history

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Change", "changes", "fork_point"]


@dataclass(frozen=True, slots=True)
class Change:
    """One path that differs.

    Attributes:
        path: the path; bytes that are not UTF-8 appear as surrogates.
        status: added, deleted, or modified (content, mode or type).
    """

    path: str
    status: Literal["added", "deleted", "modified"]


def fork_point(repo: Path, base: str, head: str) -> str:
    """The commit from which a change was made, on the base's history.

    Args:
        repo: a repository.
        base: full name of the commit to be merged into.
        head: full name of the change's commit.

    Raises:
        RegistryError: T003, there is none or more than one.
    """
    try:
        found = git(repo, "merge-base", "--all", base, head).decode("ascii").split()
    except RegistryError:
        found = []
    if len(found) != 1:
        message = f"{head} has {len(found)} common ancestors with {base}, not one"
        raise history(message)
    return found[0]


def changes(repo: Path, old: str, new: str) -> list[Change]:
    """The paths that differ between two commits, sorted.

    Args:
        repo: a repository.
        old: full name of a commit.
        new: full name of another.
    """
    form = ("--raw", "-r", "-z", "--no-renames", "--ignore-submodules=none")
    fields = git(repo, "diff-tree", *form, old, new, "--").split(b"\0")
    found: list[Change] = []
    for meta, path in zip(fields[0::2], fields[1::2], strict=False):
        before, after = meta.lstrip(b":").split()[:2]
        if not int(before, 8):
            found.append(Change(path_text(path), "added"))
        elif not int(after, 8):
            found.append(Change(path_text(path), "deleted"))
        else:
            found.append(Change(path_text(path), "modified"))
    return sorted(found, key=lambda change: change.path)
