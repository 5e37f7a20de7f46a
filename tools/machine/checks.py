"""What a check of a machine says: a state, why it matters, how it would be changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from registry.documents.findings import Code, shown
from tools.readings.kernel_files import Unreadable, read_bytes, read_word

__all__ = ["KERNEL", "Check", "Level", "absent", "checked", "chosen", "content", "word"]

KERNEL: Final = "/sys/devices/system/cpu"
"""Where commands find the processors; never below another root."""
_BYTES: Final = 1 << 20


class Level(StrEnum):
    """How much a state disturbs measurements."""

    OK = "ok"
    """It does not."""
    NOTICE = "notice"
    """It does in a way that a careful comparison can live with: note it."""
    UNFIT = "unfit"
    """Numbers that are taken now say something else than they seem to."""
    UNKNOWN = "unknown"
    """It cannot be told, which is never taken for good."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at.

    Attributes:
        name: what, such as ``write cache of sda``.
        code: the code of its finding.
        level: how much it disturbs.
        state: what was found, for people.
        why: why it matters.
        command: the command that would change it; empty if none would. Nothing runs it.
        remedy: what else to do.
    """

    name: str
    code: str
    level: Level
    state: str
    why: str
    command: str = ""
    remedy: str = ""


def checked(
    name: str, kind: Code, level: Level, state: str, command: str = ""
) -> Check:
    """Make a check of a declared code; what is well needs no command."""
    if level in (Level.OK, Level.UNKNOWN):
        command = ""
    remedy = kind.fix if level in (Level.NOTICE, Level.UNFIT) else ""
    text = shown(state, 200)
    return Check(name, kind.id, level, text, kind.title, command, remedy)


def absent(name: str, kind: Code, why: str) -> Check:
    """A check of what cannot be told."""
    return checked(name, kind, Level.UNKNOWN, why)


def word(path: Path) -> str:
    """A file of one word.

    Raises:
        Unreadable: it cannot be read.
    """
    return read_word(path)


def content(path: Path) -> str:
    """A file of text, up to 1 MiB; what is no UTF-8 is replaced.

    Raises:
        Unreadable: it cannot be read.
    """
    return read_bytes(path, _BYTES).decode("utf-8", "replace")


def chosen(text: str) -> str:
    """The choice that stands in brackets, as in ``always [madvise] never``.

    Raises:
        Unreadable: there is none.
    """
    _, bracket, rest = text.partition("[")
    choice, end, _ = rest.partition("]")
    if not bracket or not end or not choice.strip():
        raise Unreadable("no choice is marked")
    return choice.strip()


Looked = Callable[[Path, Path], list[Check]]
"""Looks at a machine below the roots of sysfs and procfs."""
