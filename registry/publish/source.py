"""Where a release is built from: a commit, or a folder that no commit describes."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from registry.documents.findings import RegistryError
from registry.gate.directory_tree import registry_folder
from registry.gate.git import git
from registry.gate.git_tree import arrivals, git_tree
from registry.gate.paths import WITHDRAWN
from registry.gate.tree import DATASETS, ROOTS
from registry.gate.withdrawal import read_withdrawal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from registry.gate.tree import Tree
    from registry.gate.withdrawal import Withdrawal

__all__ = ["Source", "open_source", "withdrawals"]


@dataclass(frozen=True, slots=True)
class Source:
    """The registry at one moment.

    Attributes:
        tree: Its contributions.
        commit: The full name of the commit, or None for a work tree.
        serial: The commit's committer time, seconds since 1970; 0 for a work tree.
        arrivals: When each bundle came to main, in the same unit.
        now: The time at which keys of bundles without an arrival must be valid.
    """

    tree: Tree
    commit: str | None = None
    serial: int = 0
    arrivals: Mapping[str, int] = field(default_factory=dict)
    now: int = field(default_factory=lambda: int(time.time()))


def open_source(root: Path, rev: str | None = None) -> Source:
    """Open a registry for building.

    Args:
        root: A checkout, or any folder with ``datasets`` and ``specs``.
        rev: A git revision; without one, HEAD if the contributions in the work tree
            are exactly those of HEAD, and else the folder as it lies there, which
            then has no commit to its name.

    Raises:
        RegistryError: T003, there is no such revision; T004, it is no registry.

    """
    if rev is None:
        if not _is_clean(root):
            return Source(registry_folder(root))
        rev = "HEAD"
    tree = git_tree(root, rev)
    serial = int(git(root, "show", "-s", "--format=%ct", tree.commit))
    arrived = arrivals(root, tree.commit)
    return Source(tree, tree.commit, serial, arrived, now=serial)


def withdrawals(tree: Tree) -> dict[str, Withdrawal]:
    """List withdrawn bundles with day and reason, by dataset.

    Raises:
        RegistryError: Y codes or M030 to M033, a file is no proper withdrawal.

    """
    found: dict[str, Withdrawal] = {}
    for entry in tree.entries(DATASETS):
        folder, _, name = entry.path.rpartition("/")
        if name == WITHDRAWN:
            data = tree.read(entry.path)
            found[folder.removeprefix(DATASETS)] = read_withdrawal(data, entry.path)
    return found


def _is_clean(root: Path) -> bool:
    try:
        top = git(root, "rev-parse", "--show-toplevel").decode().strip()
        git(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        paths = [folder.rstrip("/") for folder in ROOTS]
        changes = git(root, "status", "--porcelain", "-z", "-uall", "--", *paths)
    except RegistryError:
        return False
    return not changes and top == str(root.resolve())
