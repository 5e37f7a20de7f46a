"""Folders of runs that are in use: nothing there may be deleted meanwhile.

    with in_use(folder):
        make_runs()

The lock is on the folder itself, so it leaves no file, and it ends with its process.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["in_use", "is_in_use"]


@contextmanager
def in_use(folder: Path) -> Iterator[None]:
    """Say for a block that runs are made in a folder; several may say so at once."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):  # some network file systems have no locks
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


def is_in_use(folder: Path) -> bool:
    """Whether runs are made in a folder now, by this process or another."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # without locks nothing is known
        return False
    finally:
        os.close(handle)
    return False
