"""Leave events of some categories out of a trace, and their time too if that is wanted.

TRIMS marks what its own measuring cost with the category `ignore`. All spans of one
file that overlap count once: what they take out is the time in which any was open.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from msgspec import UNSET

from registry.documents.findings import RegistryError, Severity, code, finding
from tools.traces import limits
from tools.traces.identities import plain
from tools.traces.shapes import raw_number, raw_text

__all__ = ["Clock", "Ignoring"]

V021 = code(
    "V021",
    Severity.ERROR,
    "A trace has more open or ignored slices than can be followed.",
    "Leave --ignore-category off, or cut the trace.",
)


class Ignoring:
    """Which events of a file are ignored, told in the order of the file.

    An end belongs to the last beginning of its thread, or to the one that it names.

    Attributes:
        dropped: how many events were ignored.
        unmatched: how many ignored beginnings and ends had no partner.

    """

    __slots__ = (
        "_categories",
        "_open",
        "_path",
        "_spans",
        "_stacks",
        "dropped",
        "lost",
    )

    def __init__(self, categories: frozenset[str], path: str) -> None:
        """Begin a file.

        Args:
            categories: what to ignore; an event may have several, between commas.
            path: the file, for findings.
        """
        self._categories = categories
        self._path = path
        self._stacks: dict[tuple[Any, Any], list[tuple[str | None, bool, Any]]] = {}
        self._spans: list[tuple[int, int]] = []
        self._open = 0
        self.dropped = 0
        self.lost = 0

    def __call__(self, event: Any) -> bool:
        """Whether an event is ignored."""
        ignored = self._named(event)
        if event.ph == "B":
            self._begin(event, ignored=ignored)
        elif event.ph == "E":
            ignored = self._end(event, ignored=ignored)
        elif ignored and event.ph == "X":
            self._span(raw_number(event.ts), raw_number(event.dur))
        self.dropped += ignored
        return ignored

    @property
    def unmatched(self) -> int:
        """How many ignored beginnings and ends have no partner so far."""
        still = (slice_[1] for stack in self._stacks.values() for slice_ in stack)
        return self.lost + sum(still)

    def clock(self) -> Clock:
        """The clock that the ignored spans are taken out of."""
        return Clock(self._spans)

    def _named(self, event: Any) -> bool:
        text = raw_text(event.cat)
        if text is None:
            return False
        return any(part.strip() in self._categories for part in text.split(","))

    def _stack(self, event: Any) -> list[tuple[str | None, bool, Any]]:
        thread = None if event.tid is UNSET else bytes(event.tid)
        return self._stacks.setdefault((plain(event.pid), thread), [])

    def _begin(self, event: Any, *, ignored: bool) -> None:
        self._open += 1
        if self._open > limits.OPEN_SLICES:
            what = f"more than {limits.OPEN_SLICES} slices are open at once"
            raise RegistryError(finding(V021, self._path, what))
        self._stack(event).append((raw_text(event.name), ignored, event.ts))

    def _end(self, event: Any, *, ignored: bool) -> bool:
        """Close a slice; give whether it is ignored."""
        stack, name = self._stack(event), raw_text(event.name)
        for at in range(len(stack) - 1, max(len(stack) - 1 - limits.SEARCHED, -1), -1):
            begun, hidden, ts = stack[at]
            if name is not None and begun is not None and begun != name:
                continue
            if at < len(stack) - 1 and not (ignored and hidden):
                break  # an end closes the top, or nothing
            del stack[at]
            self._open -= 1
            if hidden:
                start, end = raw_number(ts), raw_number(event.ts)
                long = None if start is None or end is None else end - start
                self._span(start, long)
            return hidden or ignored
        self.lost += ignored
        return ignored

    def _span(self, start: int | None, long: int | None) -> None:
        if start is None or long is None or long < 0:
            self.lost += 1
            return
        if len(self._spans) >= limits.IGNORED_SPANS:
            what = f"more than {limits.IGNORED_SPANS} slices are ignored"
            raise RegistryError(finding(V021, self._path, what))
        self._spans.append((start, start + long))


class Clock:
    """A clock that stands still in some spans: times of a file without them.

    Attributes:
        taken_ns: how long it stands still in all.

    """

    __slots__ = ("_before", "_ends", "_starts", "taken_ns")

    def __init__(self, spans: list[tuple[int, int]] | None = None) -> None:
        """Join spans.

        Args:
            spans: their start and end, ns, in any order; they may overlap.
        """
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(spans or ()):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)
        self._before = [0]
        for start, end in zip(self._starts, self._ends, strict=True):
            self._before.append(self._before[-1] + end - start)
        self.taken_ns = self._before[-1]

    def __call__(self, ns: int) -> int:
        """A time without what was taken out before it."""
        at = bisect_right(self._starts, ns)
        if not at:
            return ns
        inside = max(self._ends[at - 1] - ns, 0)
        return ns - self._before[at] + inside
