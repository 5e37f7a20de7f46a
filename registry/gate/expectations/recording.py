"""Measures of a timeseries bundle: samples.csv against its plan in runs.csv."""

from __future__ import annotations

from itertools import combinations, islice
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from registry.documents.columns import column
from registry.gate.expectations.measure import Measures
from registry.gate.expectations.plans import (
    measure_frequencies,
    measure_loads,
    measure_runs,
    measure_targets,
)
from registry.gate.expectations.points import Points, Power, plan_of
from registry.gate.expectations.series import (
    MOST_WATTS,
    Clock,
    Series,
    clock_of,
    counter_series,
    gauge_series,
)
from registry.gate.expectations.sources import WHOLE_ZONES, Source, modulus, sources_of

if TYPE_CHECKING:
    from registry.documents.bundle import Bundle
    from registry.documents.spec import HardwareSpec
    from registry.gate.expectations.series import Floats

__all__ = ["ACTIVITIES", "measure_recording"]

ACTIVITIES: Final = (
    "cpu_cycles",
    "bpf_cpu_seconds",
    "cpu_seconds",
    "cpu_reference_cycles",
)
"""Columns, less their ending, that say how busy all processors were."""

_SENTINELS: Final = (
    4294967295000.0,
    4294967295.0,
    4294967.295,
    4294.967295,
    65535.0,
    65534.0,
    6553.5,
)
"""Marks of failure seen as watts: 0xFFFFFFFF milliwatts under every wrong scale
(kepler#1049, lm-sensors#460) and 0xFFFF, 0xFFFE of 16-bit sensor registers."""
_NEVER_ZERO: Final = frozenset({"package", "dram", "platform", "chassis", "cpu"})
_SHORTEST_STEP: Final = 0.05
"""Seconds; within a shorter step an energy counter may not have moved yet."""
_SAME_JOULES: Final = 1e-6
_SAME_SHARE: Final = 1e-3
_ENOUGH: Final = 20
"""Steps below which repetition says nothing."""
_MOST_PAIRS: Final = 64


def measure_recording(bundle: Bundle) -> tuple[Measures, Points]:
    """Take every measure of a recording that needs the samples themselves."""
    samples, table = bundle.tables["samples"], bundle.tables["runs"]
    measures, plan = Measures(), plan_of(table)
    clock = clock_of(samples, plan.runs)
    measure_runs(plan, table, samples, measures)
    measure_targets(plan, measures)
    measure_loads(plan, measures)
    _sampling(plan, table, clock, measures)
    _counters(samples, bundle, measures)
    series = {
        source: _series(samples, source, clock, bundle.spec)
        for source in sources_of(samples, "samples")
    }
    for source, values in series.items():
        _readings(source, values, bundle.spec, measures)
    _lockstep(series, measures)
    activity = _activity(samples, clock)
    measures.add("activity_columns", len(activity))
    recorded = _mean_gauge(samples, "cpu_frequency_hertz", clock)
    measure_frequencies(plan, table, recorded, measures)
    nodes = bundle.spec.nodes.count
    powers = tuple(
        Power(source, values.means() / (nodes if source.zone == "chassis" else 1))
        for source, values in series.items()
    )
    return measures, plan.measured(activity, powers)


def _sampling(
    plan: Points, table: pl.DataFrame, clock: Clock, measures: Measures
) -> None:
    """Measure how many samples each accepted run has, and whether any are missing."""
    inside = clock.place >= 0
    place, seconds = clock.place[inside], clock.seconds[inside]
    count = np.bincount(place, minlength=clock.runs)
    first, last = np.full(clock.runs, np.inf), np.full(clock.runs, -np.inf)
    np.minimum.at(first, place, seconds)
    np.maximum.at(last, place, seconds)
    span = np.where(count > 0, last - first, 0.0)
    accepted = plan.accepted
    measures.add_runs("samples_per_run", plan.runs[accepted], count[accepted])
    measures.add_runs("seconds_per_run", plan.runs[accepted], span[accepted])
    steps = np.diff(clock.seconds)[clock.place[1:] == clock.place[:-1]]
    period = float(np.median(steps)) if len(steps) else 0.0
    timed = accepted & (span > 0)
    if period > 0 and timed.any():
        expected = float((span[timed] / period + 1).sum())
        measures.add("sampling_share", float(count[timed].sum()) / expected)
    few = table.head(len(plan.runs))
    if {"start_seconds", "end_seconds"} <= set(few.columns):
        begin, end = (
            few[name].cast(float).fill_null(float("nan")).to_numpy()
            for name in ("start_seconds", "end_seconds")
        )
        outside = np.fmax(np.fmax(begin - first, last - end), 0.0)
        known = accepted & (count > 0) & np.isfinite(begin) & np.isfinite(end)
        measures.add_runs("seconds_outside_run", plan.runs[known], outside[known])


