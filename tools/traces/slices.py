"""The slices of one file: complete events, begins with their ends, asynchronous ones.

    slices = Slices(pairs, places)
    for events in decoded(path, found, decode):
        slices.add_complete(...)
    for batch in slices.close():
        ...

Nothing is computed before the file is at its end, since events need not be in order.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from tools.traces.columns import Numbers, Table, batches
from tools.traces.matching import OPEN, match
from tools.traces.naming import Pairs, Places
from tools.traces.nesting import nest, parts
from tools.traces.times import LONGEST_US, nanoseconds
from tools.traces.typed import Event

__all__ = ["Batch", "Slices", "Troubles"]

BATCH_ROWS: Final = 1 << 17
"""How many slices of small threads are worked on at once."""
BEGINS: Final = np.isin(np.arange(128), [ord(phase) for phase in "BbS"])
"""Whether a phase, by its code, begins a slice."""
ROOM: Final = 1 << 62
"""Time lines of several threads are put one behind the other in so many nanoseconds."""


@dataclass(slots=True)
class Troubles:
    """What was odd about the slices of a file; all but the first three are in the sums.

    Attributes:
        without_time: events without a usable `ts`, left out.
        without_duration: complete events without a usable `dur`, left out.
        negative_duration: complete events that end before they begin, left out.
        unmatched_ends: ends where nothing was open.
        mismatched_ends: ends whose name nothing open had.
        interleaved_ends: ends that closed another slice than the innermost one.
        unclosed: begins without an end; they end with their thread.
        overlapping: slices that outlive the slice that they begin in.
        duplicates: slices that are equal to another one in everything but arguments.

    """

    without_time: int = 0
    without_duration: int = 0
    negative_duration: int = 0
    unmatched_ends: int = 0
    mismatched_ends: int = 0
    interleaved_ends: int = 0
    unclosed: int = 0
    overlapping: int = 0
    duplicates: int = 0


@dataclass(frozen=True, slots=True)
class Batch:
    """Slices of some threads, each thread's in the order of their starts.

    No other slice of these threads is open where a batch begins or ends.

    Attributes:
        asynchronous: whether they are of asynchronous events, which have no thread.
        places: the thread of each.
        pairs: name and category of each.
        starts: nanoseconds.
        durations: nanoseconds.
        selves: nanoseconds in which it was the innermost.
        parents: the row of the slice around it in this batch, or -1.
        depths: how many slices are around it.
        incomplete: whether its end is unknown.

    """

    asynchronous: bool
    places: Numbers
    pairs: Numbers
    starts: Numbers
    durations: Numbers
    selves: Numbers
    parents: Numbers
    depths: Numbers
    incomplete: Numbers


class Slices:
    """Gathers the events of one file that make slices."""

    def __init__(self, pairs: Pairs, places: Places) -> None:
        """Begin a file.

        Args:
            pairs: numbers names; may be of several files.
            places: numbers the threads of this file.
        """
        self.pairs = pairs
        self.places = places
        self.troubles = Troubles()
        self._complete = Table("i", "q", "q")  # pair, start, duration
        self._nested = Table("i", "q", "i")  # pair or ~pair, time, place
        self._async = Table("i", "q", "i")

    def add_complete(self, events: Sequence[Event]) -> None:
        """Add events of the phase X."""
        starts, timed = nanoseconds(array("d", [event.ts for event in events]))
        given = array("d", [event.dur for event in events])
        lengths, long = nanoseconds(given, LONGEST_US)
        places, pairs = self.places.of_process, self.pairs.of_category
        tracks = _column("q", [places[event.pid][event.tid] for event in events])
        names = _column("i", [pairs[event.cat][event.name] for event in events])
        good = timed & long & (lengths >= 0)
        if not good.all():
            self.troubles.without_time += int((~timed).sum())
            self.troubles.without_duration += int((timed & ~long).sum())
            self.troubles.negative_duration += int((timed & long & ~good).sum())
            tracks, names, starts, lengths = (
                column[good] for column in (tracks, names, starts, lengths)
            )
        self._complete.add(tracks, names, starts, lengths)

    def add_nested(self, events: Sequence[Event]) -> None:
        """Add events of the phases B and E, in the order of the file."""
        places = self.places.of_process
        where = _column("q", [places[event.pid][event.tid] for event in events])
        self._add(self._nested, events, where, where)

    def add_async(self, events: Sequence[Event], keys: Sequence[int]) -> None:
        """Add events of the phases b, e, S and F, in the order of the file.

        Args:
            events: the events.
            keys: what each belongs to, an integer of 64 bits.
        """
        places = self.places.of_process
        where = _column("q", [places[event.pid][event.tid] for event in events])
        self._add(self._async, events, np.array(keys, "q"), where)

    def _add(
        self, table: Table, events: Sequence[Event], tracks: Numbers, where: Numbers
    ) -> None:
        times, good = nanoseconds(array("d", [event.ts for event in events]))
        pairs = self.pairs.of_category
        named = _column("i", [pairs[event.cat][event.name] for event in events])
        phases = "".join([event.ph for event in events]).encode("ascii")
        names = np.where(BEGINS[np.frombuffer(phases, "u1")], named, ~named)
        if good.all():
            table.add(tracks, names, times, where)
            return
        self.troubles.without_time += int((~good).sum())
        table.add(tracks[good], names[good], times[good], where[good])

    def close(self) -> Iterator[Batch]:
        """Match, order and nest all slices; `troubles` is complete afterwards."""
        names = np.array(self.pairs.name_of, "i") - 1  # negative for no name
        nothing = Table("i", "q", "q")
        for complete, nested in (
            (self._complete, self._nested),
            (nothing, self._async),
        ):
            for first, last in batches([complete, nested], BATCH_ROWS):
                # All that a range takes is let go of at the end of its generator.
                yield from self._close(complete, nested, (first, last), names)

    def _close(
        self, complete: Table, nested: Table, of: tuple[int, int], names: Numbers
    ) -> Iterator[Batch]:
        rows = _slices(complete.rows(*of), nested.rows(*of), names, self.troubles)
        complete.drop(of[1])
        nested.drop(of[1])
        yield from _nested(rows, self.troubles, asynchronous=nested is self._async)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Slices before they are nested."""

    tracks: Numbers
    places: Numbers
    pairs: Numbers
    starts: Numbers
    ends: Numbers
    incomplete: Numbers


