"""A registry tree as it lies in a folder, read without ever following a link."""

from __future__ import annotations

import os
import stat
from contextlib import ExitStack
from typing import TYPE_CHECKING

from registry.documents import limits
from registry.documents.findings import RegistryError, Severity, code, finding
from registry.gate.tree import (
    EXECUTABLE,
    LINK,
    REGULAR,
    ROOTS,
    SUBMODULE,
    Entry,
    below,
    missing,
    too_large,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

__all__ = ["DirectoryTree", "directory_tree", "registry_folder"]

NO_REGISTRY = code(
    "T004",
    Severity.ERROR,
    "The folder is no registry.",
    "Run this in the top folder of the registry's checkout, or name that with "
    "`--root` (`registry`) or `--registry` (`powerkit`).",
)

_DEPTH = 12
"""Folders below this depth are named but not entered: every real one is at most 2."""
_SPECIAL = 0
"""Mode shown for what git cannot hold: a pipe, socket or device."""
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class DirectoryTree:
    """The contributions under a folder: datasets, specs and trust files only.

    Attributes:
        root: the registry's root folder.
    """

    def __init__(self, root: Path) -> None:
        """List the files; their content is read when it is asked for."""
        self.root = root
        self._entries = sorted(_list(root), key=lambda entry: entry.path)
        self._paths = {entry.path for entry in self._entries}

    def __reduce__(self) -> tuple[type[DirectoryTree], tuple[Path]]:
        """Send the root only; the other process lists it again."""
        return DirectoryTree, (self.root,)

    def entries(self, prefix: str = "") -> list[Entry]:
        """The files whose path begins with `prefix`, sorted by path."""
        return below(self._entries, prefix) if prefix else list(self._entries)

    def read(self, path: str) -> bytes:
        """All bytes of one ordinary file; RegistryError if there is none."""
        if path not in self._paths:
            raise missing(path)
        try:
            return _read(self.root, path)
        except OSError as problem:
            raise missing(path, problem.strerror or "it cannot be read") from problem

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Paths with their bytes, in the order asked for."""
        for path in paths:
            yield path, self.read(path)


def directory_tree(root: Path) -> DirectoryTree:
    """The tree of a folder.

    Args:
        root: the folder that holds `datasets`, `specs` and `registry/trust`.
    """
    return DirectoryTree(root)


def registry_folder(root: Path) -> DirectoryTree:
    """The tree of a folder that somebody named, or stands in.

    A wrong folder must not pass for a registry without bundles, in which all is well.

    Raises:
        RegistryError: T004, it has none of a registry's folders.
    """
    if not any(os.path.lexists(root / folder) for folder in ROOTS):
        what = f"it has none of the folders {', '.join(ROOTS)}"
        raise RegistryError(finding(NO_REGISTRY, str(root), what))
    return directory_tree(root)


def _read(root: Path, path: str) -> bytes:
    """Open each folder from the one before, so that no part can become a link."""
    *folders, name = path.split("/")
    with ExitStack() as opened:
        at = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        opened.callback(os.close, at)
        for folder in folders:
            at = os.open(folder, _FOLDER_FLAGS, dir_fd=at)
            opened.callback(os.close, at)
        with os.fdopen(os.open(name, _FILE_FLAGS, dir_fd=at), "rb") as file:
            status = os.fstat(file.fileno())
            if _mode(status) != REGULAR:
                raise missing(path, "it is no ordinary file")
            if status.st_size > limits.FILE_BYTES:
                raise too_large(path, status.st_size, limits.FILE_BYTES)
            return file.read(limits.FILE_BYTES)


def _list(root: Path) -> Iterator[Entry]:
    for prefix in ROOTS:
        path = prefix.rstrip("/")
        parts = path.split("/")
        for count in range(1, len(parts) + 1):
            part = "/".join(parts[:count])
            try:
                status = os.lstat(root / part)
            except OSError:
                break
            if not stat.S_ISDIR(status.st_mode):
                yield Entry(part, _mode(status), status.st_size, "")
                break
        else:
            yield from _walk(root, path, 0)


def _walk(root: Path, folder: str, depth: int) -> Iterator[Entry]:
    with os.scandir(root / folder) as found:
        names = sorted(found, key=lambda entry: entry.name)
    for name in names:
        path = f"{folder}/{name.name}"
        status = name.stat(follow_symlinks=False)
        if not stat.S_ISDIR(status.st_mode):
            yield Entry(path, _mode(status), status.st_size, "")
        elif depth == _DEPTH or _is_repository(root, path):
            yield Entry(path, SUBMODULE, 0, "")
        else:
            yield from _walk(root, path, depth + 1)


def _is_repository(root: Path, folder: str) -> bool:
    return os.path.lexists(root / folder / ".git")


def _mode(status: os.stat_result) -> int:
    if stat.S_ISLNK(status.st_mode):
        return LINK
    if not stat.S_ISREG(status.st_mode):
        return _SPECIAL
    return EXECUTABLE if status.st_mode & stat.S_IXUSR else REGULAR
