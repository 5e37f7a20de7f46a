"""Power sources of a table: which column measures which part of the machine."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from registry.documents.columns import column
from registry.documents.spec import RAPL_RANGE_JOULES

if TYPE_CHECKING:
    import polars as pl

    from registry.documents.spec import HardwareSpec

__all__ = ["WHOLE_ZONES", "Source", "modulus", "sources_of"]

WHOLE_ZONES: Final = frozenset({"package", "platform", "chassis"})
"""Zones of which at least one must be measured: a whole processor or a whole node."""

_INDEX: Final = re.compile(r"_(\d+)(?:_|$)")


@dataclass(frozen=True, slots=True)
class Source:
    """One column that measures power or energy.

    Attributes:
        column: Its name.
        power: Kepler's name of the energy source, such as ``rapl-sysfs``.
        zone: The part of the machine: package, dram, platform and so on.
        index: The part's number, or None if there is only one.
        counter: Whether it counts joules; otherwise it is a gauge of watts.

    """

    column: str
    power: str
    zone: str
    index: int | None
    counter: bool


def sources_of(frame: pl.DataFrame, table: str) -> tuple[Source, ...]:
    """Return the power sources of ``samples`` or ``levels``, in the header's order."""
    found: list[Source] = []
    for name in frame.columns:
        entry = column(name, table)
        if entry is None or not entry.power or entry.unit not in ("joules", "watts"):
            continue
        number = _INDEX.search(name)
        index = int(number.group(1)) if number else None
        counter = entry.kind == "counter"
        found.append(Source(name, entry.power, entry.zone, index, counter))
    return tuple(found)


def modulus(source: Source, spec: HardwareSpec, highest: float) -> float | None:
    """Return the joules at which a counter wraps, or None if it does not wrap.

    Only RAPL zones wrap: other counters are accumulated to 64 bits by their drivers.
    A RAPL column that exceeds the usual range was accumulated by its recorder.
    """
    if not source.counter or source.power != "rapl-sysfs":
        return None
    zone = source.zone if source.index is None else f"{source.zone}_{source.index}"
    declared = spec.rapl_modulus(zone)
    if declared is not None:
        return declared
    return None if highest > RAPL_RANGE_JOULES else RAPL_RANGE_JOULES
