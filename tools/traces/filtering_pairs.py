"""Keeps begins with their ends: of threads, and of asynchronous sequences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tools.traces.columns import Numbers
from tools.traces.filtering_rows import DROP, KEEP, Judge, Rows
from tools.traces.matching import OPEN, match

__all__ = ["Kept", "Unpaired", "columns", "settle_pairs", "settle_steps"]

_FOREVER: Final = 1 << 62


@dataclass(frozen=True, slots=True)
class Unpaired:
    """What has no other half."""

    unmatched_ends: int
    unclosed: int


@dataclass(frozen=True, slots=True)
class Kept:
    """Slices of begins and ends: thread, nanoseconds, and whether they are kept."""

    tracks: Numbers
    starts: Numbers
    ends: Numbers
    kept: Numbers


def columns(rows: Rows) -> tuple[Numbers, Numbers, Numbers, Numbers, Numbers, Numbers]:
    """The columns of rows as arrays."""
    names = (rows.tracks, rows.names, rows.times, rows.ends, rows.events)
    numbers = [
        np.frombuffer(one, "q") if len(one) else np.empty(0, "q") for one in names
    ]
    fits = np.frombuffer(bytes(rows.fits), np.uint8).astype(bool)
    return (*numbers, fits)  # type: ignore[return-value]


def settle_pairs(rows: Rows, judge: Judge, verdicts: Numbers) -> tuple[Kept, Unpaired]:
    """Decide of begins and ends, each pair as a whole.

    Args:
        rows: the begins and ends.
        judge: what judged them alone.
        verdicts: is changed.
    """
    tracks, names, times, _, events, fits = columns(rows)
    order = np.lexsort((np.arange(len(times)), times, tracks))
    tracks, names, times, events, fits = (
        one[order] for one in (tracks, names, times, events, fits)
    )
    # match() takes the name of a row by its number, and a negative one for none
    numbers = np.arange(int(np.abs(names).max(initial=0)) + 2) - 1
    matched = match(tracks, names, numbers)
    begins, ends = matched.begins, matched.ends
    unclosed = ends == OPEN
    finish = np.where(unclosed, _FOREVER, times[ends])
    kept = fits[begins] & judge.lasting(times[begins], finish)
    verdicts[events] = DROP
    verdicts[events[begins[kept]]] = KEEP
    verdicts[events[ends[kept & ~unclosed]]] = KEEP
    slices = Kept(tracks[begins], times[begins], finish, kept)
    unmatched = int((names < 0).sum()) - int((~unclosed).sum())
    return slices, Unpaired(unmatched, int(unclosed.sum()))


def settle_steps(judge: Judge, verdicts: Numbers) -> None:
    """Keep steps of sequences of which a beginning is kept."""
    tracks, names, _, _, events, _ = columns(judge.sequences)
    alive = np.unique(tracks[(names >= 0) & (verdicts[events] == KEEP)])
    tracks, _, _, _, events, fits = columns(judge.steps)
    verdicts[events] = np.where(fits & np.isin(tracks, alive), KEEP, DROP)
