"""Numbers of processes and of what belongs together, unique over several files.

Two files may number their processes and arrows alike. Here each file's become numbers
of their own: integers, since viewers take no other text than hexadecimal for an arrow.
"""

from __future__ import annotations

import re
from typing import Any, Final

from msgspec import UNSET

from registry.documents.findings import RegistryError, Severity, code, finding
from tools.traces import limits

__all__ = ["LINKED_PHASES", "V020", "Identities", "Processes", "plain"]

V020 = code(
    "V020",
    Severity.ERROR,
    "A trace has more identities than can be told apart.",
    "Combine fewer files, or keep identities as they are with --link-ids.",
)

LINKED_PHASES: Final = frozenset("bneSTpFstfvV()")
"""Phases whose `id` means the same in a whole file, so not in another one.

Those of objects (N, O, D) and counters (C) mean something within a process only.
"""
_HEX: Final = re.compile(r"0[xX]([0-9a-fA-F]{1,16})\Z")
_DECIMAL: Final = re.compile(r"-?[0-9]{1,19}\Z")
_PID_END: Final = 2**31
"""Viewers hold process numbers in 32 bits."""
_SMALL_BITS: Final = 40
_SMALL: Final = 1 << _SMALL_BITS
_OWN: Final = 1 << 52
"""Where the numbers of large and text identities begin; all stay below 2**53, which
every JSON reader keeps exactly."""


def plain(value: Any) -> Any:
    """A process or thread as one value: 7 and "7" are the same, and none is 0."""
    if type(value) is int:
        return value
    if value is UNSET or value is None:
        return 0
    if isinstance(value, str):
        return int(value) if _DECIMAL.match(value) else value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return str(value)


class Processes:
    """New numbers of processes: the old one where it is free."""

    __slots__ = ("_free", "_taken")

    def __init__(self) -> None:
        """Begin with all numbers free."""
        self._taken: set[int] = set()
        self._free = 1

    def take(self, old: Any) -> int:
        """Give a process a number that no other one has.

        Args:
            old: its number in its file, as `plain` gives it.

        Raises:
            RegistryError: V020, there are too many processes.
        """
        if len(self._taken) >= limits.PROCESSES:
            what = f"there are more than {limits.PROCESSES} processes"
            raise RegistryError(finding(V020, "-", what))
        if isinstance(old, int) and 0 <= old < _PID_END and old not in self._taken:
            new = old
        else:
            while self._free in self._taken:
                self._free += 1
            new = self._free
        self._taken.add(new)
        return new


class Identities:
    """New identities of one file's arrows and asynchronous events.

    Small integers move by a step of the file's own, so that they need no table.
    """

    __slots__ = ("_base", "_counter", "_path", "_table", "remapped")

    def __init__(self, number: int, path: str, counter: list[int]) -> None:
        """Begin a file.

        Args:
            number: which file it is, from 0.
            path: the file, for findings.
            counter: holds the next number for large identities, shared by all files.
        """
        self._base = number * _SMALL
        self._path = path
        self._counter = counter
        self._table: dict[Any, int] = {}
        self.remapped = 0

    def new(self, old: Any) -> Any:
        """The identity that replaces another one; numbers and 0x texts are alike.

        Raises:
            RegistryError: V020, there are too many.
        """
        if type(old) is int and 0 <= old < _SMALL:
            return old + self._base
        if isinstance(old, str) and (match := _HEX.match(old)):
            old = int(match[1], 16)
            if old < _SMALL:
                return old + self._base
        key = old if isinstance(old, (int, str)) else repr(old)
        known = self._table.get(key)
        if known is None:
            if self._counter[0] >= limits.IDENTITIES:
                what = f"files have more than {limits.IDENTITIES} large or text ids"
                raise RegistryError(finding(V020, self._path, what))
            known = self._table[key] = _OWN + self._counter[0]
            self._counter[0] += 1
        return known