def _slices(
    complete: tuple[Numbers, ...],
    nested: tuple[Numbers, ...],
    names: Numbers,
    troubles: Troubles,
) -> _Rows:
    tracks, pairs, starts, lengths = complete
    ends = starts + lengths
    incomplete = np.zeros(len(tracks), bool)
    if not len(nested[0]):
        return _ordered(_Rows(tracks, tracks, pairs, starts, ends, incomplete))
    order = _by_time(nested[0], nested[2])
    their, pair, times, where = (column[order] for column in nested)
    matched = match(their, pair, names)
    troubles.unmatched_ends += matched.unmatched
    troubles.mismatched_ends += matched.mismatched
    troubles.interleaved_ends += matched.interleaved
    begins, closing = matched.begins, matched.ends
    unclosed = closing == OPEN
    closed = times[closing]
    if unclosed.any():
        troubles.unclosed += int(unclosed.sum())
        last = _last(np.append(tracks, their), np.append(ends, times))
        closed[unclosed] = last(their[begins[unclosed]])
    return _ordered(
        _Rows(
            np.append(tracks, their[begins]),
            np.append(tracks, where[begins]),
            np.append(pairs, pair[begins]),
            np.append(starts, times[begins]),
            np.append(ends, closed),
            np.append(incomplete, unclosed),
        )
    )


