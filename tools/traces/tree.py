"""The tree of calls: slices by the path of names that they are in, over all threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from tools.traces.columns import Numbers
from tools.traces.naming import FOLDED

__all__ = ["DEPTH", "NODES", "Node", "Tree"]

NODES: Final = 100_000
"""The most paths that are told apart."""
DEPTH: Final = 256
"""The deepest path that is told apart."""
NAME_BITS: Final = 20
NO_NODE: Final = -1


@dataclass(frozen=True, slots=True)
class Node:
    """One path.

    Attributes:
        depth: how many names are before the last.
        parent: the place of the path without its last name in the list, or None.
        name: the last name.
        asynchronous: whether it is of asynchronous events.
        count: how many slices have the path.
        total: their durations together, in nanoseconds.
        self: the time in which they were the innermost, in nanoseconds.

    """

    depth: int
    parent: int | None
    name: str
    asynchronous: bool
    count: int
    total: int
    self: int


class Tree:
    """Gathers slices by path; equal paths of different threads and files are one."""

    def __init__(self) -> None:
        """Begin without any."""
        self._nodes: dict[tuple[int, int, bool], int] = {}
        self._sums: list[list[int]] = []  # count, total, self
        self._folded: int | None = None

    def add(
        self,
        names: Numbers,
        parents: Numbers,
        depths: Numbers,
        durations: Numbers,
        selves: Numbers,
        *,
        asynchronous: bool,
    ) -> None:
        """Add slices.

        Args:
            names: the number of each one's name.
            parents: the row of the slice around it.
            depths: how many are around it.
            durations: nanoseconds.
            selves: nanoseconds.
            asynchronous: whether they are of asynchronous events.
        """
        nodes = np.full(len(names), NO_NODE, "q")
        order = np.argsort(depths, kind="stable")
        deepest = int(depths.max(initial=-1))
        bounds = np.searchsorted(depths[order], np.arange(min(deepest + 1, DEPTH) + 1))
        for depth, (low, high) in enumerate(pairwise(bounds)):
            rows = order[low:high]
            above = nodes[parents[rows]] if depth else np.full(len(rows), NO_NODE)
            keys = ((above + 1) << NAME_BITS) | names[rows]
            found, which = np.unique(keys, return_inverse=True)
            numbers = np.array(
                [
                    self._node(
                        (key >> NAME_BITS) - 1, key % (1 << NAME_BITS), asynchronous
                    )
                    for key in found.tolist()
                ],
                "q",
            )
            nodes[rows] = numbers[which]
            self._sum(numbers, which, durations[rows], selves[rows])
        deep = order[bounds[-1] :]
        if len(deep):
            folded = np.array([self._fold()])
            self._sum(folded, np.zeros(len(deep), "q"), durations[deep], selves[deep])

    def nodes(self, names: Sequence[str], sort: str) -> list[Node]:
        """All paths, each behind the one that it extends.

        Args:
            names: the name of each number.
            sort: the attribute of `Node` by which the children of one path are ordered,
                the greatest first.
        """
        column = ("count", "total", "self").index(sort)
        below: dict[int, list[tuple[int, int, bool]]] = {}
        for (above, name, asynchronous), number in self._nodes.items():
            below.setdefault(above, []).append((number, name, asynchronous))

        def first(child: tuple[int, int, bool]) -> tuple[bool, int, str]:
            number, name, asynchronous = child
            return asynchronous, -self._sums[number][column], names[name]

        found: list[Node] = []
        todo = (
            [(NO_NODE, -1, child) for child in sorted(below[NO_NODE], key=first)[::-1]]
            if below
            else []
        )
        while todo:
            parent, depth, (number, name, asynchronous) = todo.pop()
            place = None if parent == NO_NODE else parent
            sums = self._sums[number]
            found.append(Node(depth + 1, place, names[name], asynchronous, *sums))
            here = len(found) - 1
            children = sorted(below.get(number, []), key=first)
            todo += [(here, depth + 1, child) for child in reversed(children)]
        if self._folded is not None:
            found.append(Node(0, None, FOLDED, False, *self._sums[self._folded]))  # noqa: FBT003
        return found

    def _node(self, above: int, name: int, asynchronous: bool) -> int:
        number = self._nodes.get((above, name, asynchronous))
        if number is None:
            if len(self._nodes) >= NODES or above == self._folded:
                return self._fold()
            number = self._nodes[above, name, asynchronous] = len(self._sums)
            self._sums.append([0, 0, 0])
        return number

    def _fold(self) -> int:
        """The node of all paths that are too many or too deep."""
        if self._folded is None:
            self._folded = len(self._sums)
            self._sums.append([0, 0, 0])
        return self._folded

    def _sum(
        self, numbers: Numbers, which: Numbers, durations: Numbers, selves: Numbers
    ) -> None:
        counts = np.bincount(which, minlength=len(numbers))
        totals, own = np.zeros((2, len(numbers)), "q")
        np.add.at(totals, which, durations)
        np.add.at(own, which, selves)
        together = zip(
            numbers.tolist(),
            counts.tolist(),
            totals.tolist(),
            own.tolist(),
            strict=True,
        )
        for number, *values in together:
            for column, value in enumerate(values):
                self._sums[number][column] += value
