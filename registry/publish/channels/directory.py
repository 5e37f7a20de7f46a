"""Publish to a folder: releases side by side, and ``latest`` that points to the newest.

    PATH/r-0123456789abcdef/…      one folder a release, named by its content
    PATH/latest -> r-0123456789abcdef

A release appears by one rename, ``latest`` moves by another, so a reader never sees
half of one. Publishing again is harmless, also after a publisher was killed at any
moment.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

from registry.documents.canonical import sha256
from registry.documents.findings import RegistryError, Severity, code, finding
from registry.publish.channels.outcome import Published
from registry.publish.integrity import (
    INDEX,
    LATEST,
    SUMS,
    check_folder,
    open_folder,
    tag_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.documents.findings import Finding
    from registry.publish.index import Index

__all__ = ["publish"]

NOT_A_CHANNEL = code(
    "R031",
    Severity.ERROR,
    "A folder cannot serve as a channel for releases.",
    "Name a folder that can be written; `latest` in it must be a link or absent.",
)
NOT_THE_SAME = code(
    "R032",
    Severity.ERROR,
    "A published release was changed afterwards.",
    "Remove the folder of that release and publish again.",
    "P2",
)

_PREFIX: Final = ".incoming-"


def publish(release: Path, place: str) -> Published:
    """Publish a release to a folder.

    Args:
        release: A complete release folder.
        place: The channel's folder; it is made if it is missing.

    Raises:
        RegistryError: The release is damaged (R01x), or R031 or R032.

    """
    index, data = open_folder(release)
    problems = check_folder(release, index, data)
    if problems:
        raise RegistryError(problems)
    tag = tag_of(data)
    channel = Path(place)
    with _locked(channel):
        target = channel / tag
        new = not target.exists()
        if new:
            _place(release, index, data, channel, tag)
        elif problems := _later_changes(target, data):
            raise RegistryError(problems)
        moved = _move_latest(channel, tag, index)
    files = len(index.assets) + 2
    return Published(target, tag, new, moved, index.serial, files)


@contextlib.contextmanager
def _locked(channel: Path) -> Iterator[None]:
    """Keep other publishers out, by a lock on the folder that leaves no file."""
    try:
        channel.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(channel, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        what = f"{error.strerror}"
        raise RegistryError(finding(NOT_A_CHANNEL, channel.name, what)) from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        for leftover in channel.glob(f"{_PREFIX}*"):  # of a publisher that was killed
            if leftover.is_symlink():
                leftover.unlink()
            else:
                shutil.rmtree(leftover)
        yield
    finally:
        os.close(descriptor)


def _place(release: Path, index: Index, data: bytes, channel: Path, tag: str) -> None:
    incoming = channel / f"{_PREFIX}{tag}"
    incoming.mkdir()
    for path in [asset.path for asset in index.assets] + [SUMS]:
        _copy(release / path, incoming / path)
    (incoming / INDEX).write_bytes(data)
    problems = check_folder(incoming, index, data)
    if problems:  # the release changed while it was copied
        shutil.rmtree(incoming)
        raise RegistryError(problems)
    for base, _, names in os.walk(incoming, topdown=False):
        for name in names:
            _flush(Path(base, name))
        _flush(Path(base))
    os.rename(incoming, channel / tag)  # noqa: PTH104 - a step that tests interrupt
    _flush(channel)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with source.open("rb") as old, target.open("xb") as new:
        shutil.copyfileobj(old, new)


def _flush(path: Path) -> None:
    """Make sure that a name never points to what a crash could lose."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _later_changes(target: Path, data: bytes) -> list[Finding]:
    try:
        index, found = open_folder(target)
        same = sha256(found) == sha256(data)
        problems = check_folder(target, index, found) if same else []
    except RegistryError as error:
        same, problems = False, list(error.findings)
    if same and not problems:
        return []
    what = problems[0].what if problems else "its index is another one"
    return [finding(NOT_THE_SAME, target.name, what)]


def _move_latest(channel: Path, tag: str, index: Index) -> bool:
    """Point ``latest`` to a release unless it points to a newer one."""
    link = channel / LATEST
    if os.path.lexists(link) and not link.is_symlink():
        what = f"{LATEST} in it is no link"
        raise RegistryError(finding(NOT_A_CHANNEL, channel.name, what))
    if link.is_symlink():
        if link.readlink() == Path(tag):
            return True
        with contextlib.suppress(RegistryError):  # a broken one may be replaced
            current, _ = open_folder(link)
            if current.serial > index.serial:
                return False
    fresh = channel / f"{_PREFIX}{LATEST}"
    fresh.symlink_to(tag)
    os.replace(fresh, link)  # noqa: PTH105 - a step that tests interrupt
    _flush(channel)
    return True
