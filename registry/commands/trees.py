"""The tree that `--root` and `--rev` name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from registry.gate.tree import Tree

__all__ = ["open_tree"]


def open_tree(root: Path, rev: str | None) -> Tree:
    """Open a registry: a git revision, or the work tree if none is named.

    Raises:
        RegistryError: T003, there is no such revision; T004, the folder is no registry.
    """
    if rev is None:
        from registry.gate.directory_tree import registry_folder

        return registry_folder(root)
    from registry.gate.git_tree import git_tree

    return git_tree(root, rev)
