"""A sketch of a table: a few row digests that tell near copies without the rows."""

from __future__ import annotations

import hashlib
import heapq
from typing import TYPE_CHECKING, Final

import numpy as np

from registry.documents import limits

if TYPE_CHECKING:
    import polars as pl

__all__ = ["overlap", "sketch"]

_HEX: Final = 16
_LEFT_OUT: Final = frozenset({"run", "time_seconds"})


def sketch(frame: pl.DataFrame) -> tuple[str, ...]:
    """Return the 64 smallest distinct row digests of samples.csv or levels.csv, sorted.

    A row is the little-endian doubles of its numbers in the order of the columns'
    names, without time and run, so that shifting the clock or numbering runs anew does
    not hide a copy; missing values are one fixed NaN. Its digest is the first 16
    hexadecimal digits of the SHA-256. Since digests are uniform, the smallest ones of
    two tables meet in the share that their rows have in common.

    Args:
        frame: A frame as ``read_table`` returns it.

    """
    names = sorted(set(frame.columns) - _LEFT_OUT)
    if not names:
        return ()
    numbers = np.full((frame.height, len(names)), np.nan, dtype="<f8")
    for place, name in enumerate(names):
        column = frame[name].cast(float).fill_null(float("nan")).to_numpy()
        numbers[:, place] = np.where(np.isnan(column), np.nan, column + 0.0)
    distinct = {row.tobytes() for row in numbers}
    digests = {hashlib.sha256(row).hexdigest()[:_HEX] for row in distinct}
    return tuple(heapq.nsmallest(limits.SKETCH, digests))


def overlap(first: tuple[str, ...], second: tuple[str, ...]) -> float:
    """Estimate the share (0 to 1) of distinct rows that two tables have in common.

    The share is of the rows of both tables together (Jaccard), by bottom-k sampling.
    """
    if not first or not second:
        return 0.0
    both = sorted({*first, *second})[: min(limits.SKETCH, max(len(first), len(second)))]
    common = set(first) & set(second)
    return sum(digest in common for digest in both) / len(both)
