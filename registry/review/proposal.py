"""What is proposed: two commits, what differs, and the registry as it would be.

The head is read as git objects and never checked out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from registry.gate.changes import changes, fork_point
from registry.gate.git import commit_of
from registry.gate.git_tree import GitTree, arrivals
from registry.gate.paths import MANIFEST, contribution, dataset_of
from registry.gate.scope import scope_of
from registry.gate.tree import DATASETS, TRUST, below
from registry.modelling.catalogue import read_catalogue
from registry.publish.source import Source

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path
    from typing import Literal

    from registry.gate.changes import Change
    from registry.gate.scope import Scope
    from registry.gate.tree import Entry, Tree
    from registry.modelling.catalogue import Catalogue

    Kind = Literal["bundle", "withdrawal", "trust", "other", "code"]

__all__ = ["Author", "MergedTree", "Proposal", "State", "open_proposal"]


@dataclass(frozen=True, slots=True)
class Author:
    """Who proposes the change, as GitHub says.

    Attributes:
        id: numeric id of the account.
        login: its name, shown and never trusted.
        keys: the signing keys that it publishes, one a line, or None if not asked.
    """

    id: int
    login: str
    keys: tuple[str, ...] | None = None


class MergedTree:
    """The base with the contributions of a change, as it would be on main."""

    def __init__(self, base: Tree, head: Tree, paths: Collection[str]) -> None:
        """Take these paths from the head, all others from the base."""
        self._base, self._head = base, head
        self._taken = frozenset(paths)
        kept = [one for one in base.entries() if one.path not in self._taken]
        new = [one for one in head.entries() if one.path in self._taken]
        self._entries = sorted([*kept, *new], key=lambda entry: entry.path)

    def entries(self, prefix: str = "") -> list[Entry]:
        """The files whose path begins with `prefix`, sorted by path."""
        return below(self._entries, prefix) if prefix else list(self._entries)

    def read(self, path: str) -> bytes:
        """All bytes of one ordinary file."""
        return (self._head if path in self._taken else self._base).read(path)

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Paths with their bytes, in the order asked for."""
        wanted = list(paths)
        if self._taken.isdisjoint(wanted):
            yield from self._base.read_many(wanted)
        else:
            yield from ((path, self.read(path)) for path in wanted)


@dataclass(frozen=True, slots=True)
class State:
    """A registry at a moment: its files, its sound bundles and their arrival."""

    source: Source
    catalogue: Catalogue


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change to be reviewed.

    Attributes:
        repo: the repository.
        base: full name of the commit that it is to be merged into.
        head: full name of the commit that is proposed.
        before: files of the base.
        after: files of the head.
        changed: every path that differs, from where the change began.
        scope: what kind of change it is.
        author: who proposes it, if known.
        now: the time at which keys must be valid, in seconds since 1970.
    """

    repo: Path
    base: str
    head: str
    before: GitTree
    after: GitTree
    changed: tuple[Change, ...]
    scope: Scope
    author: Author | None
    now: int

    @property
    def datasets(self) -> tuple[str, ...]:
        """Every dataset of which the change touches a file."""
        names = {dataset_of(one.path) for one in self.changed}
        return tuple(sorted(name for name in names if name is not None))

    @property
    def dataset(self) -> str | None:
        """The dataset that is reviewed: the only one, or the first of several."""
        return next(iter(self.datasets), None)

    @property
    def kind(self) -> Kind:
        """What the change is about."""
        if self.dataset is not None:
            return "withdrawal" if self.scope.withdraws else "bundle"
        if self.scope.trust:
            return "trust"
        ours = any(contribution(one.path) for one in self.changed)
        return "other" if ours else "code"

    def state_before(self) -> State:
        """Read the base's catalogue.

        Raises:
            RegistryError: the base itself is not sound.
        """
        return self._state(self.before, self._arrived())

    def state_after(self) -> State:
        """Read the catalogue as it would be after the merge.

        Raises:
            RegistryError: the change is not sound.
        """
        merged = {one.path for one in self.before.entries()}
        with_data = self.dataset is not None
        paths = {
            one.path
            for one in self.changed
            if contribution(one.path)
            # A change of data brings its author's first trust file at most.
            and not (with_data and one.path.startswith(TRUST) and one.path in merged)
        }
        tree = MergedTree(self.before, self.after, paths)
        arrived = {
            name: when
            for name, when in self._arrived().items()
            if f"{DATASETS}{name}/{MANIFEST}" not in paths
        }
        return self._state(tree, arrived)

    def state_without(self, dataset: str) -> State:
        """Read the base's catalogue as if a dataset had never been there."""
        state = self.state_before()
        kept = tuple(ref for ref in state.catalogue.bundles if ref.dataset != dataset)
        return State(state.source, replace(state.catalogue, bundles=kept))

    def _arrived(self) -> dict[str, int]:
        return arrivals(self.repo, self.base)

    def _state(self, tree: Tree, arrived: dict[str, int]) -> State:
        source = Source(tree, arrivals=arrived, now=self.now)
        catalogue = read_catalogue(tree, arrivals=arrived, now=self.now)
        return State(source, catalogue)


def open_proposal(
    repo: Path, base: str, head: str, *, author: Author | None = None, now: int
) -> Proposal:
    """Open a change for review.

    Args:
        repo: a repository that holds both commits.
        base: the revision to be merged into.
        head: the revision that is proposed.
        author: who proposes it, if known.
        now: the time at which keys must be valid, in seconds since 1970.

    Raises:
        RegistryError: T003, a revision does not exist or they have no common past.
    """
    commits = commit_of(repo, base), commit_of(repo, head)
    before, after = GitTree(repo, commits[0]), GitTree(repo, commits[1])
    changed = tuple(changes(repo, fork_point(repo, *commits), commits[1]))
    merged = {entry.path for entry in before.entries()}
    scope = scope_of(changed, merged)
    return Proposal(repo, *commits, before, after, changed, scope, author, now)
