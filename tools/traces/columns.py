"""Columns of numbers for millions of events, in about ten bytes each.

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

__all__ = ["CHUNK_ROWS", "Numbers", "Packed", "Table", "batches"]

Numbers = npt.NDArray[Any]
"""One column."""

CHUNK_ROWS: Final = 1 << 17
"""How many rows are gathered before they are ordered by track."""
DROPPED: Final = 8
"""Rows are let go of when they are more than this part of all, since others move."""
NARROW: Final = ("u1", "u2", "u4", "u8")


@dataclass(frozen=True, slots=True)
class Packed:
    """Integers as their differences from the least of them, as narrow as they can be.

    Times of one chunk are close to each other and names are few: this halves what large
    traces take.

    Attributes:
        code: the type of the column, as the `array` module names it.
        least: what is added to each.
        values: the differences.

    """

    code: str
    least: int
    values: Numbers

    @classmethod
    def of(cls, column: Numbers) -> Packed:
        """Pack a column; floats are kept as they are."""
        code = column.dtype.char
        if column.dtype.kind == "f" or not len(column):
            return cls(code, 0, column)
        least, most = int(column.min()), int(column.max())
        narrow = next(one for one in NARROW if most - least <= np.iinfo(one).max)
        # Differences beyond 2**63 wrap around here, and back again when added.
        return cls(code, least, (column.astype("q") - least).astype(narrow))

    def most(self) -> int:
        """The greatest of these integers."""
        return self.least + int(self.values.max(initial=0))

    def __getitem__(self, rows: slice) -> Numbers:
        """Some rows, unpacked."""
        values = self.values[rows].astype(self.code)
        values += np.array(self.least).astype(self.code)
        return values


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Rows ordered by track; those of `tracks[i]` are `bounds[i]:bounds[i + 1]`."""

    tracks: Numbers
    bounds: Numbers
    columns: tuple[Packed, ...]


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

    def drop(self, last: int) -> None:
        """Let go of the rows of all tracks up to one, now or together with later ones.

        Args:
            last: the track; rows up to it must not be asked for again.
        """
        gone = [int(np.searchsorted(one.tracks, last, "right")) for one in self._chunks]
        pairs = list(zip(self._chunks, gone, strict=True))
        rows = sum(int(chunk.bounds[-1]) for chunk in self._chunks)
        if sum(int(chunk.bounds[count]) for chunk, count in pairs) * DROPPED > rows:
            self._chunks = [_behind(chunk, count) for chunk, count in pairs]

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
        kept = tuple(Packed.of(column[order]) for column in columns)
        self._chunks.append(_Chunk(found, bounds, kept))
        self._new = [array(one.typecode) for one in self._new]


def _behind(chunk: _Chunk, count: int) -> _Chunk:
    """A chunk without its first tracks."""
    at = int(chunk.bounds[count])
    return _Chunk(
        chunk.tracks[count:],
        chunk.bounds[count:] - at,
        tuple(
            Packed(one.code, one.least, one.values[at:].copy()) for one in chunk.columns
        ),
    )


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
