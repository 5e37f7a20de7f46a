"""Which slice is inside which, and how long each was the innermost: its self time.

Slices come ordered by start, and of one start the longest first. A slice that begins
inside another is its child. One that outlives its parent overlaps it: both count, and
each instant belongs to the self time of the slice that began last. So self times add up
to the time in which anything was open, whatever overlaps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tools.traces.columns import Numbers

__all__ = ["NO_PARENT", "Nest", "nest", "parts"]

NO_PARENT: Final = -1
PART_ROWS: Final = 1 << 17
"""How many slices are nested at once, if there are pauses between them."""
EXACT: Final = 1 << 53
"""Integers below this are exact as floats."""


@dataclass(frozen=True, slots=True)
class Nest:
    """The nesting of some slices.

    Attributes:
        parents: the row of the slice that each is in, or `NO_PARENT`.
        selves: nanoseconds in which it was the innermost.
        depths: how many slices it is in.
        overlapping: how many outlive the slice that they begin in.

    """

    parents: Numbers
    selves: Numbers
    depths: Numbers
    overlapping: int


def nest(starts: Numbers, ends: Numbers) -> Nest:
    """Nest slices of one time line.

    Args:
        starts: nanoseconds, ascending.
        ends: nanoseconds, not before the starts; descending where starts are equal.
    """
    # What is well nested takes no loop.
    rows = np.arange(len(starts))
    depths = rows - _ended(starts, ends)
    order = np.argsort(depths, kind="stable")
    keys = depths[order] * len(rows) + order
    at = np.searchsorted(keys, (depths - 1) * len(rows) + rows) - 1
    parents = np.where(depths > 0, order[at], NO_PARENT)
    inner = np.flatnonzero(depths > 0)
    around = parents[inner]
    if (depths[around] != depths[inner] - 1).any() or (
        ends[inner] > ends[around]
    ).any():
        return _swept(starts, ends)
    lengths = ends - starts
    selves = lengths.copy()
    if len(rows) and int(ends.max()) - int(starts[0]) < EXACT:
        taken = np.bincount(around, weights=lengths[inner], minlength=len(rows))
        selves -= taken.astype("q")
    else:
        np.subtract.at(selves, around, lengths[inner])
    return Nest(parents, selves, depths, 0)


def parts(starts: Numbers, ends: Numbers) -> list[int]:
    """Bounds of parts that nothing crosses, of `PART_ROWS` rows or more if they can be.

    Args:
        starts: as for `nest`.
        ends: likewise.
    """
    if len(starts) <= PART_ROWS:
        return [0, len(starts)]
    latest = np.maximum.accumulate(ends)
    pauses = np.flatnonzero(starts[1:] >= latest[:-1]) + 1
    bounds = [0]
    while bounds[-1] + PART_ROWS < len(starts):
        at = int(np.searchsorted(pauses, bounds[-1] + PART_ROWS))
        if at == len(pauses):
            break
        bounds.append(int(pauses[at]))
    return [*bounds, len(starts)]


def _ended(starts: Numbers, ends: Numbers) -> Numbers:
    """How many of the slices before each one have ended when it begins."""
    ended = np.searchsorted(np.sort(ends), starts, "right")
    empty = ends == starts
    if empty.any():
        # Those of no length that begin now, itself included, come later in the order.
        before = np.cumsum(empty)
        last = np.searchsorted(starts, starts, "right") - 1
        ended -= before[last] - before + empty
    return ended


def _swept(starts: Numbers, ends: Numbers) -> Nest:
    """Go from start to start and give the time between to the innermost slice."""
    from_, to = starts.tolist(), ends.tolist()
    selves, parents, depths = [0] * len(to), [NO_PARENT] * len(to), [0] * len(to)
    opened: list[int] = []
    now = overlapping = 0
    for row, start in enumerate(from_):
        while opened and to[opened[-1]] <= start:
            inner = opened.pop()
            if to[inner] > now:
                selves[inner] += to[inner] - now
                now = to[inner]
        if opened:
            parent = opened[-1]
            selves[parent] += start - now
            parents[row], depths[row] = parent, depths[parent] + 1
            overlapping += to[row] > to[parent]
        opened.append(row)
        now = start
    while opened:
        inner = opened.pop()
        if to[inner] > now:
            selves[inner] += to[inner] - now
            now = to[inner]
    return Nest(
        np.array(parents, "q"),
        np.array(selves, "q"),
        np.array(depths, "q"),
        overlapping,
    )
