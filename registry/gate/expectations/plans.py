"""Measures of what ran: workloads, loads, frequencies, and which runs were accepted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from registry.documents import workloads

if TYPE_CHECKING:
    import polars as pl

    from registry.gate.expectations.measure import Measures
    from registry.gate.expectations.points import Points
    from registry.gate.expectations.series import Floats

__all__ = [
    "clusters",
    "measure_frequencies",
    "measure_loads",
    "measure_runs",
    "measure_targets",
]

_SAME_FREQUENCY: Final = 0.02
"""Achieved frequencies within 2 % are one step (measuring.md section 4)."""
_SAME_LOAD: Final = 0.02
"""Loads within two points are one level."""


def measure_runs(
    points: Points, table: pl.DataFrame, rows: pl.DataFrame, measures: Measures
) -> None:
    """Measure which runs there are.

    Args:
        points: The runs.
        table: runs.csv.
        rows: samples.csv or levels.csv.
        measures: Where measures are added.

    """
    measures.add("runs", table.height)
    measures.add("idle_runs", int(points.at_rest.sum()))
    if "rejected_because" in table.columns:
        reason = table["rejected_because"].is_not_null()
        measures.add(
            "unexplained_runs", int((reason == (table["accepted"] == 1)).sum())
        )
    else:
        measures.add("unexplained_runs", int((table["accepted"] == 0).sum()))
    labels = rows["run"].drop_nulls() if "run" in rows.columns else table["run"].head(0)
    unknown = ~labels.is_in(table["run"].to_list())
    measures.add("rows_of_unknown_runs", int(unknown.sum()))


def measure_targets(points: Points, measures: Measures) -> None:
    """Measure how often each target workload ran."""
    counts: dict[str, int] = {}
    for label, accepted in zip(points.workloads, points.accepted, strict=True):
        if accepted:
            counts[label] = counts.get(label, 0) + 1
    for kind in workloads.WORKLOADS.values():
        if kind.target:
            measures.add("target_workload_runs", counts.get(kind.id, 0), kind.id)


def measure_loads(points: Points, measures: Measures) -> None:
    """Measure which loads there are, and how well they were reached."""
    busy = points.busy
    asked = np.where(np.isfinite(points.target), points.target, points.achieved)
    levels = asked[busy & np.isfinite(asked)]
    measures.add("load_levels", clusters(levels, step=_SAME_LOAD))
    measures.add("lowest_load", float(levels.min()) if len(levels) else None)
    measures.add("highest_load", float(levels.max()) if len(levels) else None)
    missed = np.abs(points.achieved - points.target)
    known = busy & np.isfinite(missed)
    measures.add_runs("load_missed", points.runs[known], missed[known])


def measure_frequencies(
    points: Points, table: pl.DataFrame, recorded: Floats | None, measures: Measures
) -> None:
    """Measure which frequencies were reached.

    Args:
        points: The runs.
        table: runs.csv.
        recorded: Mean of cpu_frequency_hertz in every run, where runs.csv has none.
        measures: Where measures are added.

    """
    few = table.head(len(points.runs))
    achieved = np.full(len(points.runs), np.nan) if recorded is None else recorded
    if "frequency_achieved_hertz" in few.columns:
        column = few["frequency_achieved_hertz"].cast(float)
        stated = column.fill_null(float("nan")).to_numpy()
        achieved = np.where(np.isfinite(stated), stated, achieved)
    busy = points.busy & np.isfinite(achieved) & (achieved > 0)
    measures.add("frequencies", clusters(achieved[busy], share=_SAME_FREQUENCY))
    if "frequency_set_hertz" in few.columns:
        column = few["frequency_set_hertz"].cast(float)
        wanted = column.fill_null(float("nan")).to_numpy()
        known = busy & (np.nan_to_num(wanted) > 0)
        missed = np.abs(achieved[known] / wanted[known] - 1)
        measures.add_runs("frequency_missed", points.runs[known], missed)


def clusters(values: Floats, *, share: float = 0.0, step: float = 0.0) -> int:
    """Count distinct values; a value near the lowest of a group belongs to it.

    Args:
        values: Finite numbers in any order.
        share: How far above the lowest a group reaches, relative to it.
        step: The same, absolute.

    """
    count, edge = 0, -np.inf
    for value in np.sort(values):
        if value > edge:
            count += 1
            edge = value * (1 + share) + step
    return count
