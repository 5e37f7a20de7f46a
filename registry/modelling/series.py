"""From samples to intervals: rates over each interval's own length, gaps left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from registry.documents.spec import RAPL_RANGE_JOULES
from registry.modelling.energy import counter_rate, zone_watts
from registry.modelling.table import Codes, Floats
from registry.modelling.targets import Quantity

_GAP: Final = 5.0
"""An interval longer than so many usual ones is a gap in the recording."""
_SPARSE: Final = 0.2
"""A counter present in a smaller share of the samples does not set the intervals."""
NO_RUN: Final = -1


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Where intervals end, out of n samples.

    Attributes:
        ends: Number of the sample that ends each interval, shape (m,).
        starts: Number of the sample that begins it, shape (m,); the same as the end
            where there are no counters, and each sample stands for itself.
        seconds: Time at the end of each interval in s, shape (m,).
        run: Run of the interval, `NO_RUN` between runs, shape (m,).
    """

    ends: Codes
    starts: Codes
    seconds: Floats
    run: Codes


def values(samples: pl.DataFrame, name: str) -> Floats:
    """Give a column as floats, shape (n,), NaN where it is empty."""
    column = samples[name].cast(pl.Float64)
    return column.fill_null(float("nan")).to_numpy().astype(np.float64)


def intervals(samples: pl.DataFrame, quantities: Sequence[Quantity]) -> Intervals:
    """Find the intervals over which every counter of the quantities is known.

    A sample in which some counter is missing ends no interval: the next one is longer
    instead, for all columns alike. Intervals over gaps are left out.
    """
    time = values(samples, "time_seconds")
    run = samples["run"].cast(pl.Int64).fill_null(NO_RUN).to_numpy().astype(np.int64)
    known = np.ones(len(time), dtype=np.bool_)
    counters = {
        entry.name
        for quantity in quantities
        for entry in quantity.columns
        if entry.kind == "counter"
    }
    for name in sorted(counters):
        present = ~np.isnan(values(samples, name))
        if present.mean() >= _SPARSE:
            known &= present
    rows = np.flatnonzero(known).astype(np.int64)
    if not counters:
        return Intervals(rows, rows, time[rows], run[rows])
    starts, ends = rows[:-1], rows[1:]
    length = time[ends] - time[starts]
    if len(length):
        kept = length <= _GAP * float(np.median(length))
        starts, ends = starts[kept], ends[kept]
    within = np.where(run[starts] == run[ends], run[ends], NO_RUN)
    return Intervals(ends, starts, time[ends], within)


def per_second(
    samples: pl.DataFrame,
    quantity: Quantity,
    where: Intervals,
    ranges: Mapping[str, float],
) -> Floats:
    """Give a quantity's mean over each interval, summed over its columns.

    Args:
        samples: The table of n samples.
        quantity: Columns to add up.
        where: m intervals.
        ranges: Joules at which a zone's counter starts again, by zone
            (``package_0``), where the spec knows.

    Returns:
        Watts or features per second in the unit of the catalogue's scale, shape (m,);
        NaN where one of the columns is unknown.
    """
    total = np.zeros(len(where.ends))
    for entry in quantity.columns:
        raw = values(samples, entry.name)
        if entry.kind != "counter":
            total += _mean(raw, where) * entry.scale
            continue
        rows = np.union1d(where.starts, where.ends)
        time = values(samples, "time_seconds")[rows]
        if entry.unit == "joules":
            zone = entry.name.removesuffix("_joules_total").removeprefix("rapl_")
            modulus = ranges.get(zone, RAPL_RANGE_JOULES)
            if not entry.name.startswith("rapl_"):
                modulus = float("inf")
            rate = zone_watts(raw[rows], time, modulus)
        else:
            rate = counter_rate(raw[rows], time)
        total += rate[np.searchsorted(rows, where.ends)] * entry.scale
    return total


def _mean(raw: Floats, where: Intervals) -> Floats:
    """Average the readings inside each interval; NaN where there is none."""
    if np.array_equal(where.starts, where.ends):
        return raw[where.ends]
    result = raw[where.ends].copy()
    for at in np.flatnonzero(where.ends - where.starts > 1):
        inside: NDArray[np.float64] = raw[where.starts[at] + 1 : where.ends[at] + 1]
        seen = inside[~np.isnan(inside)]
        result[at] = seen.mean() if len(seen) else np.nan
    return result
