"""Keeps arrows whose slices are kept, at all of their ends.

An arrow starts at the innermost slice around it. It ends there too if it says so
(`"bp": "e"`), and else at the next slice of its thread that begins.
"""

from __future__ import annotations

import numpy as np

from tools.traces.columns import Numbers
from tools.traces.filtering_pairs import Kept, columns
from tools.traces.filtering_rows import DROP, ENDS, KEEP, Judge
from tools.traces.nesting import nest

__all__ = ["settle_arrows"]


def settle_arrows(judge: Judge, nested: Kept, verdicts: Numbers) -> int:
    """Decide of all arrows.

    Args:
        judge: what gathered them, and complete events.
        nested: slices of begins and ends.
        verdicts: is changed.

    Returns:
        How many arrows were dropped since a slice was.
    """
    tracks, flows, times, what, events, fits = columns(judge.arrows)
    if not len(tracks):
        return 0
    alive = np.zeros(len(tracks), bool)
    slices = _slices(judge, nested)
    order = np.argsort(tracks, kind="stable")
    bounds = np.flatnonzero(np.diff(tracks[order], prepend=tracks[order[0]] - 1))
    for rows in np.split(order, bounds[1:]):
        alive[rows] = _bound(slices, int(tracks[rows[0]]), times[rows], what[rows])
    dead = np.unique(flows[~alive])
    kept = ~np.isin(flows, dead)
    verdicts[events] = np.where(kept & fits, KEEP, DROP)
    return len(dead)


def _slices(judge: Judge, nested: Kept) -> Kept:
    """All slices by thread and start, the longest first."""
    tracks, _, starts, ends, _, fits = columns(judge.complete)
    tracks, starts, ends, kept = (
        np.concatenate(both)
        for both in (
            (tracks, nested.tracks),
            (starts, nested.starts),
            (ends, nested.ends),
            (fits, nested.kept),
        )
    )
    order = np.lexsort((-ends, starts, tracks))
    return Kept(tracks[order], starts[order], ends[order], kept[order])


def _bound(slices: Kept, track: int, times: Numbers, what: Numbers) -> Numbers:
    """Whether the slice that each arrow of a thread is bound to is kept."""
    low, high = np.searchsorted(slices.tracks, [track, track + 1])
    if low == high:
        return np.zeros(len(times), bool)
    starts, ends = slices.starts[low:high], slices.ends[low:high]
    kept = np.append(slices.kept[low:high], [False])
    parents = nest(starts, ends).parents
    at = np.searchsorted(starts, times, "right") - 1
    while (outside := (at >= 0) & (ends[at] < times)).any():
        at[outside] = parents[at[outside]]
    follows = what == ENDS
    after = np.searchsorted(starts, times, "left")
    return kept[np.where(follows, after, at)]
