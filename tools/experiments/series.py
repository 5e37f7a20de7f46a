"""Data behind plots: bars with intervals, heat maps, lines with bands."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from registry.documents.findings import RegistryError, Severity, code, finding, shown
from tools.experiments.comparison import Comparison
from tools.experiments.metrics import metric
from tools.experiments.record import Run

__all__ = [
    "Band",
    "Bars",
    "HeatMap",
    "band",
    "bars",
    "comparison_bars",
    "heat_map",
    "label_of",
]

NO_FIELD = code(
    "B070",
    Severity.ERROR,
    "Runs have no such field, or nothing of it can be plotted.",
    "Give workload, item, variant, init, iteration or repeat, or a condition such as"
    " concurrency; `powerkit bench list --json` shows what runs have.",
)

Key = str | float
"""A place on an axis: a number where all places are numbers."""
_FIELDS = (
    "workload",
    "item",
    "label",
    "variant",
    "init",
    "iteration",
    "repeat",
    "warm",
)


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars with intervals.

    Attributes:
        labels: A name each.
        values: Their heights.
        lows: Lower ends of the intervals; None where there is none.
        highs: Upper ends, likewise.
    """

    labels: tuple[str, ...]
    values: tuple[float, ...]
    lows: tuple[float | None, ...]
    highs: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class HeatMap:
    """The median of a metric over two conditions.

    Attributes:
        columns: Places on the x axis.
        rows: Places on the y axis.
        values: A row each, of a number for each column; None where nothing ran.
    """

    columns: tuple[Key, ...]
    rows: tuple[Key, ...]
    values: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Band:
    """A line with a band of one standard deviation around it, as TRIMS plots it.

    Attributes:
        places: Places on the x axis.
        means: The mean at each.
        deviations: The standard deviation at each; 0 of a single run.
        counts: How many runs each is of.
    """

    places: tuple[Key, ...]
    means: tuple[float, ...]
    deviations: tuple[float, ...]
    counts: tuple[int, ...]


def label_of(run: Run, field: str) -> str | int | float | bool | None:
    """Return a field of a run, or a condition, by its name."""
    if field == "label":
        return run.label
    if field in _FIELDS:
        value = getattr(run, field)
        return str(value) if field == "init" else value
    return run.parameters.get(field)


def _counted(runs: Iterable[Run]) -> list[Run]:
    return [run for run in runs if run.accepted and not run.warm_up]


def _keys(runs: Sequence[Run], field: str) -> list[Key | None]:
    """Return each run's place on an axis; numbers if all of them are."""
    said = [label_of(run, field) for run in runs]
    if all(one is None for one in said):
        what = f'no run that counts has "{shown(field)}"'
        raise RegistryError(finding(NO_FIELD, field, what))
    try:
        return [None if one is None else float(one) for one in said]
    except ValueError:
        return [None if one is None else str(one) for one in said]


def _grouped(
    runs: Sequence[Run], fields: Sequence[str], value: str
) -> dict[tuple[Key, ...], list[float]]:
    wanted = metric(value)
    places = zip(*(_keys(runs, field) for field in fields), strict=True)
    found: dict[tuple[Key, ...], list[float]] = {}
    for run, place in zip(runs, places, strict=True):
        number = wanted.of(run)
        if number is not None and None not in place:
            key = tuple(part for part in place if part is not None)
            found.setdefault(key, []).append(number)
    if not found:
        what = f'no run that counts has "{shown(value)}"'
        raise RegistryError(finding(NO_FIELD, value, what))
    return found


def _along(
    runs: Iterable[Run], x: str, value: str
) -> tuple[list[Key], list[list[float]]]:
    """The values of one condition in order, and the metric of the runs of each."""
    found = _grouped(_counted(runs), (x,), value)
    places = sorted(found)
    return [place for (place,) in places], [found[place] for place in places]


def heat_map(runs: Iterable[Run], x: str, y: str, value: str) -> HeatMap:
    """Return the median of a metric for each pair of conditions.

    Args:
        runs: those that do not count are left out.
        x: the condition of the columns.
        y: the condition of the rows.
        value: the metric.

    Raises:
        RegistryError: B070, no run has such a condition; B041, no such metric.
    """
    found = _grouped(_counted(runs), (x, y), value)
    columns = sorted({key[0] for key in found})
    rows = sorted({key[1] for key in found})
    cells = tuple(
        tuple(
            statistics.median(found[column, row]) if (column, row) in found else None
            for column in columns
        )
        for row in rows
    )
    return HeatMap(tuple(columns), tuple(rows), cells)


def band(runs: Iterable[Run], x: str, value: str) -> Band:
    """Return mean and standard deviation of a metric along a condition.

    Raises:
        RegistryError: B070, no run has such a condition; B041, no such metric.
    """
    places, groups = _along(runs, x, value)
    return Band(
        tuple(places),
        tuple(statistics.fmean(group) for group in groups),
        tuple(statistics.stdev(g) if len(g) > 1 else 0.0 for g in groups),
        tuple(len(group) for group in groups),
    )


def bars(runs: Iterable[Run], x: str, value: str) -> Bars:
    """Return the median of a metric for each value of a condition, with its quartiles.

    Raises:
        RegistryError: B070, no run has such a condition; B041, no such metric.
    """
    places, groups = _along(runs, x, value)
    return Bars(
        tuple(f"{place:g}" if isinstance(place, float) else place for place in places),
        tuple(statistics.median(group) for group in groups),
        tuple(_quartile(group, 0) for group in groups),
        tuple(_quartile(group, 2) for group in groups),
    )


def _quartile(group: Sequence[float], number: int) -> float | None:
    if len(group) < 2:
        return None
    return statistics.quantiles(group, n=4, method="inclusive")[number]


def comparison_bars(compared: Comparison) -> Bars:
    """Return the speed-up of every workload, and their geometric mean last."""
    every = [(row.workload, row.speedup) for row in compared.rows]
    if len(every) > 1:
        every.append(("geometric mean", compared.speedup))
    pick: Callable[[str], tuple[float | None, ...]] = lambda name: tuple(  # noqa: E731
        getattr(ratio, name) for _, ratio in every
    )
    return Bars(
        tuple(label for label, _ in every),
        tuple(ratio.value for _, ratio in every),
        pick("low"),
        pick("high"),
    )