def _column(code: str, values: list[int]) -> Numbers:
    """A column of Python's integers; `numpy.array` takes three times as long."""
    return np.frombuffer(array(code, values), code)


def _by_time(tracks: Numbers, times: Numbers) -> Numbers:
    """The order by track and then time; the order of the file where they are equal."""
    order = np.argsort(times, kind="stable")
    if len(tracks) and (tracks != tracks[0]).any():
        order = order[np.argsort(tracks[order], kind="stable")]
    return order


def _last(tracks: Numbers, times: Numbers) -> Callable[[Numbers], Numbers]:
    """A function that gives the last of the times of each of some tracks."""
    found, which = np.unique(tracks, return_inverse=True)
    last = np.full(len(found), np.iinfo("q").min)
    np.maximum.at(last, which, times)
    return lambda wanted: last[np.searchsorted(found, wanted)]


def _ordered(rows: _Rows) -> _Rows:
    """Slices by track and start, the longest first; complete events before others."""
    order = _by_time(rows.tracks, rows.starts)
    tracks, starts, ends = (one[order] for one in (rows.tracks, rows.starts, rows.ends))
    tie = np.zeros(len(order), bool)
    tie[1:] = (starts[1:] == starts[:-1]) & (tracks[1:] == tracks[:-1])
    tie[:-1] |= tie[1:]
    if tie.any():
        at = np.flatnonzero(tie)
        order[at] = order[at[np.lexsort((-ends[at], starts[at], tracks[at]))]]
        ends = rows.ends[order]
    return _Rows(
        tracks,
        rows.places[order],
        rows.pairs[order],
        starts,
        ends,
        rows.incomplete[order],
    )


def _nested(rows: _Rows, troubles: Troubles, *, asynchronous: bool) -> Iterator[Batch]:
    """Nest slices, in parts that nothing crosses."""
    troubles.duplicates += _duplicates(rows)
    for low, high, shift in _shifts(rows):
        starts, ends = rows.starts[low:high] + shift, rows.ends[low:high] + shift
        for first, last in pairwise(parts(starts, ends)):
            found = nest(starts[first:last], ends[first:last])
            troubles.overlapping += found.overlapping
            of = slice(low + first, low + last)
            yield Batch(
                asynchronous,
                rows.places[of],
                rows.pairs[of],
                rows.starts[of],
                rows.ends[of] - rows.starts[of],
                found.selves,
                found.parents,
                found.depths,
                rows.incomplete[of],
            )


def _shifts(rows: _Rows) -> list[tuple[int, int, Numbers]]:
    """Ranges of rows, and by how much to shift their times so that no tracks meet."""
    heads = np.flatnonzero(np.diff(rows.tracks, prepend=rows.tracks[:1] - 1))
    if not len(heads):
        return []
    bounds = np.append(heads, len(rows.tracks))
    first = rows.starts[heads]
    last = np.maximum.reduceat(rows.ends, heads)
    if sum(map(int, last)) - sum(map(int, first)) + len(heads) < ROOM:
        shift = np.cumsum(np.append(0, (last - first + 1)[:-1])) - first
        return [(0, len(rows.tracks), np.repeat(shift, np.diff(bounds)))]
    return [
        (int(low), int(high), -start)
        for low, high, start in zip(bounds[:-1], bounds[1:], first, strict=True)
    ]


def _duplicates(rows: _Rows) -> int:
    same = np.zeros(len(rows.tracks), bool)
    same[1:] = (
        (rows.tracks[1:] == rows.tracks[:-1])
        & (rows.starts[1:] == rows.starts[:-1])
        & (rows.ends[1:] == rows.ends[:-1])
    )
    if not same.any():
        return 0
    group = np.cumsum(~same)
    same[:-1] |= same[1:]
    both = np.stack([group[same], rows.pairs[same]])
    return int(same.sum()) - int(np.unique(both, axis=1).shape[1])
