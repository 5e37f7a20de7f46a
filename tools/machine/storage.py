"""Disks: whether they hold writes back in a cache of their own."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from registry.documents.findings import Severity, code
from tools.machine.checks import Check, Level, absent, checked, word
from tools.readings.kernel_files import Unreadable

__all__ = ["look_at_disks"]

WRITE_CACHE: Final = code(
    "O050",
    Severity.WARNING,
    "A disk says that data is written while it is still in the disk's cache, so that"
    " times of writing are those of the cache.",
    "Turn the cache off while writing is timed, and on again after that.",
)

_DISKS: Final = 64
_VIRTUAL: Final = re.compile(r"(?:loop|ram|zram|dm-|md|nbd|sr|fd)[0-9]+")
_NVME: Final = re.compile(r"(nvme[0-9]+)(?:c[0-9]+)?n[0-9]+")
_NAME: Final = re.compile(r"[A-Za-z0-9!._-]{1,32}")


def look_at_disks(sysroot: Path, procroot: Path) -> list[Check]:
    """Look at every disk that is none of memory or of other disks."""
    del procroot
    try:
        names = sorted(os.listdir(sysroot / "block"))  # noqa: PTH208 - names are wanted
    except OSError:
        return [absent("write cache", WRITE_CACHE, "no list of disks")]
    disks = [
        name for name in names if _NAME.fullmatch(name) and not _VIRTUAL.fullmatch(name)
    ]
    if not disks:
        return [absent("write cache", WRITE_CACHE, "no disk is seen")]
    return [_disk(sysroot, name) for name in disks[:_DISKS]]


def _disk(sysroot: Path, name: str) -> Check:
    about = f"write cache of {name}"
    try:
        state = word(sysroot / "block" / name / "queue/write_cache")
    except Unreadable as error:
        return absent(about, WRITE_CACHE, error.why)
    if state == "write through":
        return checked(about, WRITE_CACHE, Level.OK, state)
    if state != "write back":
        return absent(about, WRITE_CACHE, state)
    return checked(about, WRITE_CACHE, Level.NOTICE, state, _command(name))


def _command(name: str) -> str:
    """Turn the cache of the device off.

    Writing to queue/write_cache changes only what the kernel takes it for (the kernel's
    Documentation/ABI/stable/sysfs-block), and a guest's disk has it on the host.
    """
    if found := _NVME.fullmatch(name):
        # Feature 6 is the volatile write cache (NVM Express Base Specification).
        return f"sudo nvme set-feature /dev/{found[1]} -f 6 -v 0"
    if name.startswith("sd"):
        return f"sudo hdparm -W 0 /dev/{name}"
    return ""
