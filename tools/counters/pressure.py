"""Reads /proc/pressure: time in which tasks waited for a resource."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Self

from tools.readings.kernel_files import Unreadable, read_bytes
from tools.readings.series import Gaps, Kind, Missing, Series

__all__ = ["Pressure"]

_LINE: Final = re.compile(
    rb"^(some|full) avg10=[\d.]+ avg60=[\d.]+ avg300=[\d.]+ total=(\d+)$", re.MULTILINE
)
_REMEDY: Final = "Start the kernel with psi=1, if it has pressure stall information."


class Pressure:
    """The totals of a few lines of /proc/pressure, in microseconds.

    Attributes:
        series: one for each line.

    """

    def __init__(
        self, source: str, folder: Path, wanted: Sequence[tuple[str, str]]
    ) -> None:
        """Prepare for reading lines.

        Args:
            source: the source that they belong to.
            folder: /proc/pressure.
            wanted: resource (cpu, memory or io) and line (some or full) of each.
        """
        self._folder = folder
        self._wanted = tuple(wanted)
        self.series = tuple(
            Series(
                f"pressure_{resource}_{line}_seconds_total",
                "seconds",
                6,
                Kind.COUNTER,
                source,
                "machine",
                f"pressure_{resource}_{line}",
                "machine",
                f"pressure/{resource}",
                update_seconds=2.0,  # PSI_FREQ of kernel/sched/psi.c
            )
            for resource, line in self._wanted
        )

    @classmethod
    def opened(
        cls, source: str, procroot: Path, wanted: Sequence[tuple[str, str]]
    ) -> tuple[Self, tuple[Missing, ...]]:
        """Prepare for those lines that can be read, and say which cannot."""
        folder = procroot / "pressure"
        there: list[tuple[str, str]] = []
        missing: list[Missing] = []
        for resource, line in wanted:
            try:
                found = _totals(folder / resource)
            except Unreadable as error:
                what = f"pressure/{resource} {line}"
                missing.append(Missing(source, what, error.why, _REMEDY))
                continue
            if line in found:
                there.append((resource, line))
            else:
                what = f"pressure/{resource} {line}"
                missing.append(Missing(source, what, "no such line", _REMEDY))
        return cls(source, folder, there), tuple(missing)

    def read(self, gaps: Gaps) -> list[int | None]:
        """Read all totals; what fails is noted in ``gaps``."""
        files: dict[str, dict[str, int] | str] = {}
        values: list[int | None] = []
        for (resource, line), series in zip(self._wanted, self.series, strict=True):
            if resource not in files:
                try:
                    files[resource] = _totals(self._folder / resource)
                except Unreadable as error:
                    files[resource] = error.why
            found = files[resource]
            value = None if isinstance(found, str) else found.get(line)
            if value is None:
                gaps.note(
                    series.name, found if isinstance(found, str) else "no such line"
                )
            values.append(value)
        return values


def _totals(path: Path) -> dict[str, int]:
    data = read_bytes(path, 1024)
    return {line.decode(): int(total) for line, total in _LINE.findall(data)}
