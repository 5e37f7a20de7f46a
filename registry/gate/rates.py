"""Extremes of a table's columns, and the fastest sustained rate of a counter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["fastest", "highest", "lowest"]

_WINDOW: Final = 5.0
"""Seconds; over shorter times a counter's ticks and the clock's jitter dominate."""


def highest(frame: pl.DataFrame, name: str) -> float | None:
    """Return the largest value of a column, or None without column or values."""
    return _extreme(frame, name, pl.Series.max)


def lowest(frame: pl.DataFrame, name: str) -> float | None:
    """Return the smallest value of a column, or None without column or values."""
    return _extreme(frame, name, pl.Series.min)


def fastest(frame: pl.DataFrame, stem: str) -> float | None:
    """Return the highest rate (per second) of a counter or of its derived gauge.

    A counter's rate is taken over windows of at least five seconds, or over the whole
    table if that is shorter.

    Args:
        frame: samples.csv or levels.csv.
        stem: The counter's name without ``_total``.

    """
    rate = highest(frame, f"{stem}_per_second")
    counter = f"{stem}_total"
    if counter not in frame.columns or "time_seconds" not in frame.columns:
        return rate
    known = frame.select("time_seconds", pl.col(counter).cast(float)).drop_nulls()
    if known.height < 2:
        return rate
    first = pl.col("time_seconds").first()
    span = known["time_seconds"][-1] - known["time_seconds"][0]
    window = max(min(_WINDOW, span), 1e-9)
    ends = known.group_by(
        ((pl.col("time_seconds") - first) / window).floor().alias("window"),
        maintain_order=True,
    ).first()
    last = known.tail(1)
    steps = pl.concat([ends.drop("window"), last]).unique(
        "time_seconds", maintain_order=True
    )
    rates = steps.select(
        (pl.col(counter).diff() / pl.col("time_seconds").diff()).alias("rate"),
        pl.col("time_seconds").diff().alias("seconds"),
    ).filter(pl.col("seconds") >= window * 0.5)
    found = highest(rates, "rate")
    return max((value for value in (rate, found) if value is not None), default=None)


def _extreme(
    frame: pl.DataFrame, name: str, take: Callable[[pl.Series], object]
) -> float | None:
    if name not in frame.columns:
        return None
    value = take(frame[name])
    return float(value) if isinstance(value, int | float) else None
