"""Readings of one column over time: steps of counters with wraps told from resets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl

    Floats = npt.NDArray[np.float64]
    Integers = npt.NDArray[np.int64]
    Mask = npt.NDArray[np.bool_]

__all__ = ["Clock", "Series", "clock_of", "counter_series", "gauge_series"]

MOST_WATTS: Final = 2000.0
"""No processor package draws more; a wrap that implies more is a reset."""


@dataclass(frozen=True, slots=True)
class Clock:
    """The rows of samples.csv: when they are, and in which run.

    Attributes:
        seconds: Time of every row.
        place: Position of every row's run in the list of runs, or -1 outside runs.
        runs: Number of runs.

    """

    seconds: Floats
    place: Integers
    runs: int


@dataclass(frozen=True, slots=True)
class Series:
    """Steps of a counter, or readings of a gauge, with the run that each belongs to.

    Attributes:
        values: Rate of each step (per second) or reading; NaN after a reset.
        steps: Increase of each step of a counter, wraps undone; a gauge's readings.
        seconds: Length of each step; 1 for readings.
        place: Position of the run that the whole step lies in, or -1.
        resets: Decreases that no wrap explains.
        wraps: Decreases that a wrap explains.
        highest: Largest raw value; NaN without any.

    """

    values: Floats
    steps: Floats
    seconds: Floats
    place: Integers
    resets: int
    wraps: int
    highest: float
    runs: int

    def means(self) -> Floats:
        """Return the mean rate or reading of every run, NaN where there is none."""
        good = (self.place >= 0) & np.isfinite(self.values)
        where = self.place[good]
        weights = self.seconds[good]
        totals = np.bincount(
            where, weights=self.values[good] * weights, minlength=self.runs
        )
        lengths = np.bincount(where, weights=weights, minlength=self.runs)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(lengths > 0, totals / lengths, np.nan)


def clock_of(samples: pl.DataFrame, runs: Integers) -> Clock:
    """Find every sample's run in the list of runs (each run listed once)."""
    seconds = samples["time_seconds"].cast(float).to_numpy()
    if "run" not in samples.columns:
        return Clock(seconds, np.full(len(seconds), -1, dtype=np.int64), len(runs))
    labels = samples["run"].fill_null(-1).to_numpy().astype(np.int64)
    order = np.argsort(runs, kind="stable")
    spots = np.searchsorted(runs[order], labels)
    inside = spots < len(runs)
    place = np.full(len(labels), -1, dtype=np.int64)
    found = order[spots[inside]]
    place[inside] = np.where(runs[found] == labels[inside], found, -1)
    return Clock(seconds, place, len(runs))


def gauge_series(column: pl.Series, clock: Clock) -> Series:
    """Return the readings of a gauge; rows without a reading are left out."""
    raw = _numbers(column)
    there = np.isfinite(raw)
    values = raw[there]
    return Series(
        values=values,
        steps=values,
        seconds=np.ones(len(values)),
        place=clock.place[there],
        resets=0,
        wraps=0,
        highest=float(values.max()) if len(values) else float("nan"),
        runs=clock.runs,
    )


def counter_series(
    column: pl.Series,
    clock: Clock,
    modulus: float | None = None,
    most: float = MOST_WATTS,
) -> Series:
    """Return the steps of a counter between successive rows that have a value.

    Args:
        column: Raw values.
        clock: Times and runs of the rows.
        modulus: The value at which the counter wraps to 0, or None.
        most: The highest believable rate; a wrap that implies more is a reset.

    """
    raw = _numbers(column)
    there = np.isfinite(raw)
    values, times, place = raw[there], clock.seconds[there], clock.place[there]
    steps, seconds = np.diff(values), np.diff(times)
    same = np.where(place[1:] == place[:-1], place[1:], -1)
    fell = steps < 0
    wrapped = np.zeros(len(steps), dtype=np.bool_)
    if modulus is not None and fell.any():
        turned = steps + modulus
        wrapped = fell & (turned >= 0) & (turned <= most * seconds)
        steps = np.where(wrapped, turned, steps)
    lost = fell & ~wrapped
    with np.errstate(invalid="ignore", divide="ignore"):
        rates = np.where(lost | (seconds <= 0), np.nan, steps / seconds)
    return Series(
        values=rates,
        steps=np.where(lost, np.nan, steps),
        seconds=seconds,
        place=same,
        resets=int(lost.sum()),
        wraps=int(wrapped.sum()),
        highest=float(values.max()) if len(values) else float("nan"),
        runs=clock.runs,
    )


def _numbers(column: pl.Series) -> Floats:
    numbers: Floats = column.cast(float).fill_null(float("nan")).to_numpy()
    return numbers
