"""Chooses what of a trace is drawn: the longest spans of all, and of each track.

Half of what is drawn is shared out among the tracks, so that a thread of short spans is
seen beside one of long spans.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from tools.traces.columns import Numbers
from tools.traces.slices import Batch
from tools.traces.timelines import Timeline

__all__ = ["Choice", "Span", "Total", "Track", "choose"]

LEVELS: Final = 40
"""The deepest nesting that is drawn."""
_NEVER: Final = 1 << 62


@dataclass(frozen=True, slots=True)
class Span:
    """A span that is drawn; times are nanoseconds.

    Attributes:
        name: its name.
        category: its category.
        start: its start.
        duration: its duration.
        level: how many spans are around it, or the row of an asynchronous one.
        incomplete: whether its end is unknown.
    """

    name: str
    category: str
    start: int
    duration: int
    level: int
    incomplete: bool


@dataclass(slots=True)
class Track:
    """A thread, or the asynchronous spans of one.

    Attributes:
        process: the process's name.
        name: the thread's name.
        spans: what is drawn of it.
    """

    process: str
    name: str
    spans: list[Span] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Total:
    """All spans of one name together; times are nanoseconds."""

    name: str
    count: int
    total: int
    self_time: int


@dataclass(slots=True)
class Choice:
    """What is drawn of a trace.

    Attributes:
        tracks: tracks with spans.
        totals: names by their total time, the largest first.
        names: how many names there are.
        spans: how many spans there are.
        drawn: how many of them are drawn.
        first: the earliest start, in nanoseconds.
        last: the latest end, in nanoseconds.

    """

    tracks: list[Track]
    totals: list[Total]
    names: int
    spans: int
    drawn: int
    first: int
    last: int


@dataclass(slots=True)
class _Longest:
    """The longest of all rows that were seen."""

    limit: int
    rows: tuple[Numbers, ...] = ()

    def __len__(self) -> int:
        """How many there are."""
        return len(self.rows[0]) if self.rows else 0

    def add(self, rows: tuple[Numbers, ...]) -> None:
        """Add rows, of which the second column is the duration."""
        both = [one for one in (self.rows, rows) if one]
        self.rows = tuple(np.concatenate(one) for one in zip(*both, strict=True))
        if len(self) > self.limit:
            # a stable order, so that equal traces give equal pages
            longest = np.argsort(-self.rows[1], kind="stable")[: self.limit]
            self.rows = tuple(one[np.sort(longest)] for one in self.rows)


def choose(timeline: Timeline, spans: int, names: int) -> Choice:
    """Choose spans, and sum all of them by name.

    Args:
        timeline: the gathered trace; its slices are closed here.
        spans: how many spans are drawn at most.
        names: how many names are listed at most.
    """
    share = spans // (2 * max(len(timeline.places.places), 1))
    shared, longest = _Longest(spans), _Longest(spans)
    sums = np.zeros((3, 0), np.float64)
    count, first, last = 0, _NEVER, -_NEVER
    for batch in timeline.slices.close():
        if not len(batch.starts):
            continue
        sums = _added(sums, batch, len(timeline.pairs.name_of))
        rows = _rows(batch)
        own = _ranks(batch) < share
        shared.add(tuple(one[own] for one in rows))
        longest.add(tuple(one[~own] for one in rows))
        count += len(batch.starts)
        first = min(first, int(batch.starts.min()))
        last = max(last, int((batch.starts + batch.durations).max()))
    totals = _totals(timeline, sums)
    longest.limit = spans - len(shared)
    longest.add(())
    chosen = [one for one in (shared.rows, longest.rows) if one]
    rows = tuple(np.concatenate(one) for one in zip(*chosen, strict=True))
    tracks = list(_tracks(timeline, rows))
    drawn = sum(len(track.spans) for track in tracks)
    return Choice(tracks, totals[:names], len(totals), count, drawn, first, last)


def _ranks(batch: Batch) -> Numbers:
    """How many spans of its track are longer, for each span."""
    order = np.lexsort((-batch.durations, batch.places))
    places = batch.places[order]
    heads = np.flatnonzero(np.diff(places, prepend=places[0] - 1))
    lengths = np.diff(np.append(heads, len(places)))
    ranks = np.empty(len(order), "q")
    ranks[order] = np.arange(len(order)) - np.repeat(heads, lengths)
    return ranks


def _added(sums: Numbers, batch: Batch, pairs: int) -> Numbers:
    """Counts, durations and self times by pair, with those of a batch."""
    sums = np.pad(sums, ((0, 0), (0, pairs - sums.shape[1])))
    for row, weights in enumerate((None, batch.durations, batch.selves)):
        sums[row] += np.bincount(batch.pairs, weights, minlength=pairs)
    return sums


def _rows(batch: Batch) -> tuple[Numbers, ...]:
    kind = np.full(len(batch.starts), batch.asynchronous)
    return (
        batch.starts,
        batch.durations,
        batch.places,
        batch.pairs,
        batch.depths,
        batch.incomplete,
        kind,
    )


def _totals(timeline: Timeline, sums: Numbers) -> list[Total]:
    pairs = timeline.pairs
    found: dict[int, list[int]] = {}
    for pair in np.flatnonzero(sums[0]).tolist():
        row = found.setdefault(pairs.name_of[pair], [0, 0, 0])
        for at in range(3):
            row[at] += round(float(sums[at, pair]))
    totals = [Total(pairs.names[name], *row) for name, row in found.items()]
    return sorted(totals, key=lambda one: (-one.total, one.name))


def _tracks(timeline: Timeline, rows: tuple[Numbers, ...]) -> Iterator[Track]:
    """Tracks of the chosen rows, by process and thread."""
    if not rows:
        return
    starts, durations, places, pairs, depths, incomplete, kinds = rows
    order = np.lexsort((-durations, starts, places, kinds))
    track, key = None, None
    ends: list[int] = []
    for at in order.tolist():
        if (int(places[at]), bool(kinds[at])) != key:
            key = (int(places[at]), bool(kinds[at]))
            if track is not None and track.spans:
                yield track
            place, ends = timeline.places.places[key[0]], []
            name = timeline.thread(place) + (": asynchronous" if key[1] else "")
            track = Track(timeline.process(place[0]), name)
        assert track is not None  # noqa: S101  the first row has made one
        start, duration = int(starts[at]), int(durations[at])
        level = _lane(ends, start, start + duration) if key[1] else int(depths[at])
        if level < LEVELS:
            pair = int(pairs[at])
            name = timeline.pairs.names[timeline.pairs.name_of[pair]]
            category = timeline.pairs.categories[timeline.pairs.category_of[pair]]
            span = Span(name, category, start, duration, level, bool(incomplete[at]))
            track.spans.append(span)
    if track is not None and track.spans:
        yield track


def _lane(ends: list[int], start: int, end: int) -> int:
    """The first row that is free at a time; it is taken until the end."""
    for lane, free in enumerate(ends[:LEVELS]):
        if free <= start:
            ends[lane] = end
            return lane
    ends.append(end)
    return len(ends) - 1
