"""Batches of events of which most are written as they stand in their file.

An event whose process keeps its number, and that is no end of an arrow, needs no
change where times are not moved. Taking such events apart and putting them together
again is most of the work of combining, so their text is passed on instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from tools.traces.identities import LINKED_PHASES
from tools.traces.shapes import Shape

__all__ = ["Passed", "Passing"]

_LONGEST_WAIT: Final = 64
"""How many batches are taken apart untried after one that could not be passed on."""


class _Light(msgspec.Struct, gc=False):
    """What tells whether an event changes; other types and keys of `RARE` are refused.

    Attributes:
        ph: its phase.
        pid: its process.
        bind_id: nothing, as the others: all of them are rewritten wherever they stand.

    """

    pid: int
    ph: str | UnsetType = UNSET
    bind_id: None = None
    id2: None = None
    sf: None = None
    esf: None = None


_lights: Final = msgspec.json.Decoder(list[_Light]).decode
_texts: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode


class Passed(list[Any]):
    """Events of which the first, the last and those with an identity are structs.

    Attributes:
        linked: events that have an identity that means something in the whole file.

    """

    __slots__ = ("linked",)

    linked: list[Any]


class Passing:
    """Decodes a file's batches: as texts where that is enough, else as structs."""

    __slots__ = ("_settled", "_shape", "_skip", "_wait")

    def __init__(self, shape: Shape, settled: Callable[[int], bool]) -> None:
        """Begin a file.

        Args:
            shape: makes structs.
            settled: whether a process keeps its number.
        """
        self._shape = shape
        self._settled = settled
        self._skip = self._wait = 0

    def decode(self, array: bytes) -> list[Any]:
        """Decode a JSON array of events; a `Passed` if most of them need no change.

        Raises:
            ValueError: as `Shape.decode`.
            RecursionError: likewise.
        """
        if self._skip:
            self._skip -= 1
            return self._shape.decode(array)
        passed = self._passed(array)
        if passed is None:  # what hinders one batch hinders the next ones, mostly
            self._wait = self._skip = min(2 * self._wait + 1, _LONGEST_WAIT)
            return self._shape.decode(array)
        self._wait = 0
        return passed

    def _passed(self, array: bytes) -> Passed | None:
        try:
            lights = _lights(array)
        except msgspec.ValidationError:
            return None
        phases = {event.ph for event in lights}
        # More lines than events: they are written anew, one in a line.
        if not lights or "M" in phases or array.count(b"\n") > len(lights) + 1:
            return None
        events = Passed(_texts(array))
        linked = phases & LINKED_PHASES
        rows = [at for at, one in enumerate(lights) if one.ph in linked]
        ordered = sorted({0, *rows, len(events) - 1})
        array = b"[%b]" % b",".join([events[row] for row in ordered])
        for row, event in zip(ordered, self._shape.decode(array), strict=True):
            events[row] = event
        pids = dict.fromkeys([event.pid for event in lights])  # numbered in this order
        if [pid for pid in pids if not self._settled(pid)]:
            return None
        found = [events[row] for row in ordered]
        events.linked = [event for event in found if event.ph in LINKED_PHASES]
        return events
