"""Sketches tell copies from other tables."""

from __future__ import annotations

import random

import polars as pl

from registry.documents.sketch import overlap, sketch


def table(seed: int, rows: int = 500) -> pl.DataFrame:
    chance = random.Random(seed)
    return pl.DataFrame(
        {
            "time_seconds": [float(second) for second in range(rows)],
            "run": [second // 10 for second in range(rows)],
            "acpi_watts": [round(chance.uniform(100, 400), 3) for _ in range(rows)],
            "cpu_cycles_total": [
                None if second % 50 == 0 else float(chance.randrange(10**12))
                for second in range(rows)
            ],
        }
    )


def test_a_sketch_is_short_sorted_and_distinct() -> None:
    digests = sketch(table(1))
    assert len(digests) == 64
    assert list(digests) == sorted(set(digests))
    assert all(len(digest) == 16 for digest in digests)
    assert sketch(table(1)) == digests


def test_order_time_and_runs_do_not_matter() -> None:
    frame = table(1)
    copy = frame.sample(fraction=1, shuffle=True, seed=3).with_columns(
        time_seconds=pl.col("time_seconds") + 7, run=pl.lit(0)
    )
    assert sketch(copy.select(reversed(copy.columns))) == sketch(frame)


def test_overlap_estimates_common_rows() -> None:
    first, second = table(1), table(2)
    assert overlap(sketch(first), sketch(first)) == 1.0
    assert overlap(sketch(first), sketch(second)) == 0.0
    mixed = pl.concat([first.head(400), second.head(100)])
    share = overlap(sketch(first), sketch(mixed))
    assert 0.45 < share < 0.9  # 400 of 600 distinct rows are common
    assert overlap((), sketch(first)) == 0.0


def test_small_tables_are_whole() -> None:
    rows = table(1, rows=5)
    assert len(sketch(rows)) == 5
    assert sketch(pl.concat([rows, rows])) == sketch(rows)
    assert overlap(sketch(rows), sketch(rows.head(4))) == 0.8
    assert sketch(rows.select("time_seconds", "run")) == ()


def test_zero_and_negative_zero_are_one_value() -> None:
    zero = pl.DataFrame({"run": [1], "inlet_celsius": [0.0]})
    assert sketch(zero) == sketch(zero.with_columns(inlet_celsius=-pl.lit(0.0)))
