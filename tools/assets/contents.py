"""What is to be published: a file or a folder of files, read once for the digests."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
    shown,
)

__all__ = ["CHUNK", "Content", "File", "content_of", "file_digest", "name_problem"]

CHUNK: Final = 1 << 20
"""Bytes that are read at once."""
FILE_BYTES: Final = 64 << 30
"""The largest file."""
FILES: Final = 10_000
"""The most files of a folder."""
DEPTH: Final = 16
"""The most folders in each other."""
NAME_BYTES: Final = 200
"""The longest name, so that a temporary one still fits into 255 bytes."""

_MISLEADING: Final = re.compile(r"\A[ ~-]|[ .]\Z")
_MARKS: Final = re.compile(r'[/\\:*?"<>|#%]')

A003 = code(
    "A003",
    Severity.ERROR,
    "Something cannot be published as it is.",
    "Mend or remove it, or name the files that are to be published one by one.",
)


@dataclass(frozen=True, slots=True)
class File:
    """A file and its digests.

    Attributes:
        path: where it is here.
        name: where it is in what is published, with slashes.
        bytes: its size.
        sha256: its SHA-256 in hexadecimal digits.
        md5: its MD5, which stores of objects tell of what they hold.

    """

    path: Path
    name: str
    bytes: int
    sha256: str
    md5: str


@dataclass(frozen=True, slots=True)
class Content:
    """A file or a folder of files.

    Attributes:
        path: where it is here, as it was named.
        name: its own name.
        folder: whether it is a folder.
        files: its files, sorted by name; the file itself if it is no folder.

    """

    path: Path
    name: str
    folder: bool
    files: tuple[File, ...]

    @property
    def bytes(self) -> int:
        """Size of all files together."""
        return sum(file.bytes for file in self.files)


def content_of(path: Path, name: str | None = None) -> Content:
    """Read a file, or every file of a folder.

    Links in a folder are refused, since they may lead out of it, and so are hidden
    files, which nobody sees before they are public.

    Args:
        path: the file or folder; a link is followed, since it was named.
        name: its name; that of the path if None.

    Raises:
        RegistryError: A003, everything that cannot be published.

    """
    if name is None:
        name = path.name if path.name not in {"", ".."} else path.resolve().name
    problems: list[Finding] = []
    found: list[tuple[Path, str]] = []
    if (what := name_problem(name)) is not None:
        problems.append(_problem(path, what))
    folder = path.is_dir()
    if folder:
        _walk(path, "", found, problems)
        if not found and not problems:
            problems.append(_problem(path, "it is a folder without files"))
    else:
        _look(path, name, found, problems, follow=True)
    if problems:
        raise RegistryError(problems)
    files = tuple(_read(where, named) for where, named in sorted(found, key=_by_name))
    return Content(path, name, folder, files)


def file_digest(path: Path) -> tuple[int, str, str]:
    """Return the size, the SHA-256 and the MD5 of a file.

    Raises:
        OSError: it cannot be read.

    """
    sha256, md5, size = hashlib.sha256(), hashlib.md5(usedforsecurity=False), 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            sha256.update(chunk)
            md5.update(chunk)
            size += len(chunk)
    return size, sha256.hexdigest(), md5.hexdigest()


def name_problem(name: str) -> str | None:
    """Say why a name cannot stand in a URL and in every file system, or None."""
    size = len(name.encode(errors="surrogatepass"))
    rules = (
        (0 < size <= NAME_BYTES, f"it is empty or longer than {NAME_BYTES} bytes"),
        (
            not name.startswith("."),
            "it begins with a dot, and hidden files are private",
        ),
        (not _MISLEADING.search(name), "it begins or ends with a space, a dash or so"),
        (not _MARKS.search(name), r'it has one of / \ : * ? " < > | # %'),
        (name.isprintable(), "it has a character that cannot be printed"),
        (unicodedata.is_normalized("NFC", name), "it is not in Unicode normal form C"),
    )
    return next((f"its name: {what}" for holds, what in rules if not holds), None)


def _walk(
    folder: Path, before: str, found: list[tuple[Path, str]], problems: list[Finding]
) -> None:
    """Find the files of a folder, and those below it."""
    if before.count("/") >= DEPTH:
        problems.append(_problem(folder, f"more than {DEPTH} folders in each other"))
        return
    for entry in _entries(folder, problems):
        if len(found) > FILES or len(problems) > 100:
            return
        path, name = Path(entry.path), f"{before}{entry.name}"
        if (what := name_problem(entry.name)) is not None:
            problems.append(_problem(path, what))
        elif entry.is_dir(follow_symlinks=False):
            _walk(path, f"{name}/", found, problems)
        else:
            _look(path, name, found, problems, follow=False)


def _entries(folder: Path, problems: list[Finding]) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        problems.append(_problem(folder, error.strerror or "it cannot be read"))


def _look(
    path: Path,
    name: str,
    found: list[tuple[Path, str]],
    problems: list[Finding],
    *,
    follow: bool,
) -> None:
    """Add a file that can be published, or say why it cannot."""
    try:
        status = path.stat(follow_symlinks=follow)
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or "it is no name of a file"
        problems.append(_problem(path, what))
        return
    if stat.S_ISLNK(status.st_mode):
        problems.append(_problem(path, "it is a link, which may lead elsewhere"))
    elif not stat.S_ISREG(status.st_mode):
        problems.append(_problem(path, "it is neither a file nor a folder"))
    elif status.st_size > FILE_BYTES:
        what = f"{status.st_size} bytes; at most {FILE_BYTES} are published"
        problems.append(_problem(path, what))
    elif len(found) == FILES:
        problems.append(_problem(path, f"more than {FILES} files in a folder"))
        found.append((path, name))
    else:
        found.append((path, name))


def _by_name(pair: tuple[Path, str]) -> str:
    return pair[1]


def _read(path: Path, name: str) -> File:
    try:
        return File(path, name, *file_digest(path))
    except OSError as error:
        what = error.strerror or "it cannot be read"
        raise RegistryError(_problem(path, what)) from None


def _problem(path: Path, what: str) -> Finding:
    return finding(A003, shown(os.fspath(path), 200), what)
