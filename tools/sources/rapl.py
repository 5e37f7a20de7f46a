"""Reads the energy counters of processors and memory (RAPL) from powercap in sysfs.

    source, missing = open_rapl(Path("/sys"))

One series a zone, in microjoules as the kernel gives them. Nothing is added up: which
zones make the power of a node is decided later, from all that was recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tools.readings.kernel_files import Unreadable, read_number
from tools.readings.series import Gaps, Missing, Series
from tools.sources.rapl_zones import Zone, find_zones, series_of

__all__ = ["RaplSource", "longest_interval_seconds", "open_rapl"]

_REMEDY: Final = (
    "Since CVE-2020-8694 only root may read it: run as root, or let a group read it by"
    " a udev rule (chgrp and chmod g+r on energy_uj)."
)
_NO_ZONES: Final = (
    "Run on the machine itself, not in a guest, with the module intel_rapl_msr loaded."
)
_UNKNOWN_WATTS: Final = 1000.0
"""What a zone without limits may draw at most: more than any processor of today."""


class RaplSource:
    """The zones that can be read.

    Attributes:
        name: ``rapl``.
        series: one for each zone, in microjoules.
        gaps: readings that failed.

    """

    name = "rapl"

    def __init__(self, zones: Sequence[tuple[Zone, Series]]) -> None:
        """Prepare for reading zones."""
        self._files = tuple(zone.folder / "energy_uj" for zone, _ in zones)
        self.series = tuple(series for _, series in zones)
        self.gaps = Gaps()

    def read(self, now_ns: int) -> Sequence[int | None]:
        """Read all zones, in microjoules."""
        del now_ns
        values: list[int | None] = []
        for file, series in zip(self._files, self.series, strict=True):
            try:
                value: int | None = read_number(file)
            except Unreadable as error:
                self.gaps.note(series.name, error.why)
                value = None
            values.append(value)
        return values

    def close(self) -> None:
        """Nothing is held open."""


def open_rapl(sysroot: Path) -> tuple[RaplSource | None, tuple[Missing, ...]]:
    """Open all zones below ``sysroot`` that can be read, and say which cannot, and why.

    A zone is missing if its name is unknown, its counter cannot be read or another zone
    has the same column.
    """
    zones, missing = find_zones(sysroot)
    if not zones:
        folder = sysroot / "class/powercap"
        why = f"there is no RAPL zone in {folder}"
        return None, (*missing, Missing("rapl", "", why, _NO_ZONES))
    lacking = list(missing)
    usable: dict[str, tuple[Zone, Series]] = {}
    for zone in zones:
        series = series_of(zone)
        refusal = _refusal(zone, series, usable)
        if refusal is not None:
            lacking.append(refusal)
        elif series is not None:
            usable[series.name] = zone, series
            if zone.modulus is None:
                lacking.append(_no_range(zone))
    if not usable:
        refused = [one for one in lacking if not one.expected]
        why = "no zone can be read"
        if refused:
            why += f"; {refused[0].what}: {refused[0].why}"
        remedy = next((one.remedy for one in refused if one.remedy), "")
        return None, (*lacking, Missing("rapl", "", why, remedy))
    return RaplSource(tuple(usable.values())), tuple(lacking)


def longest_interval_seconds(series: Series) -> float | None:
    """How far apart two readings of a zone may be, so that no turn of it is missed.

    A quarter of a turn at twice the power that the zone is allowed, or that any
    processor draws if it names no limit; None if it does not say when it turns.
    """
    if not series.wraps or series.modulus is None:
        return None
    watts = series.rate_maximum or _UNKNOWN_WATTS
    return series.modulus / series.steps / (4 * 2 * watts)


def _refusal(
    zone: Zone, series: Series | None, usable: dict[str, tuple[Zone, Series]]
) -> Missing | None:
    if series is None:
        return Missing("rapl", zone.identity, "it is none of the zones that are known")
    if series.name in usable:
        other = usable[series.name][0].identity
        why = f"{other} has the column {series.name} already"
        return Missing("rapl", zone.identity, why)
    try:
        read_number(zone.folder / "energy_uj")
    except Unreadable as error:
        remedy = _REMEDY if error.forbidden else ""
        return Missing("rapl", zone.identity, error.why, remedy)
    return None


def _no_range(zone: Zone) -> Missing:
    return Missing(
        "rapl",
        f"{zone.identity} max_energy_range_uj",
        "it cannot be read, so energy is invalid if the counter turns",
        "Keep recordings short, and compare with another meter.",
    )
