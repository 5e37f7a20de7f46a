"""Which end closes which begin: of one track's B and E events, the slices.

An end with a name closes the innermost open slice of that name, and nothing if there is
none. An end without a name closes the innermost slice. Events of the same nanosecond
count in the order of the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tools.traces.columns import Numbers

__all__ = ["OPEN", "Matched", "match"]

OPEN: Final = -1
"""The end of a slice that nothing closes."""


@dataclass(slots=True)
class Matched:
    """Begins with their ends.

    Attributes:
        begins: rows of the begins, in no order.
        ends: for each of them the row of its end, or `OPEN`.
        unmatched: ends where no slice was open.
        mismatched: ends whose name no open slice had; they close nothing.
        interleaved: ends that closed another slice than the innermost one.

    """

    begins: Numbers
    ends: Numbers
    unmatched: int = 0
    mismatched: int = 0
    interleaved: int = 0


def match(tracks: Numbers, pairs: Numbers, names: Numbers) -> Matched:
    """Match begins and ends.

    Args:
        tracks: the track of each row; rows are ordered by track, then in time.
        pairs: what begins there: its pair of name and category, or of an end `~pair`.
        names: the name of each pair; negative for no name.
    """
    if not len(tracks):
        return Matched(np.empty(0, "q"), np.empty(0, "q"))
    begin = pairs >= 0
    starts = np.flatnonzero(np.diff(tracks, prepend=tracks[0] - 1))
    lengths = np.diff(np.append(starts, len(tracks)))
    which = np.repeat(np.arange(len(starts)), lengths)
    level = np.cumsum(np.where(begin, 1, -1))
    level -= np.repeat(level[starts] - np.where(begin[starts], 1, -1), lengths)
    odd = np.minimum.reduceat(level, starts) < 0
    level[~begin] += 1

    # Begins and ends of one level alternate, if no end lacks its begin. Tracks that
    # are odd must stay in levels of their own all the same.
    np.maximum(level, 0, out=level)
    level += which * (int(level.max(initial=0)) + 2)
    order = np.argsort(level, kind="stable")
    opening = begin[order]
    closed = np.zeros(len(order), bool)
    closed[:-1] = opening[:-1] & ~opening[1:] & (np.diff(level[order]) == 0)
    at = np.flatnonzero(closed)
    ends = np.full(len(order), OPEN, "q")
    ends[at] = order[at + 1]
    wanted = names[~pairs[order[at + 1]]]
    wrong = (wanted >= 0) & (wanted != names[pairs[order[at]]])
    odd[which[order[at[wrong]]]] = True

    keep = opening & ~odd[which[order]]
    done = Matched(order[keep], ends[keep])
    for track in np.flatnonzero(odd):
        low = int(starts[track])
        high = low + int(lengths[track])
        _add(done, low, pairs[low:high], names)
    return done


def _add(done: Matched, low: int, pairs: Numbers, names: Numbers) -> None:
    """Match the rows of a track whose ends do not simply mirror its begins."""
    ends: dict[int, int] = {}
    opened: list[int] = []  # rows in order; those closed already are passed over
    by_name: dict[int, list[int]] = {}
    whose = names[np.where(pairs >= 0, pairs, ~pairs)].tolist()
    for row, (pair, name) in enumerate(zip(pairs.tolist(), whose, strict=True)):
        if pair >= 0:
            opened.append(row)
            by_name.setdefault(name, []).append(row)
            ends[row] = OPEN
            continue
        while opened and ends[opened[-1]] != OPEN:
            opened.pop()
        if not opened:
            done.unmatched += 1
            continue
        inner = opened[-1]
        if name < 0 or not by_name.get(name):
            if name >= 0 and whose[inner] >= 0:
                done.mismatched += 1
                continue
            closed = inner
        else:
            closed = by_name[name][-1]
        by_name[whose[closed]].pop()
        done.interleaved += closed != inner
        ends[closed] = row
    begins = np.fromiter(ends, "q", len(ends))
    closing = np.fromiter(ends.values(), "q", len(ends))
    done.begins = np.append(done.begins, begins + low)
    done.ends = np.append(done.ends, np.where(closing == OPEN, OPEN, closing + low))
