"""What the columns of a bundle can train: which targets, features and feature groups.

Only column names are needed, so a plan is made from manifests alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from registry.documents.columns import FEATURE_GROUPS, Column, column

SOURCES: Final[Mapping[str, tuple[str, ...]]] = {
    "acpi": ("platform",),
    "rapl-sysfs": ("package", "core", "uncore", "dram"),
}
"""Kepler's energy sources with their components, the one that matters most first."""

PLATFORM_METERS: Final = ("chassis", "wall", "pdu", "ipmi", "redfish", "acpi")
"""Meters of a whole node, the most trusted first: what stands between the node and the
wall, then the management controller, then the board. A shared meter is divided by the
nodes it feeds; where there is one, the gate allows no other."""

_ZONE_SOURCES: Final = ("rapl-sysfs", "amd-energy", "amd-hsmp")
"""Interfaces to the processor's own energy accounting, the most exact first."""

CPU_TIME: Final = "bpf_cpu_time_ms"
PAGE_CACHE: Final = "bpf_page_cache_hit"

OPTIONAL: Final = frozenset({PAGE_CACHE})
"""Features that a group does without: Kepler before 0.7 and load levels lack it. It
then has weight 0 (and is missing for trees), as in Kepler's own database."""

# The catalogue holds cpu time under two names: as scheduler events see it, like Kepler,
# and as the kernel accounts for it. The first wins.
_PREFERRED: Final = ("bpf_",)
_NOT_NUMBERS: Final = "node_info"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A target or feature, as the sum of one or more columns.

    Attributes:
        columns: The columns to add up; all counters or all gauges.
        shared: Whether the sum is of all nodes on a meter.
    """

    columns: tuple[Column, ...]
    shared: bool = False


def target_quantities(names: Iterable[str], table: str) -> dict[str, Quantity]:
    """Map each target (``acpi:platform``, ``rapl-sysfs:package`` …) to its columns.

    Zones overlap (package holds core), so zones are never added to each other; the
    same zone of several sockets is. ``psys`` is no target: what it covers is up to
    the firmware.
    """
    known = _power_columns(names, table)
    found: dict[str, Quantity] = {}
    for meter in PLATFORM_METERS:
        zone = "chassis" if meter == "chassis" else "platform"
        columns = known.get((meter, zone))
        if columns:
            found["acpi:platform"] = Quantity(_exact(columns)[:1], meter == "chassis")
            break
    for zone in SOURCES["rapl-sysfs"]:
        for power in _ZONE_SOURCES:
            columns = known.get((power, zone))
            if columns:
                found[f"rapl-sysfs:{zone}"] = Quantity(_exact(columns))
                break
    return found


def feature_quantities(names: Iterable[str], table: str) -> dict[str, Quantity]:
    """Map each Kepler feature to the column that it is read from, sorted by feature."""
    best: dict[str, Column] = {}
    for name in sorted(names):
        entry = column(name, table)
        if entry is None or not entry.feature:
            continue
        rival = best.get(entry.feature)
        if rival is None or _rank(entry) < _rank(rival):
            best[entry.feature] = entry
    return {feature: Quantity((best[feature],)) for feature in sorted(best)}


def features(names: Collection[str], table: str) -> frozenset[str]:
    """Name the features that a table yields, with what load levels imply."""
    found = set(feature_quantities(names, table))
    if table == "levels":
        found.add(CPU_TIME)
    return frozenset(found)


def feature_groups(available: Collection[str]) -> tuple[str, ...]:
    """Name Kepler's feature groups that the features allow, sorted."""
    return tuple(
        sorted(
            group
            for group, wanted in FEATURE_GROUPS.items()
            if _NOT_NUMBERS not in wanted
            and all(name in available for name in wanted if name not in OPTIONAL)
        )
    )


def sources(names: Collection[str], table: str) -> tuple[str, ...]:
    """Name the energy sources of which a table holds some component."""
    found = {target.split(":")[0] for target in target_quantities(names, table)}
    return tuple(source for source in SOURCES if source in found)


def _power_columns(
    names: Iterable[str], table: str
) -> dict[tuple[str, str], list[Column]]:
    known: dict[tuple[str, str], list[Column]] = {}
    for name in sorted(names):
        entry = column(name, table)
        if entry is not None and entry.power:
            known.setdefault((entry.power, entry.zone), []).append(entry)
    return known


def _exact(columns: list[Column]) -> tuple[Column, ...]:
    """Prefer counters, which miss nothing between two readings, to readings."""
    counters = tuple(entry for entry in columns if entry.kind == "counter")
    return counters or tuple(columns)


def _rank(entry: Column) -> tuple[bool, bool, str]:
    preferred = entry.name.startswith(_PREFERRED)
    return (not preferred, entry.kind != "counter", entry.name)
