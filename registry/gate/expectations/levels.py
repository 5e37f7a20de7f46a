"""Measures of a load-levels bundle: mean power at idle and at each load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from registry.gate.expectations.measure import Measures
from registry.gate.expectations.plans import measure_loads, measure_runs
from registry.gate.expectations.points import Points, Power, plan_of
from registry.gate.expectations.recording import ACTIVITIES
from registry.gate.expectations.sources import WHOLE_ZONES, sources_of

if TYPE_CHECKING:
    import polars as pl

    from registry.documents.bundle import Bundle
    from registry.gate.expectations.series import Floats

__all__ = ["measure_levels"]

_SAME_LOAD: Final = 0.005


def measure_levels(bundle: Bundle) -> tuple[Measures, Points]:
    """Take every measure of load levels that needs the tables themselves."""
    levels, table = bundle.tables["levels"], bundle.tables["runs"]
    measures, plan = Measures(), plan_of(table)
    measure_runs(plan, table, levels, measures)
    measure_loads(plan, measures)
    rows = _Rows(levels, plan)
    counts = rows.counts[plan.accepted]
    measures.add_runs("rows_per_run", plan.runs[plan.accepted], counts)
    if bundle.manifest.derived is not None:
        measures.add("source_named", int(bundle.manifest.source is not None))
    nodes = bundle.spec.nodes.count
    powers = tuple(
        Power(source, rows.means(source.column, nodes if shared else 1))
        for source in sources_of(levels, "levels")
        for shared in [source.zone == "chassis"]
    )
    for power in powers:
        known = power.watts[plan.accepted & np.isfinite(power.watts)]
        if len(known):
            measures.add("zero_share", float((known == 0).mean()), power.source.column)
    activity = {
        name: rows.means(name)
        for stem in ACTIVITIES
        if (name := f"{stem}_per_second") in levels.columns
    }
    points = plan.measured(activity, powers)
    _falls(points, measures)
    _performance(points, table, measures)
    return measures, points


class _Rows:
    """Rows of levels.csv by the run that they belong to."""

    def __init__(self, levels: pl.DataFrame, plan: Points) -> None:
        self._levels = levels
        spots = {int(run): place for place, run in enumerate(plan.runs)}
        labels = levels["run"].fill_null(-1).to_list()
        self._place = np.array([spots.get(run, -1) for run in labels], dtype=np.int64)
        self._runs = len(plan.runs)
        self.counts = np.bincount(self._place[self._place >= 0], minlength=self._runs)

    def means(self, column: str, share: int = 1) -> Floats:
        """Return the mean of a column for every run, divided by ``share``."""
        values = self._levels[column].cast(float).fill_null(float("nan")).to_numpy()
        there = (self._place >= 0) & np.isfinite(values)
        totals = np.bincount(
            self._place[there], weights=values[there], minlength=self._runs
        )
        counts = np.bincount(self._place[there], minlength=self._runs)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(counts > 0, totals / counts / share, np.nan)


def _falls(points: Points, measures: Measures) -> None:
    """Measure by how much power falls where the load rises."""
    load = np.where(points.idle, 0.0, points.load)
    for power in points.zone(*WHOLE_ZONES):
        known = points.accepted & np.isfinite(power.watts) & np.isfinite(load)
        order = np.argsort(load[known], kind="stable")
        loads, watts = load[known][order], power.watts[known][order]
        if len(watts) < 2 or np.ptp(watts) == 0:
            continue
        rises = np.diff(watts)[np.diff(loads) > _SAME_LOAD]
        fall = max(0.0, -float(rises.min())) if len(rises) else None
        share = None if fall is None else fall / float(np.ptp(watts))
        measures.add("fall", share, power.source.column)


def _performance(points: Points, table: pl.DataFrame, measures: Measures) -> None:
    """Measure whether the benchmark's own figure goes with the load."""
    if "performance" not in table.columns:
        return
    column = table.head(len(points.runs))["performance"].cast(float)
    figures = column.fill_null(float("nan")).to_numpy()
    known = points.busy & np.isfinite(figures) & (np.nan_to_num(points.load) > 0)
    if not known.any():
        return
    load, figure, runs = points.load[known], figures[known], points.runs[known]
    top = int(np.argmax(load))
    if figure[top] > 0:
        shares = figure / figure[top] / (load / load[top])
        measures.add_runs("performance_per_load", runs, shares)
