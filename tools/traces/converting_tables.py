"""Writes the slices of a trace as a table: one row a slice, times in nanoseconds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import polars as pl
from polars.io.plugins import register_io_source

from tools.traces.slices import Batch
from tools.traces.timelines import Timeline

__all__ = ["COLUMNS", "write_csv", "write_parquet"]

COLUMNS: Final[dict[str, Any]] = {
    "pid": pl.String,
    "process": pl.String,
    "tid": pl.String,
    "thread": pl.String,
    "name": pl.String,
    "category": pl.String,
    "start_ns": pl.Int64,
    "duration_ns": pl.Int64,
    "self_ns": pl.Int64,
    "depth": pl.Int64,
    "asynchronous": pl.Boolean,
    "incomplete": pl.Boolean,
}
"""Columns of the table; pids and tids are texts, since traces have names there too."""
ROWS: Final = 1 << 17
_FORMULAS: Final = ("=", "+", "-", "@", "\t", "\r")


def write_csv(timeline: Timeline, out: Path, _: str) -> int:
    """Write a CSV, and return the number of its rows.

    Texts that a spreadsheet would run as a formula begin with an apostrophe.
    """
    count: list[int] = []
    safe = [_harmless(name) for name, kind in COLUMNS.items() if kind == pl.String]
    _frames(timeline, count).with_columns(safe).sink_csv(out)
    return sum(count)


def write_parquet(timeline: Timeline, out: Path, _: str) -> int:
    """Write a Parquet file, and return the number of its rows."""
    count: list[int] = []
    _frames(timeline, count).sink_parquet(out)
    return sum(count)


def _frames(timeline: Timeline, count: list[int]) -> pl.LazyFrame:
    """The table, of which only a part is held at a time."""

    def frames(*_: object) -> Iterator[pl.DataFrame]:
        for batch in timeline.slices.close():
            for first in range(0, len(batch.starts), ROWS):
                frame = _frame(timeline, batch, slice(first, first + ROWS))
                count.append(frame.height)
                yield frame

    return register_io_source(frames, schema=COLUMNS)


def _frame(timeline: Timeline, batch: Batch, rows: slice) -> pl.DataFrame:
    pairs = timeline.pairs
    of = [timeline.places.places[one] for one in batch.places[rows].tolist()]
    named = [timeline.names(place) for place in of]
    numbers = batch.pairs[rows].tolist()
    columns = {
        "pid": [str(pid) for pid, _ in of],
        "process": [process for process, _ in named],
        "tid": [str(tid) for _, tid in of],
        "thread": [thread for _, thread in named],
        "name": [pairs.names[pairs.name_of[one]] for one in numbers],
        "category": [pairs.categories[pairs.category_of[one]] for one in numbers],
        "start_ns": batch.starts[rows],
        "duration_ns": batch.durations[rows],
        "self_ns": batch.selves[rows],
        "depth": batch.depths[rows],
        "asynchronous": [batch.asynchronous] * len(of),
        "incomplete": batch.incomplete[rows],
    }
    return pl.DataFrame(columns, schema=COLUMNS)


def _harmless(name: str) -> pl.Expr:
    text = pl.col(name)
    runs = pl.any_horizontal(text.str.starts_with(one) for one in _FORMULAS)
    number = text.str.contains(r"^[+-]?[0-9.]+$")
    return pl.when(runs & ~number).then(pl.lit("'") + text).otherwise(text).alias(name)
