"""Files on top of the main branch, and the commit that a branch can move on to."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from registry.documents.findings import RegistryError, Severity, code, finding
from registry.gate.changes import changes, fork_point
from registry.gate.drafting import Identity, commit_files
from registry.gate.git import commit_of, git
from registry.gate.git_tree import git_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from registry.gate.github.remote import Remote
    from registry.gate.tree import Tree

    Files = Mapping[str, bytes | None]
    SaysTheSame = Callable[[Files, Files], bool]

__all__ = ["TIP", "Candidate"]

NOTHING = code(
    "T042",
    Severity.ERROR,
    "The main branch holds all of this already.",
    "There is nothing to propose.",
)
_MAIN: Final = "refs/base/main"
TIP: Final = "refs/base/tip"
"""Where the branch's own last commit is fetched to."""


@dataclass(slots=True)
class Candidate:
    """Files on top of the base, in a place apart."""

    place: Path
    message: str
    identity: Identity
    as_good: SaysTheSame | None
    files: Files = field(default_factory=dict)
    main: str = ""
    draft: str = ""

    def begin(
        self, source: Remote, base: str, files: Files | Callable[[Tree], Files]
    ) -> None:
        """Fetch the base and put the files on it; T042 if they are there."""
        source.fetch(self.place, base, _MAIN)
        self.main = commit_of(self.place, _MAIN)
        given = files(git_tree(self.place, self.main)) if callable(files) else files
        self.files = dict(given)
        self.draft = self.on(self.main, (self.main,))
        if self._tree(self.draft) == self._tree(self.main):
            what = f"{len(self.files)} files are the same there"
            raise RegistryError(finding(NOTHING, source.name, what))

    def on(self, commit: str, parents: tuple[str, ...]) -> str:
        """A commit of another one's files and ours."""
        now = int(time.time())
        made = (self.files, self.message, self.identity, now)
        return commit_files(self.place, parents, commit, *made)

    def is_at(self, tip: str) -> bool:
        """Whether a branch already says just this, and main does not contradict it."""
        try:
            since = fork_point(self.place, self.main, tip)
        except RegistryError:  # no common history
            return False
        moved = {one.path for one in changes(self.place, since, self.main)}
        if moved & self.files.keys():
            return False
        if self.as_good is not None:
            there = self._read(tip)
            if self.as_good(self.files, there):
                self.files = there
        wanted = self._tree(self.on(since, (since,)))
        return self._tree(tip) == wanted

    def follow(self, tip: str) -> str:
        """A commit that a branch can move on to, whatever it holds now."""
        if self._holds(self.main, tip):
            return self.draft
        parents = (tip,) if self._holds(tip, self.main) else (tip, self.main)
        return self.on(self.main, parents)

    def _holds(self, commit: str, ancestor: str) -> bool:
        asked = ("merge-base", "--all", commit, ancestor)
        with contextlib.suppress(RegistryError):  # no common history
            return git(self.place, *asked).decode("ascii").split() == [ancestor]
        return False

    def _read(self, commit: str) -> dict[str, bytes | None]:
        """Our files as another commit has them."""
        tree = git_tree(self.place, commit)
        here = {entry.path for entry in tree.entries()}
        return {path: tree.read(path) for path in self.files if path in here}

    def _tree(self, commit: str) -> bytes:
        return git(self.place, "rev-parse", "--verify", f"{commit}^{{tree}}")
