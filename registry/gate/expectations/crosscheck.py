"""Measures of sources against each other: parts, whole nodes, meters of one node.

All comparisons are of means over whole runs, never of single samples: clocks of meters
differ, and a wall meter may well dip under RAPL for a second.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from registry.gate.expectations.response import correlation, mean, median

if TYPE_CHECKING:
    from registry.documents.spec import HardwareSpec
    from registry.gate.expectations.measure import Measures
    from registry.gate.expectations.points import Points, Power
    from registry.gate.expectations.series import Floats

__all__ = ["measure_agreement"]

_PREFERRED: Final = ("rapl-sysfs", "amd-energy", "amd-hsmp")
"""Interfaces to package energy; only one of them is summed."""
_SMALLEST_RISE: Final = 10.0
"""Watts by which parts must rise before a slope says anything."""


def measure_agreement(points: Points, spec: HardwareSpec, measures: Measures) -> None:
    """Measure how the sources of a bundle fit together."""
    packages = _packages(points)
    first = next(iter(packages.values()), None)
    dram = _total(points.zone("dram"), spec)
    _inside_packages(points, measures)
    for (name, one), (other, two) in combinations(packages.items(), 2):
        ratio = median(_ratio(one, two), points.accepted)
        measures.add("interfaces_ratio", ratio, f"{name} over {other}")
    _supplies(points, measures)
    _gpus(points, measures)
    if first is not None:
        _against_packages(points, first, dram, measures)
        _nodes(points, _parts(points, first, dram), spec, measures)
    _meters(points, measures)


def _packages(points: Points) -> dict[str, Floats]:
    """Return the power of all packages by interface, the preferred one first."""
    by_power: dict[str, list[Floats]] = {}
    for power in points.zone("package"):
        by_power.setdefault(power.source.power, []).append(power.watts)
    ordered = sorted(
        by_power,
        key=lambda name: (
            _PREFERRED.index(name) if name in _PREFERRED else len(_PREFERRED)
        ),
    )
    return {name: np.sum(by_power[name], axis=0) for name in ordered}


def _total(powers: tuple[Power, ...], spec: HardwareSpec) -> Floats | None:
    """Return the sum over memory zones, if all populated sockets have one."""
    zones = [power.watts for power in powers if power.source.index is not None]
    if not zones or len(zones) < spec.cpu.sockets.populated:
        return None
    total: Floats = np.sum(zones, axis=0)
    return total


def _inside_packages(points: Points, measures: Measures) -> None:
    """Compare zones of one package with it."""
    packages = {
        power.source.index: power.watts
        for power in points.zone("package")
        if power.source.power == "rapl-sysfs"
    }
    for power in points.zone("core", "uncore", "dram"):
        package = packages.get(power.source.index)
        if package is None or power.source.power != "rapl-sysfs":
            continue
        ratios, name = _ratio(power.watts, package), power.source.column
        if power.source.zone == "dram":
            measures.add("dram_over_package", median(ratios, points.busy), name)
        else:
            measures.add("core_over_package", _highest(ratios[points.accepted]), name)


def _against_packages(
    points: Points, packages: Floats, dram: Floats | None, measures: Measures
) -> None:
    parts = packages if dram is None else packages + dram
    for power in points.zone("psys"):
        ratios = _ratio(power.watts, parts)[points.accepted]
        lowest = -_highest(-ratios) if np.isfinite(ratios).any() else None
        measures.add("psys_over_parts", lowest, power.source.column)
    for power in points.zone("cpu"):
        ratio = median(_ratio(power.watts, packages), points.accepted)
        measures.add("sensor_over_package", ratio, power.source.column)


def _gpu_watts(points: Points) -> dict[int, list[Power]]:
    found: dict[int, list[Power]] = {}
    for power in points.zone("gpu"):
        if power.source.index is not None:
            found.setdefault(power.source.index, []).append(power)
    return found


def _gpus(points: Points, measures: Measures) -> None:
    """Compare a GPU's power readings with its energy counter."""
    for index, powers in _gpu_watts(points).items():
        energy = next((p.watts for p in powers if p.source.counter), None)
        for power in powers:
            if energy is not None and not power.source.counter:
                ratio = median(_ratio(power.watts, energy), points.accepted)
                measures.add(
                    "gpu_ratio", ratio, f"{power.source.column} over gpu_{index} energy"
                )


def _parts(points: Points, packages: Floats, dram: Floats | None) -> Floats:
    """Return what processors, memory and GPUs drew together; psys is never summed."""
    total = packages if dram is None else packages + dram
    for powers in _gpu_watts(points).values():
        best = next((p for p in powers if p.source.counter), powers[0])
        total = total + np.nan_to_num(best.watts)
    return total


def _nodes(
    points: Points, parts: Floats, spec: HardwareSpec, measures: Measures
) -> None:
    """Compare node meters with the sum of the parts, in level and in rise."""
    blind = spec.gpu_count > 0 and not points.zone("gpu")
    rest = mean(parts, points.at_rest)
    for power in points.zone("platform", "chassis"):
        name = power.source.column
        both = points.accepted & np.isfinite(power.watts) & np.isfinite(parts)
        measures.add("node_over_parts", median(_ratio(power.watts, parts), both), name)
        measures.add("follows_parts", correlation(power.watts, parts, both), name)
        idle = mean(power.watts, points.at_rest & both)
        loaded = np.flatnonzero(both & points.busy)
        if blind or rest is None or idle is None or not len(loaded):
            continue
        top = loaded[np.argmax(parts[loaded])]
        rise = float(parts[top]) - rest
        if rise >= _SMALLEST_RISE:
            measures.add("node_slope", (float(power.watts[top]) - idle) / rise, name)


def _meters(points: Points, measures: Measures) -> None:
    """Compare all meters of the whole node, the sum of supply inputs among them."""
    meters = {p.source.column: p.watts for p in points.zone("platform", "chassis")}
    inputs = [
        p.watts
        for p in points.zone("supply")
        if p.source.column.endswith("_input_watts")
    ]
    if inputs:
        meters["supply inputs"] = np.sum(inputs, axis=0)
    for (name, one), (other, two) in combinations(meters.items(), 2):
        ratio = median(_ratio(one, two), points.accepted)
        measures.add("meters_ratio", ratio, f"{name} over {other}")


def _supplies(points: Points, measures: Measures) -> None:
    found = {power.source.column: power.watts for power in points.zone("supply")}
    for name, output in found.items():
        fed = found.get(name.replace("_output_", "_input_"))
        if "_output_" in name and fed is not None:
            ratios = _ratio(output, fed)[points.accepted]
            measures.add("supply_efficiency", _highest(ratios), name)


def _ratio(one: Floats, other: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(other > 0, one / other, np.nan)


def _highest(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(known.max()) if len(known) else float("nan")