def _counters(samples: pl.DataFrame, bundle: Bundle, measures: Measures) -> None:
    """Measure raw counters: that there are some, and that none goes back."""
    names = [
        name
        for name in samples.columns
        if (entry := column(name, "samples")) is not None and entry.kind == "counter"
    ]
    powers = {source.column for source in sources_of(samples, "samples")}
    if bundle.manifest.derived is None:
        measures.add("counters", len(names))
    else:
        measures.add("source_named", int(bundle.manifest.source is not None))
    plain = [name for name in names if name not in powers]
    if plain:
        falls = samples.select(
            (pl.col(name).drop_nulls().diff() < 0).sum() for name in plain
        ).row(0)
        for name, count in zip(plain, falls, strict=True):
            measures.add("resets", count, name)


def _series(
    samples: pl.DataFrame, source: Source, clock: Clock, spec: HardwareSpec
) -> Series:
    values = samples[source.column]
    if not source.counter:
        return gauge_series(values, clock)
    highest = values.max()
    top = float(highest) if isinstance(highest, int | float) else 0.0
    most = 2.0 * spec.cpu.tdp_watts if spec.cpu.tdp_watts else MOST_WATTS
    return counter_series(values, clock, modulus(source, spec, top), max(most, 500.0))


def _readings(
    source: Source, series: Series, spec: HardwareSpec, measures: Measures
) -> None:
    """Measure what is odd about the readings of one source."""
    name, values = source.column, series.values[np.isfinite(series.values)]
    if source.counter:
        measures.add("resets", series.resets, name)
        turn = modulus(source, spec, series.highest)
        if turn is not None and len(series.steps):
            inside = series.steps[series.place >= 0]
            known = inside[np.isfinite(inside)]
            if len(known):
                measures.add("turn_share", float(known.max()) / turn, name)
            measures.add("beyond_range", series.highest / turn, name)
        measures.add("identical_share", _identical(series), name)
    else:
        marks = np.isclose(values[:, None], _SENTINELS, rtol=1e-9, atol=0).any(axis=1)
        measures.add("sentinels", int(marks.sum()), name)
        if source.zone in WHOLE_ZONES:
            measures.add("resolution_steps", _resolution(values), name)
    long_enough = np.isfinite(series.values) & (series.seconds >= _SHORTEST_STEP)
    zero = series.values[long_enough] == 0
    if len(zero):
        share = float(zero.mean())
        always = source.zone in _NEVER_ZERO
        measures.add("zero_share", share if always else float(share == 1.0), name)


def _identical(series: Series) -> float | None:
    """Return the share of steps inside runs that equal the step before them."""
    inside = (series.place >= 0) & np.isfinite(series.steps) & (series.steps > 0)
    steps = series.steps[inside]
    if len(steps) <= _ENOUGH:
        return None
    return float((np.abs(np.diff(steps)) <= _SAME_JOULES).mean())


def _resolution(values: Floats) -> float | None:
    """Return how many of its smallest steps a gauge's range spans."""
    distinct = np.unique(np.round(values, 6))
    if len(distinct) < 2:
        return None
    return float(np.ptp(distinct) / np.diff(distinct).min())


def _lockstep(series: dict[Source, Series], measures: Measures) -> None:
    """Measure whether two packages are one counter under two names."""
    packages = [s for s in series if s.zone == "package" and s.counter]
    for one, other in islice(combinations(packages, 2), _MOST_PAIRS):
        left, right = series[one].steps, series[other].steps
        if len(left) != len(right) or one.power != other.power:
            continue
        moved = np.isfinite(left) & np.isfinite(right) & (left > 0)
        if moved.sum() > _ENOUGH:
            close = np.abs(left[moved] - right[moved]) <= _SAME_SHARE * left[moved]
            measures.add(
                "lockstep", float(close.mean()), f"{one.column} and {other.column}"
            )


def _activity(samples: pl.DataFrame, clock: Clock) -> dict[str, Floats]:
    found: dict[str, Floats] = {}
    for stem in ACTIVITIES:
        counter, rate = f"{stem}_total", f"{stem}_per_second"
        if counter in samples.columns:
            found[counter] = counter_series(samples[counter], clock).means()
        elif rate in samples.columns:
            found[rate] = gauge_series(samples[rate], clock).means()
    return found


def _mean_gauge(samples: pl.DataFrame, name: str, clock: Clock) -> Floats | None:
    if name not in samples.columns:
        return None
    return gauge_series(samples[name], clock).means()
