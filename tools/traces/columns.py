"""Columns of numbers for millions of events, in 12 to 24 bytes each.

    table = Table("i", "q")
    table.add(tracks, names, times)
    for first, last in batches([table], 262_144):
        tracks, names, times = table.rows(first, last)

Rows are kept in chunks that are ordered by track, so that all rows of a range of tracks
are a contiguous part of each chunk: no index is needed, and little is copied at once.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

__all__ = ["CHUNK_ROWS", "Numbers", "Table", "batches"]

Numbers = npt.NDArray[Any]
"""One column."""

CHUNK_ROWS: Final = 1 << 17
"""How many rows are gathered before they are ordered by track."""


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Rows ordered by track; those of `tracks[i]` are `bounds[i]:bounds[i + 1]`."""

    tracks: Numbers
    bounds: Numbers
    columns: tuple[Numbers, ...]


class Table:
    """Rows of some track; rows of one track keep the order in which they were added."""

    def __init__(self, *codes: str) -> None:
        """Make an empty table.

        Args:
            codes: the type of each column, as the `array` module names it.
        """
        self.codes = codes
        self._chunks: list[_Chunk] = []
        self._new: list[array[Any]] = [array("q"), *(array(code) for code in codes)]

    def add(
        self, tracks: Sequence[int] | Numbers, *columns: Sequence[Any] | Numbers
    ) -> None:
        """Add rows.

        Args:
            tracks: the track of each row, an integer of 64 bits.
            columns: the other columns, each as long.
        """
        for new, values in zip(self._new, (tracks, *columns), strict=True):
            if isinstance(values, np.ndarray):
                new.frombytes(values.astype(new.typecode, copy=False).tobytes())
            else:
                new.extend(values)
        if len(self._new[0]) >= CHUNK_ROWS:
            self._seal()

    def rows(self, first: int, last: int) -> tuple[Numbers, ...]:
        """The rows of a range of tracks, both ends included.

        Returns:
            The tracks and all columns. They are not ordered by track as a whole.
        """
        self._seal()
        parts: list[tuple[Numbers, ...]] = []
        for chunk in self._chunks:
            low = int(np.searchsorted(chunk.tracks, first, "left"))
            high = int(np.searchsorted(chunk.tracks, last, "right"))
            if low < high:
                of = slice(chunk.bounds[low], chunk.bounds[high])
                lengths = np.diff(chunk.bounds[low : high + 1])
                tracks = np.repeat(chunk.tracks[low:high], lengths)
                parts.append((tracks, *(column[of] for column in chunk.columns)))
        if not parts:
            return tuple(np.empty(0, code) for code in ("q", *self.codes))
        return tuple(np.concatenate(column) for column in zip(*parts, strict=True))

    def counts(self) -> tuple[Numbers, Numbers]:
        """All tracks in order, and how many rows each has."""
        self._seal()
        tracks = [chunk.tracks for chunk in self._chunks]
        lengths = [np.diff(chunk.bounds) for chunk in self._chunks]
        return _summed(tracks, lengths)

    def _seal(self) -> None:
        tracks, *columns = (np.frombuffer(one, one.typecode) for one in self._new)
        if not len(tracks):
            return
        order = np.argsort(tracks, kind="stable")
        found, bounds = np.unique(tracks[order], return_index=True)
        bounds = np.append(bounds, len(tracks))
        kept = tuple(column[order] for column in columns)
        self._chunks.append(_Chunk(found, bounds, kept))
        self._new = [array(one.typecode) for one in self._new]


def batches(tables: Sequence[Table], rows: int) -> Iterator[tuple[int, int]]:
    """Ranges of tracks that together hold all rows of some tables.

    Args:
        tables: tables of the same tracks.
        rows: how many rows a range has at most, unless a single track has more.

    Yields:
        The first and the last track of each range, in order.
    """
    counted = [table.counts() for table in tables]
    tracks, lengths = _summed([one[0] for one in counted], [one[1] for one in counted])
    ends = np.cumsum(lengths)
    low = done = 0
    while low < len(tracks):
        high = max(int(np.searchsorted(ends, done + rows, "right")), low + 1)
        yield int(tracks[low]), int(tracks[high - 1])
        done = int(ends[high - 1])
        low = high


def _summed(tracks: list[Numbers], lengths: list[Numbers]) -> tuple[Numbers, Numbers]:
    if not tracks:
        return np.empty(0, "q"), np.empty(0, "q")
    found, which = np.unique(np.concatenate(tracks), return_inverse=True)
    total = np.zeros(len(found), "q")
    np.add.at(total, which, np.concatenate(lengths))
    return found, total
