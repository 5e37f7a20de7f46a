"""Read a candidate registry as data: from git objects, or from a folder on disk.

    tree = git_tree(Path("."), "HEAD")
    manifest = tree.read("datasets/my-server/manifest.json")

Git objects are read as they were committed: no checkout, so neither attributes, filters
nor links change a byte (threat-model.md B2, B3). A folder is read without following a
link. Nothing that is read here is ever executed.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from registry.documents.findings import RegistryError, Severity, code, finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = [
    "DATASETS",
    "ROOTS",
    "SPECS",
    "TRUST",
    "Entry",
    "Tree",
    "below",
    "missing",
    "too_large",
]

DATASETS = "datasets/"
SPECS = "specs/"
TRUST = "registry/trust/"
ROOTS = (DATASETS, SPECS, TRUST)
"""The folders that hold contributions; nothing outside them is read."""

REGULAR = 0o100644
EXECUTABLE = 0o100755
LINK = 0o120000
SUBMODULE = 0o160000

UNREADABLE = code(
    "T001",
    Severity.ERROR,
    "A file that is needed is missing or cannot be read.",
    "Add the file, as an ordinary file, under exactly this name.",
    "B2",
    "B7",
)
TOO_LARGE = code(
    "T002",
    Severity.ERROR,
    "A file is larger than a file of its kind may be.",
    "Split or shorten it, or record fewer samples a second.",
    "B6",
)
HISTORY = code(
    "T003",
    Severity.ERROR,
    "Git cannot say what was asked of it.",
    "Name commits of this repository and fetch its whole history "
    "(`git fetch --unshallow`, or `fetch-depth: 0` in a workflow).",
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a tree.

    Attributes:
        path: its path from the root; bytes that are not UTF-8 appear as surrogates.
        mode: git's mode: 0o100644 for an ordinary file.
        size: bytes; 0 for what holds none, such as a submodule.
        oid: name of the git object, or empty for a file on disk.
    """

    path: str
    mode: int
    size: int
    oid: str


class Tree(Protocol):
    """What the gate and later stages read a registry from."""

    def entries(self, prefix: str = "") -> list[Entry]:
        """The files whose path begins with `prefix`, sorted by path."""
        ...

    def read(self, path: str) -> bytes:
        """All bytes of one ordinary file.

        Raises:
            RegistryError: it is missing, no ordinary file, or too large.
        """
        ...

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Paths with their bytes, in the order asked for, faster than one by one.

        Raises:
            RegistryError: as `read`.
        """
        ...


def below(entries: Sequence[Entry], prefix: str) -> list[Entry]:
    """The entries under a prefix, out of entries that are sorted by path."""
    first = bisect_left(entries, prefix, key=lambda entry: entry.path)
    found: list[Entry] = []
    for entry in entries[first:]:
        if not entry.path.startswith(prefix):
            break
        found.append(entry)
    return found


def missing(path: str, why: str = "there is no such file") -> RegistryError:
    """The error for a file that cannot be read."""
    return RegistryError((finding(UNREADABLE, path, why),))


def too_large(path: str, size: int, most: int) -> RegistryError:
    """The error for a file over its limit."""
    return RegistryError((finding(TOO_LARGE, path, f"{size} bytes; at most {most}"),))


def history(what: str) -> RegistryError:
    """The error for a revision or history that git does not have."""
    return RegistryError((finding(HISTORY, ".git", what),))
