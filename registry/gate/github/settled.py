"""Which merged paths have no effect any more, so that nothing is held against them.

Git history stays. A push that nobody approved would block every later release if it
could not be made good: it is, when its files are what the accepted changes made of
them, or when nothing is made from them. What was accepted since the last release counts
too: whoever takes back a revocation by a push has made nothing good.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from registry.documents.findings import RegistryError
from registry.documents.manifest import read_manifest
from registry.documents.trust import epoch, read_trust
from registry.gate.paths import MAINTAINERS, MANIFEST, WITHDRAWN, dataset_of
from registry.gate.tree import DATASETS, SPECS, TRUST

if TYPE_CHECKING:
    from collections.abc import Iterable

    from registry.gate.git_tree import GitTree

__all__ = ["Settled"]


class Settled:
    """Compares a branch with what the changes that were accepted make of it."""

    def __init__(self, start: GitTree, head: GitTree) -> None:
        """Keep both.

        Args:
            start: the branch when all was well.
            head: the branch now.
        """
        self._head = head
        self._good = _listed(start)
        self._now = _listed(head)

    def accept(self, base: GitTree, last: GitTree, paths: Iterable[str]) -> None:
        """Note what an accepted change makes of its files.

        A file that the change found otherwise than it should be stays what it should
        be: the change was judged by what it adds, and not by what was there.

        Args:
            base: the branch before the change.
            last: the branch after it.
            paths: what it touches.
        """
        before, after = _listed(base), _listed(last)
        for path in paths:
            if before.get(path) != self._good.get(path):
                continue
            if path in after:
                self._good[path] = after[path]
            else:
                self._good.pop(path, None)

    def has(self, path: str, arrived: int) -> bool:
        """Whether a path that something touched has no effect any more.

        Args:
            path: the path.
            arrived: when it was touched, in seconds since 1970.
        """
        if self._good.get(path) == self._now.get(path):
            return True
        dataset = dataset_of(path)
        if dataset is not None:
            end = f"{DATASETS}{dataset}/{WITHDRAWN}"
            return path != end and end in self._now
        if path.startswith(SPECS):
            return path not in self._good and path not in self._specs_in_use
        if path.startswith(TRUST) and path != MAINTAINERS:
            return path not in self._good and self._never_valid(path, arrived)
        return False

    @cached_property
    def _specs_in_use(self) -> frozenset[str]:
        used: set[str] = set()
        for path in self._now:
            folder, _, name = path.rpartition("/")
            if name != MANIFEST or not path.startswith(DATASETS):
                continue
            if f"{folder}/{WITHDRAWN}" in self._now:
                continue
            try:
                used.add(read_manifest(self._head.read(path), path).spec.path)
            except RegistryError:
                continue  # a finding of the whole registry's verification
        return frozenset(used)

    def _never_valid(self, path: str, arrived: int) -> bool:
        """Whether all keys of a new trust file were revoked from its arrival on."""
        try:
            contributor = read_trust(self._head.read(path), path)
        except RegistryError:
            return False
        return all(
            key.revoked is not None and epoch(key.revoked.at) <= arrived
            for key in contributor.keys
        )


def _listed(tree: GitTree) -> dict[str, tuple[str, int]]:
    return {one.path: (one.oid, one.mode) for one in tree.entries()}
