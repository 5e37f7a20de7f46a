"""Reads small files of /proc and /sys within bounds, and says why one cannot be."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

__all__ = ["NUMBER_BYTES", "Unreadable", "read_bytes", "read_number", "read_word"]

NUMBER_BYTES: Final = 64
"""The longest file that holds one number or word."""

_REASONS: Final = {
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.ENOENT: "no such file",
    errno.ENODEV: "the device is gone",
    errno.ENXIO: "the device is gone",
    errno.ENODATA: "no data",
    errno.EIO: "input or output error",
    errno.EOPNOTSUPP: "not supported",
}


class Unreadable(Exception):  # noqa: N818 - it is a state of a file, told to a person
    """A file of the kernel gives no usable content.

    Attributes:
        why: the reason in a few plain words.
        forbidden: whether more rights would help.

    """

    def __init__(self, why: str, *, forbidden: bool = False) -> None:
        """Keep the reason."""
        self.why = why
        self.forbidden = forbidden
        super().__init__(why)


def read_bytes(path: Path | str, limit: int) -> bytes:
    """Read a file of at most ``limit`` bytes.

    It is opened each time: files of sysfs come and go with their devices.

    Raises:
        Unreadable: it cannot be read, or is longer.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            data = _whole(handle, limit)
        finally:
            os.close(handle)
    except OSError as error:
        why = _REASONS.get(error.errno or 0) or error.strerror or "it cannot be read"
        forbidden = error.errno in (errno.EACCES, errno.EPERM)
        raise Unreadable(why, forbidden=forbidden) from None
    if len(data) > limit:
        raise Unreadable(f"longer than {limit} bytes")
    return data


def read_word(path: Path | str) -> str:
    """Read a file of one short printable line, without blanks at its ends.

    Raises:
        Unreadable: it cannot be read or holds something else.
    """
    data = read_bytes(path, NUMBER_BYTES)
    try:
        text = data.decode("ascii").strip()
    except UnicodeDecodeError:
        raise Unreadable("not plain text") from None
    if not text or not text.isprintable():
        raise Unreadable("empty" if not text else "not plain text")
    return text


def read_number(path: Path | str) -> int:
    """Read a file of one whole number that is not negative.

    Raises:
        Unreadable: it cannot be read or holds something else.
    """
    data = read_bytes(path, NUMBER_BYTES).strip()
    if not data.isdigit():
        raise Unreadable("not a number" if data else "empty")
    return int(data)


def _whole(handle: int, limit: int) -> bytes:
    # One read gives all of a short file; long ones of /proc come in pieces.
    data = os.read(handle, limit + 1)
    while data and len(data) <= limit:
        more = os.read(handle, limit + 1 - len(data))
        if not more:
            break
        data += more
    return data
