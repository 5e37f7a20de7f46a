"""Statistics of slices by name, category or process: sums, and percentiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tools.traces.columns import Numbers, Packed

__all__ = ["PERCENTILES", "Statistic", "Statistics"]

PERCENTILES: Final = (50, 95, 99)
LOW_BITS: Final = 20
SORTED_BITS: Final = 62


@dataclass(frozen=True, slots=True)
class Statistic:
    """All slices of one name, category or process; times are nanoseconds.

    Attributes:
        name: what they have in common.
        count: how many there are.
        incomplete: how many of them have no end, and so no true duration; they are in
            count, total and self, and in nothing else.
        total: their durations together.
        self: the time in which they were the innermost, together.
        least: the shortest duration; None if all are incomplete, like all that follow.
        mean: the mean duration.
        median: the median, between the two middle ones if there are two.
        p95: the 95th percentile, interpolated as NumPy does by default.
        p99: the 99th percentile, likewise.
        greatest: the longest duration.

    """

    name: str
    count: int
    incomplete: int
    total: int
    self: int
    least: int | None
    mean: float | None
    median: float | None
    p95: float | None
    p99: float | None
    greatest: int | None


class Statistics:
    """Gathers slices by group; keeps about six bytes for each."""

    def __init__(self) -> None:
        """Begin without any."""
        self._counts = np.zeros((2, 0), "q")  # all, incomplete
        self._sums = np.zeros((4, 0))  # total and self, each in low and high bits
        self._groups: list[Packed] = []
        self._durations: list[Packed] = []

    def add(
        self, groups: Numbers, durations: Numbers, selves: Numbers, incomplete: Numbers
    ) -> None:
        """Add slices.

        Args:
            groups: the number of each one's group.
            durations: nanoseconds.
            selves: nanoseconds.
            incomplete: whether the duration is not known.
        """
        if not len(groups):
            return
        size = max(int(groups.max()) + 1, self._counts.shape[1])
        grown = size - self._counts.shape[1]
        self._counts = np.pad(self._counts, ((0, 0), (0, grown)))
        self._sums = np.pad(self._sums, ((0, 0), (0, grown)))
        self._counts[0] += np.bincount(groups, minlength=size)
        self._counts[1] += np.bincount(groups[incomplete], minlength=size)
        for row, values in ((0, durations), (2, selves)):
            # Floats add small integers exactly, and large ones not.
            low, high = values & ((1 << LOW_BITS) - 1), values >> LOW_BITS
            self._sums[row] += np.bincount(groups, low, minlength=size)
            self._sums[row + 1] += np.bincount(groups, high, minlength=size)
        complete = ~incomplete
        if complete.any():
            self._groups.append(Packed.of(groups[complete].astype("i")))
            self._durations.append(Packed.of(durations[complete]))

    def rows(self, names: Sequence[str]) -> list[Statistic]:
        """One row a group that has slices, in the order of their numbers; once only.

        Args:
            names: the name of each group.
        """
        bounds, durations = self._ordered()
        found = []
        for group in np.flatnonzero(self._counts[0]).tolist():
            count, incomplete = self._counts[:, group].tolist()
            total, own = self._summed(0, group), self._summed(2, group)
            shape = _shape(durations[bounds[group] : bounds[group + 1]])
            found.append(Statistic(names[group], count, incomplete, total, own, *shape))
        return found

    def _summed(self, row: int, group: int) -> int:
        low, high = self._sums[row : row + 2, group].tolist()
        return int(low) + (int(high) << LOW_BITS)

    def _ordered(self) -> tuple[Numbers, Numbers]:
        """Bounds of groups, and the durations of each in order.

        What was gathered is let go of, since it may be the most of all memory in use.
        """
        every = np.arange(self._counts.shape[1] + 1)
        bits = max((one.most() for one in self._durations), default=0).bit_length()
        if bits + len(every).bit_length() > SORTED_BITS:
            groups = np.concatenate([one[:] for one in self._groups])
            durations = np.concatenate([one[:] for one in self._durations])
            order = np.lexsort((durations, groups))
            return np.searchsorted(groups[order], every), durations[order]
        # One number for both sorts several times as fast, and in place.
        keys = np.empty(sum(len(one.values) for one in self._groups), "q")
        at = len(keys)
        while self._groups:
            groups, durations = self._groups.pop()[:], self._durations.pop()[:]
            keys[at - len(groups) : at] = (groups.astype("q") << bits) | durations
            at -= len(groups)
        keys.sort()
        bounds = np.searchsorted(keys, every << bits)
        keys &= (1 << bits) - 1
        return bounds, keys


_Shape = tuple[
    int | None, float | None, float | None, float | None, float | None, int | None
]


def _shape(durations: Numbers) -> _Shape:
    """Least, mean, percentiles and greatest of ascending durations."""
    if not len(durations):
        return None, None, None, None, None, None
    at = np.array(PERCENTILES) / 100 * (len(durations) - 1)
    below = np.floor(at).astype("q")
    above = np.minimum(below + 1, len(durations) - 1)
    step = durations[above] - durations[below]
    median, p95, p99 = (durations[below] + step * (at - below)).tolist()
    mean = float(durations.mean())
    return int(durations[0]), mean, median, p95, p99, int(durations[-1])
