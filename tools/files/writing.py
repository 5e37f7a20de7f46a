r"""Writes files whole or not at all: under a temporary name, which is then replaced.

    with whole(path) as part, part.open("xb") as file:
        file.write(…)

    write_whole(path, "some text\n")

The temporary name is `.NAME.XXXXXXXX.part` in the same folder, since a rename is one
step only within a file system. Nothing of it is left after an exception.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

__all__ = ["part_beside", "whole", "write_whole"]

_NAME_BYTES: Final = 240
"""How much of a name is kept: file systems take 255 bytes, and 15 are ours."""

_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A name to write to, which becomes the file's if nothing is raised.

    Args:
        path: the file; its folder must be there.

    Yields:
        The temporary name, of which there is nothing yet.

    Raises:
        OSError: it cannot be written, or is there and no plain file.
    """
    part = part_beside(path)
    try:
        yield part
        part.replace(path)
    except OSError as error:
        # Nobody knows it by its temporary name, and a full disk names no file at all.
        if error.filename == os.fspath(part) or error.errno in _FULL:
            error.filename, error.filename2 = os.fspath(path), None
        raise
    finally:
        part.unlink(missing_ok=True)


def part_beside(path: Path) -> Path:
    """A new temporary name for a file, for those who replace the file themselves.

    Raises:
        OSError: the file is there and no plain one: a device such as /dev/null would
            be replaced.
    """
    if path.exists() and not path.is_file():
        raise FileExistsError(errno.EEXIST, "it is no plain file", os.fspath(path))
    name = os.fsdecode(os.fsencode(path.name)[:_NAME_BYTES])
    return path.with_name(f".{name}.{secrets.token_hex(4)}.part")


def write_whole(path: Path, content: bytes | str) -> None:
    """Write a file so that a reader finds all of it or nothing, even after a crash.

    Args:
        path: the file; its folder must be there.
        content: its bytes, or a text, which is written as UTF-8.

    Raises:
        OSError: as for `whole`.
    """
    data = content.encode() if isinstance(content, str) else content
    with whole(path) as part, part.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
