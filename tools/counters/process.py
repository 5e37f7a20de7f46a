"""Reads the use of one process and of all that it started.

It reads procfs itself: psutil finds descendants by reading every process of the machine
each time, which at 50 ms would cost more than all other sources together. Here the
kernel's own lists are read (CONFIG_PROC_CHILDREN); only without them all processes are,
and then rarely.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.readings.kernel_files import Unreadable, read_bytes
from tools.readings.series import Gaps, Kind, Series

__all__ = ["PROCESSES", "ProcessSource"]

PROCESSES: Final = 4096
"""The most processes that are followed."""

_SEARCH_NS: Final = 20_000_000
"""How long a descendant may stay unseen where a search is cheap."""
_SEARCH_SHARE: Final = 100
"""A search may take a hundredth of the time, so that it is rarer where it is dear."""
_BYTES: Final = 4096
_CHILDREN_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class _Stat:
    """What /proc/PID/stat says: see proc(5), which counts its fields from 1."""

    parent: int
    ticks: int  # with the children that it waited for
    threads: int
    started: int
    resident: int  # in pages


class ProcessSource:
    """A process and its descendants.

    The processor time includes children that were waited for. What a process used that
    nobody waited for is kept as it was last seen, so the counter never goes down.
    Resident memory is the sum over processes, so that pages they share count in each.

    Attributes:
        name: ``process``.
        series: processor seconds, resident bytes, threads, processes.
        gaps: readings that failed.

    """

    name = "process"

    def __init__(self, procroot: Path, pid: int | None = None) -> None:
        """Prepare for reading below ``procroot``; without a pid, until `follow`."""
        self._procroot = procroot
        self._hertz = os.sysconf("SC_CLK_TCK")
        self._page = os.sysconf("SC_PAGE_SIZE")
        self.gaps = Gaps()
        self.series: tuple[Series, ...] = (
            _series("process_cpu_seconds_total", "seconds", "cpu", 2, Kind.COUNTER),
            _series("process_memory_bytes", "bytes", "memory_used"),
            _series("process_threads", "threads", "threads"),
            _series("process_count", "processes", "processes"),
        )
        self.follow(pid)

    def follow(self, pid: int | None) -> None:
        """Watch this process and its descendants from now on, and no others."""
        self._pid = pid
        self._known: dict[int, int] = {}  # the start of each process followed
        self._search_due_ns = 0
        self._lost_ticks = 0
        self._last_ticks = 0

    def read(self, now_ns: int) -> Sequence[int | None]:
        """Read all series: hundredths of a second, bytes, threads, processes."""
        stats = self._stats(now_ns) if self._pid is not None else []
        if not stats:
            # Before its start and after its end there is nothing to read.
            if self._pid is not None and not self._known:
                for one in self.series:
                    self.gaps.note(one.name, "the process ended before it was seen")
            return [None] * len(self.series)
        ticks = sum(one.ticks for one in stats)
        self._lost_ticks += max(self._last_ticks - ticks - self._lost_ticks, 0)
        self._last_ticks = ticks + self._lost_ticks
        return [
            self._last_ticks * 100 // self._hertz,
            sum(one.resident for one in stats) * self._page,
            sum(one.threads for one in stats),
            len(stats),
        ]

    def close(self) -> None:
        """Nothing is held open."""

    def _stats(self, now_ns: int) -> list[_Stat]:
        assert self._pid is not None  # noqa: S101  asked for before
        if not self._known:
            root = self._stat(self._pid)
            if root is None:
                return []
            self._known = {self._pid: root.started}
        if now_ns >= self._search_due_ns:
            start = time.monotonic_ns()
            self._search()
            took = time.monotonic_ns() - start
            self._search_due_ns = now_ns + max(_SEARCH_NS, _SEARCH_SHARE * took)
        found = {pid: self._stat(pid) for pid in self._known}
        alive = {
            pid: one
            for pid, one in found.items()
            if one is not None and one.started == self._known[pid]
        }
        # The first process stays known after its end, so that its number is not taken
        # for a new one; what it started may live on.
        self._known = {
            pid: started
            for pid, started in self._known.items()
            if pid in alive or pid == self._pid
        }
        return list(alive.values())

    def _search(self) -> None:
        """Add the descendants of what is known."""
        families: dict[int, list[int]] | None = None
        waiting = list(self._known)
        while waiting and len(self._known) < PROCESSES:
            parent = waiting.pop()
            children = self._listed(parent)
            if children is None:
                families = self._families() if families is None else families
                children = families.get(parent, [])
            for pid in children:
                one = None if pid in self._known else self._stat(pid)
                if one is not None:
                    self._known[pid] = one.started
                    waiting.append(pid)

    def _listed(self, pid: int) -> list[int] | None:
        """The children that the kernel lists for a process; None if it has no lists."""
        found: list[int] = []
        try:
            for task in (self._procroot / str(pid) / "task").iterdir():
                data = read_bytes(task / "children", _CHILDREN_BYTES)
                found += [int(child) for child in data.split()]
        except (OSError, Unreadable, ValueError):
            return None
        return found

    def _families(self) -> dict[int, list[int]]:
        """The children of every process, found by reading them all."""
        children: dict[int, list[int]] = {}
        try:
            names = [entry.name for entry in self._procroot.iterdir()]
        except OSError:
            return {}
        for name in names:
            if name.isdigit() and (one := self._stat(int(name))) is not None:
                children.setdefault(one.parent, []).append(int(name))
        return children

    def _stat(self, pid: int) -> _Stat | None:
        try:
            data = read_bytes(self._procroot / str(pid) / "stat", _BYTES)
        except Unreadable:
            return None
        # The name of the program stands in brackets and may hold blanks and brackets.
        fields = data.rpartition(b")")[2].split()
        try:
            numbers = [int(field) for field in fields[1:22]]
            return _Stat(
                numbers[0], sum(numbers[10:14]), numbers[16], numbers[18], numbers[20]
            )
        except (ValueError, IndexError):
            return None


def _series(
    name: str,
    unit: str,
    quantity: str,
    decimals: int = 0,
    kind: Kind = Kind.INSTANT,
) -> Series:
    return Series(
        name,
        unit,
        decimals,
        kind,
        "process",
        "process",
        quantity,
        "process",
        "procfs",
        update_seconds=0.01 if kind is Kind.COUNTER else None,
    )
