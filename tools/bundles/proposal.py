"""Proposes a bundle as a pull request would, without touching the checkout.

The gate sees git objects, exactly as it will on the server.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from registry.documents import limits
from registry.gate.drafting import BRANCH, NOBODY, apart, fast_import, quoted
from registry.gate.git import commit_of, git
from registry.gate.tree import too_large

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["proposed"]

_MODES: Final = {False: b"100644", True: b"100755"}


@contextmanager
def proposed(
    root: Path, folder: str, files: Iterable[str], base: str
) -> Iterator[tuple[Path, str]]:
    """Commit the work tree's state of a bundle on top of HEAD, in a place apart.

    If HEAD is only behind what it would be merged into, it is committed on top of that:
    whoever proposes it begins there.

    Args:
        root: The top of a checkout.
        folder: The bundle's folder, which is taken as a whole.
        files: Further files by their path in the registry; absent ones are passed over.
        base: The commit that it would be merged into.

    Yields:
        A repository that lasts as long as the context, and the commit's name in it.

    Raises:
        RegistryError: T002, T003.

    """
    head = commit_of(root, "HEAD")
    if git(root, "merge-base", "--all", head, base).decode("ascii").split() == [head]:
        head = base
    stream = bytearray()
    stream += f"commit {BRANCH}\ncommitter {NOBODY.text} 0 +0000\ndata 0\n".encode()
    stream += f"from {head}\n".encode()
    stream += b"D " + quoted(folder) + b"\n"
    inside = sorted(
        Path(at, name).relative_to(root).as_posix()
        for at, _, names in os.walk(root / folder)
        for name in names
    )
    for path in (*inside, *files):
        stream += _file(root / path, path)
    with apart(root) as repo:
        yield repo, fast_import(repo, bytes(stream))


def _file(file: Path, path: str) -> bytes:
    """Return one file as a command for fast-import: links stay links."""
    try:
        status = file.lstat()
    except FileNotFoundError:
        return b""
    if stat.S_ISLNK(status.st_mode):
        mode, data = b"120000", os.fsencode(file.readlink())
    elif stat.S_ISREG(status.st_mode):
        if status.st_size > 2 * limits.FILE_BYTES:
            raise too_large(path, status.st_size, limits.FILE_BYTES)
        mode = _MODES[bool(status.st_mode & stat.S_IXUSR)]
        data = file.read_bytes()
    else:
        return b""  # git cannot hold it, so it will not be proposed
    head = b"M %s inline %s\ndata %d\n" % (mode, quoted(path), len(data))
    return head + data + b"\n"
