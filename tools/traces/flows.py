"""Flows: the arrows of a trace, counted, and those that lack a start or an end."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tools.traces.typed import Event, identity

__all__ = ["FlowCounts", "Flows"]

ROWS: Final = 1 << 20
"""How many events are gathered before those of one flow are joined."""
START: Final = 1
STEP: Final = 2
END: Final = 4
PHASES: Final = {"s": START, "t": STEP, "f": END}


@dataclass(slots=True)
class FlowCounts:
    """Flows of a file, or of several.

    Attributes:
        starts: events that start a flow.
        steps: events of a flow between its start and its end.
        ends: events that end a flow; one flow may have several.
        flows: different flows.
        without_start: flows of which only steps or ends are there.
        without_end: flows that start and never end.

    """

    starts: int = 0
    steps: int = 0
    ends: int = 0
    flows: int = 0
    without_start: int = 0
    without_end: int = 0


class Flows:
    """Gathers the flow events of one file, eight bytes for each flow."""

    def __init__(self) -> None:
        """Begin a file."""
        self.counts = FlowCounts()
        self._new = array("q")
        self._known = np.empty(0, "q")

    def add(self, events: Sequence[Event]) -> None:
        """Add events of the phases s, t and f; a flow has one category, name and id."""
        if str in set(map(type, [event.id for event in events])):
            keys = [hash((one.cat, one.name, identity(one.id))) for one in events]
        else:
            keys = [hash((one.cat, one.name, one.id)) for one in events]
        self._add(keys, [PHASES[event.ph] for event in events])

    def add_bound(self, events: Sequence[Event]) -> None:
        """Add slices with a `bind_id`, which may end a flow and begin it anew."""
        bound = [one for one in events if one.bind_id is not None]
        bound = [one for one in bound if one.flow_in or one.flow_out]
        keys = [hash(("bind_id", identity(event.bind_id))) for event in bound]
        self._add(keys, [_way(event) for event in bound])

    def close(self) -> FlowCounts:
        """Count what lacks its other end."""
        self._join()
        started, ended = self._known & START != 0, self._known & END != 0
        self.counts.flows = len(self._known)
        self.counts.without_start = int((~started).sum())
        self.counts.without_end = int((started & ~ended).sum())
        return self.counts

    def _add(self, keys: list[int], ways: list[int]) -> None:
        if not keys:
            return
        self.counts.starts += ways.count(START)
        self.counts.steps += ways.count(STEP)
        self.counts.ends += ways.count(END)
        rows = np.frombuffer(array("q", keys), "q") & ~np.int64(7)
        self._new.frombytes((rows | np.array(ways, "q")).tobytes())
        if len(self._new) >= ROWS:
            self._join()

    def _join(self) -> None:
        """Keep one number for each flow: its hash, and in three bits what it has."""
        rows = np.sort(np.append(self._known, np.frombuffer(self._new, "q")))
        self._new = array("q")
        if len(rows):
            heads = np.flatnonzero(np.diff(rows >> 3, prepend=(rows[0] >> 3) - 1))
            bits = np.bitwise_or.reduceat(rows & 7, heads)
            self._known = (rows[heads] & ~np.int64(7)) | bits


def _way(event: Event) -> int:
    if event.flow_in and event.flow_out:
        return STEP
    return START if event.flow_out else END
