"""Reads the machine's memory from /proc/meminfo, /proc/vmstat and /proc/pressure."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tools.counters.pressure import Pressure
from tools.readings.kernel_files import Unreadable, read_bytes
from tools.readings.series import Gaps, Kind, Missing, Series

__all__ = ["MemorySource", "open_memory"]

_BYTES: Final = 64 * 1024
# Only what is wanted: these files have a hundred lines or two.
_LINE: Final = re.compile(
    rb"^(MemTotal|MemAvailable|Cached|Dirty|pgfault|pgmajfault|pgpgin|pgpgout|pswpin"
    rb"|pswpout):?\s+(\d+)(?: kB)?$",
    re.MULTILINE,
)
_VMSTAT: Final = (
    ("page_faults_total", "pgfault", "page_faults", "events", 1),
    ("major_page_faults_total", "pgmajfault", "major_page_faults", "events", 1),
    # pgpgin and pgpgout count KiB, the swap counters count pages
    ("page_cache_in_bytes_total", "pgpgin", "page_cache_in", "bytes", 1024),
    ("page_cache_out_bytes_total", "pgpgout", "page_cache_out", "bytes", 1024),
    ("swap_in_bytes_total", "pswpin", "swap_in", "bytes", None),
    ("swap_out_bytes_total", "pswpout", "swap_out", "bytes", None),
)
_MEMINFO: Final = (
    ("memory_used_bytes", "memory_used"),
    ("memory_available_bytes", "memory_free"),
    ("memory_cached_bytes", "memory_cached"),
    ("memory_dirty_bytes", "memory_dirty"),
)


class MemorySource:
    """Memory of the machine.

    Attributes:
        name: ``memory``.
        series: used (total less available), available, cached and dirty bytes;
            faults, swap and page cache traffic; time in which tasks waited for memory.
        gaps: readings that failed.

    """

    name = "memory"

    def __init__(self, procroot: Path, pressure: Pressure) -> None:
        """Prepare for reading below ``procroot``."""
        self._meminfo = procroot / "meminfo"
        self._vmstat = procroot / "vmstat"
        self._pressure = pressure
        self.series: tuple[Series, ...] = (
            *(_series(name, quantity) for name, quantity in _MEMINFO),
            *(
                _series(name, quantity, unit, Kind.COUNTER, "vmstat")
                for name, _, quantity, unit, _ in _VMSTAT
            ),
            *pressure.series,
        )
        self.gaps = Gaps()

    def read(self, now_ns: int) -> Sequence[int | None]:
        """Read all series, in bytes, events and microseconds."""
        del now_ns
        return [
            *self._memory(_numbers(self._meminfo)),
            *self._counters(_numbers(self._vmstat)),
            *self._pressure.read(self.gaps),
        ]

    def close(self) -> None:
        """Nothing is held open."""

    def _memory(self, found: dict[str, int] | str) -> list[int | None]:
        values: list[int | None] = [None] * len(_MEMINFO)
        if not isinstance(found, str):
            total, available = found.get("MemTotal"), found.get("MemAvailable")
            if total is not None and available is not None:
                values[0] = (total - available) * 1024
            if available is not None:
                values[1] = available * 1024
            for place, key in ((2, "Cached"), (3, "Dirty")):
                if key in found:
                    values[place] = found[key] * 1024
        why = found if isinstance(found, str) else "not in meminfo"
        for (name, _), value in zip(_MEMINFO, values, strict=True):
            if value is None:
                self.gaps.note(name, why)
        return values

    def _counters(self, found: dict[str, int] | str) -> list[int | None]:
        values: list[int | None] = []
        for name, key, _, _, scale in _VMSTAT:
            if isinstance(found, str) or key not in found:
                why = found if isinstance(found, str) else "not in vmstat"
                self.gaps.note(name, why)
                values.append(None)
            else:
                values.append(found[key] * (scale or os.sysconf("SC_PAGE_SIZE")))
        return values


def open_memory(procroot: Path) -> tuple[MemorySource | None, tuple[Missing, ...]]:
    """Open the machine's memory counters below ``procroot``."""
    found = _numbers(procroot / "meminfo")
    if isinstance(found, str):
        return None, (Missing("memory", "", f"{procroot / 'meminfo'}: {found}"),)
    wanted = (("memory", "some"), ("memory", "full"))
    pressure, missing = Pressure.opened("memory", procroot, wanted)
    return MemorySource(procroot, pressure), missing


def _numbers(path: Path) -> dict[str, int] | str:
    """The numbers of a file of names and numbers, or why it cannot be read."""
    try:
        data = read_bytes(path, _BYTES)
    except Unreadable as error:
        return error.why
    return {key.decode(): int(value) for key, value in _LINE.findall(data)}


def _series(
    name: str,
    quantity: str,
    unit: str = "bytes",
    kind: Kind = Kind.INSTANT,
    origin: str = "meminfo",
) -> Series:
    device = coverage = "machine"
    return Series(name, unit, 0, kind, "memory", device, quantity, coverage, origin)
