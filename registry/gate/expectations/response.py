"""Measures of how power answers to load, and of what each source gives at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from registry.gate.expectations.sources import WHOLE_ZONES

if TYPE_CHECKING:
    from registry.documents.spec import HardwareSpec
    from registry.gate.expectations.measure import Measures
    from registry.gate.expectations.points import Points, Power
    from registry.gate.expectations.series import Floats, Mask

__all__ = [
    "correlation",
    "mean",
    "measure_levels_of_power",
    "measure_response",
    "median",
]

_ZONES: Final = {
    "package": "watts_package",
    "dram": "watts_dram",
    "psys": "watts_psys",
    "platform": "watts_platform",
    "chassis": "watts_platform",
    "gpu": "watts_gpu",
    "storage": "watts_storage",
    "supply": "watts_supply",
    "cpu": "watts_cpu",
    "other": "watts_other",
}
_FEWEST: Final = 5
"""Runs below which a correlation says nothing."""


def measure_levels_of_power(
    points: Points, spec: HardwareSpec, measures: Measures
) -> None:
    """Measure extremes of every source, against nameplates where the spec has them."""
    accepted = points.accepted
    for power in points.powers:
        watts = power.watts[accepted]
        known = watts[np.isfinite(watts)]
        name = power.source.column
        share = len(known) / len(watts) if len(watts) else None
        measures.add("runs_measured", share, name)
        zone = _ZONES.get(power.source.zone)
        if zone is None or not len(known):
            continue
        measures.add(zone, float(known.min()), f"{name} lowest")
        measures.add(zone, float(known.max()), f"{name} highest")
        if power.source.zone == "package" and spec.cpu.tdp_watts:
            measures.add("over_tdp", float(known.max()) / spec.cpu.tdp_watts, name)
        if power.source.zone in ("platform", "chassis"):
            peak = float(known.max())
            measures.add("peak_watts_per_core", peak / spec.cpu.cores, name)
            if spec.supply_watts:
                measures.add("over_supplies", peak / spec.supply_watts, name)


def measure_response(points: Points, measures: Measures) -> None:
    """Measure whether the sources of whole processors and nodes follow the load."""
    for power in points.zone(*WHOLE_ZONES):
        name = power.source.column
        rests = int(np.isfinite(power.watts[points.at_rest]).sum())
        measures.add("idle_measured", rests, name)
        idle = mean(power.watts, points.at_rest)
        busiest = power.watts[points.busy & np.isfinite(power.watts)]
        if idle is not None and idle > 0 and len(busiest):
            measures.add("response", float(busiest.max()) / idle - 1, name)
            upper = median(power.watts, _busier_half(points, power))
            if upper:
                measures.add("idle_over_busy", idle / upper, name)
        measures.add("follows_load", _following(points, power), name)


def _busier_half(points: Points, power: Power) -> Mask:
    """Return the busier half of the busy runs, by the first activity that is known."""
    there = points.busy & np.isfinite(power.watts)
    for activity in points.busyness():
        known = there & np.isfinite(activity)
        if known.any():
            return known & (activity >= np.median(activity[known]))
    return there


def _following(points: Points, power: Power) -> float | None:
    """Return the best correlation of power with any activity over accepted runs."""
    found = [
        value
        for activity in points.busyness()
        if (value := correlation(power.watts, activity, points.accepted)) is not None
    ]
    return max(found, default=None)


def correlation(first: Floats, second: Floats, where: Mask) -> float | None:
    """Return Pearson's r over the marked places; None if it cannot be told."""
    both = where & np.isfinite(first) & np.isfinite(second)
    left, right = first[both], second[both]
    if len(left) < _FEWEST or np.ptp(left) == 0 or np.ptp(right) == 0:
        return None
    left, right = left - left.mean(), right - right.mean()
    scale = float(np.sqrt((left @ left) * (right @ right)))
    return float(left @ right) / scale if scale > 0 else None


def mean(values: Floats, where: Mask) -> float | None:
    """Return the mean of the known values at the marked places, or None."""
    known = values[where & np.isfinite(values)]
    return float(known.mean()) if len(known) else None


def median(values: Floats, where: Mask) -> float | None:
    """Return the median of the known values at the marked places, or None."""
    known = values[where & np.isfinite(values)]
    return float(np.median(known)) if len(known) else None
