"""Arrows from a call to the work that it started on a GPU."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

__all__ = ["Links", "Nesting"]


class Links:
    """Which calls started which work, by the profiler's correlation numbers.

    A launch of a graph starts many kernels, so every piece of work has an arrow of its
    own, numbered from 1. Numbers without a call or without work have none: arrows that
    hang in the air are worse than none.
    """

    def __init__(self, calls: Iterable[int], work: Iterable[int]) -> None:
        """Learn all numbers, eight bytes each.

        Args:
            calls: correlation numbers of API calls.
            work: those of kernels and copies, once for each.
        """
        called = np.unique(np.fromiter(calls, np.int64))
        worked, counts = np.unique(np.fromiter(work, np.int64), return_counts=True)
        both = np.isin(worked, called, assume_unique=True)
        counts = counts[both]
        self._numbers = array("q", worked[both].tobytes())
        self._counts = array("q", counts.astype(np.int64).tobytes())
        firsts = np.cumsum(counts) - counts + 1
        self._firsts = array("q", firsts.astype(np.int64).tobytes())
        self._next = array("q", self._firsts)
        self._begun = bytearray(len(self._numbers))

    def __len__(self) -> int:
        """How many arrows there are."""
        return sum(self._counts)

    def begin(self, call: dict[str, Any], number: object) -> Iterator[dict[str, Any]]:
        """Arrows that leave a call; a number's first call has them all."""
        place = self._place(number)
        if place is not None and not self._begun[place]:
            self._begun[place] = 1
            first = self._firsts[place]
            for one in range(first, first + self._counts[place]):
                yield _arrow("s", call, one)

    def end(self, work: dict[str, Any], number: object) -> Iterator[dict[str, Any]]:
        """The arrow that arrives at a piece of work."""
        place = self._place(number)
        if place is not None:
            one = self._next[place]
            self._next[place] += 1
            yield _arrow("f", work, one) | {"bp": "e"}

    def _place(self, number: object) -> int | None:
        if not isinstance(number, int):
            return None
        place = bisect_left(self._numbers, number)
        found = place < len(self._numbers) and self._numbers[place] == number
        return place if found else None


class Nesting:
    """Whether spans, which come by their start, nest in earlier ones of their track."""

    def __init__(self) -> None:
        """Begin with empty tracks."""
        self._open: dict[object, list[int]] = {}

    def fits(self, track: object, start: int, end: int) -> bool:
        """Take note of a span that fits, and tell of one that reaches over an end."""
        ends = self._open.setdefault(track, [])
        while ends and ends[-1] <= start:
            ends.pop()
        if ends and end > ends[-1]:
            return False
        ends.append(end)
        return True


def _arrow(phase: str, event: dict[str, Any], number: int) -> dict[str, Any]:
    return {
        "name": "starts",
        "cat": "launch",
        "ph": phase,
        "id": number,
        "ts": event["ts"],
        "pid": event["pid"],
        "tid": event["tid"],
    }
