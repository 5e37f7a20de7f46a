"""The events of one file as they stand in a combined trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw

from tools.traces.identities import LINKED_PHASES, Identities, Processes, plain
from tools.traces.ignoring import Clock, Ignoring
from tools.traces.passing import Passed, Passing
from tools.traces.process_names import ProcessNames
from tools.traces.shapes import Shape, raw_number, raw_text
from tools.traces.writing import microseconds_text

__all__ = ["Changes", "Rewriting"]

LATE_NS: Final = 9 * 10**15
"""Above it a double of microseconds steps by more than a nanosecond."""

_encode: Final = msgspec.json.encode
_decode: Final = msgspec.json.Decoder().decode


@dataclass(frozen=True, slots=True)
class Changes:
    """What is changed in the events of a file.

    Attributes:
        shift_ns: what is added to every time.
        clock: takes the time of ignored events out, before that.
        ignored: tells which events are left out; None to keep all.
        names: new names by old ones.
        identities: makes ids of arrows unique; None to keep them.
        frames: is put before ids of stack frames.

    """

    shift_ns: int = 0
    clock: Clock = field(default_factory=Clock)
    ignored: Ignoring | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    identities: Identities | None = None
    frames: str = ""


class Rewriting:
    """Rewrites the events of a file, a batch at a time.

    Attributes:
        changes: what is changed.
        processes: how many processes there are.
        renumbered: how many of them got another number.
        renamed: how many events got another name.
        untimed: how many events have no time that could move.
        late: whether a time was moved to where viewers lose nanoseconds.
        names: the metadata events, which come last.
        shape: decodes the events whose times are needed.
        decode: decodes the events as quickly as what is changed in them allows.

    """

    __slots__ = (
        "_numbers",
        "_pids",
        "_plain",
        "changes",
        "decode",
        "late",
        "names",
        "renamed",
        "renumbered",
        "shape",
        "untimed",
    )

    def __init__(
        self, changes: Changes, processes: Processes, names: ProcessNames
    ) -> None:
        """Begin a file.

        Args:
            changes: what is changed.
            processes: numbers of all files.
            names: takes the metadata events.
        """
        self.changes = changes
        self._numbers = processes
        self._pids: dict[Any, int] = {}
        self._plain: dict[Any, int] = {}
        self.names = names
        self.renumbered = self.renamed = self.untimed = 0
        self.late = False
        self.shape = Shape()
        still = not (changes.shift_ns or changes.clock.taken_ns or changes.names)
        passing = Passing(self.shape, lambda pid: self._process(pid) == pid)
        whole = still and changes.ignored is None
        self.decode = passing.decode if whole else self.shape.decode

    def __call__(self, batch: list[Any]) -> list[Any]:
        """Rewrite events in place; give those that are written now."""
        if type(batch) is Passed:
            if self.changes.identities is not None:
                self._relink(batch.linked)
            self._watch(batch)
            return batch
        if (ignored := self.changes.ignored) is not None:
            batch = [event for event in batch if not ignored(event)]
        self._renumber(batch)
        phases = {event.ph for event in batch}
        timed = batch
        if "M" in phases:
            timed = [event for event in batch if event.ph != "M"]
        for step in self._wanted():
            for event in timed:
                step(event)
        if self.changes.identities is not None and phases & LINKED_PHASES:
            self._relink([one for one in timed if one.ph in LINKED_PHASES])
        if self.changes.shift_ns:
            self._shift(timed)
        self._watch(timed)
        return self._without_names(batch) if "M" in phases else batch

    def _renumber(self, batch: list[Any]) -> None:
        """Give events their new processes; most files keep theirs, at no cost."""
        pids = self._pids
        try:
            for old in dict.fromkeys([event.pid for event in batch]):
                pids[old] = self._process(old)
        except TypeError:  # a list or an object is no process, but has to be one
            for event in batch:
                _move(event, self._process(event.pid))
            return
        if any(new != old for old, new in pids.items()):
            for event in batch:
                if event.tid is UNSET:
                    _move(event, pids[event.pid])
                else:
                    event.pid = pids[event.pid]

    def _watch(self, batch: list[Any]) -> None:
        """See whether times are late, by the first and the last event of a batch."""
        for event in batch[:1] + batch[-1:]:
            if type(event.ts) is Raw:
                ns = raw_number(event.ts)
                self.late |= ns is not None and abs(ns) > LATE_NS

    def _without_names(self, batch: list[Any]) -> list[Any]:
        """Keep metadata events for the end; give the others."""
        keep = self.names.keep
        return [event for event in batch if event.ph != "M" or not keep(event)]

    @property
    def processes(self) -> int:
        """How many processes there are so far."""
        return len(self._plain)

    def _wanted(self) -> list[Callable[[Any], None]]:
        """What is done to each event, so that what is not wanted costs nothing."""
        changes, rare = self.changes, self.shape.rare
        steps: list[Callable[[Any], None]] = []
        if changes.identities is not None:
            steps += [self._bind] * ("bind_id" in rare) + [self._both] * ("id2" in rare)
        if changes.frames:
            steps += [partial(self._frame, key) for key in ("sf", "esf") if key in rare]
        if changes.names:
            steps.append(self._rename)
        if changes.clock.taken_ns:
            steps.append(self._take_out)
        return steps

    def _process(self, old: Any) -> int:
        value = plain(old)
        new = self._plain.get(value)
        if new is None:
            new = self._plain[value] = self._numbers.take(value)
            self.renumbered += new != value
            self.names.process(new, value)
        return new

    def _relink(self, linked: list[Any]) -> None:
        if (identities := self.changes.identities) is not None:
            for event in linked:
                if event.id is not UNSET:
                    event.id = identities.new(event.id)
                    identities.remapped += 1

    def _bind(self, event: Any) -> None:
        identities = self.changes.identities
        if identities is not None and event.bind_id is not UNSET:
            raw = event.bind_id
            event.bind_id = Raw(b"%d" % identities.new(_decode(raw)))
            identities.remapped += 1

    def _both(self, event: Any) -> None:
        """Replace the global one of two identities; a local one is of its process."""
        identities = self.changes.identities
        if identities is None or event.id2 is UNSET:
            return
        both = _decode(event.id2)
        if isinstance(both, dict) and "global" in both:
            both["global"] = identities.new(both["global"])
            event.id2 = Raw(_encode(both))
            identities.remapped += 1

    def _frame(self, key: str, event: Any) -> None:
        old = getattr(event, key)
        if old is not UNSET:
            setattr(event, key, Raw(_encode(f"{self.changes.frames}{_decode(old)}")))

    def _rename(self, event: Any) -> None:
        new = self.changes.names.get(raw_text(event.name) or "")
        if new is not None:
            event.name = Raw(_encode(new))
            self.renamed += 1

    def _shift(self, batch: list[Any]) -> None:
        shift = self.changes.shift_ns
        for event in batch:
            start = raw_number(event.ts)
            if start is None:
                self.untimed += 1
                continue
            ns = start + shift
            if -LATE_NS < ns < LATE_NS:
                event.ts = ns / 1000  # its shortest text has three decimals
            else:
                event.ts = Raw(microseconds_text(ns))

    def _take_out(self, event: Any) -> None:
        start = raw_number(event.ts)
        if start is None:
            return
        clock = self.changes.clock
        moved = clock(start)
        event.ts = Raw(microseconds_text(moved))
        if event.ph == "X":
            long = raw_number(event.dur)
            if long is not None and long > 0:
                event.dur = Raw(microseconds_text(clock(start + long) - moved))


def _move(event: Any, process: int) -> None:
    """Give an event another process; a missing thread was the old one."""
    if event.tid is UNSET and type(event.pid) is int and event.pid != process:
        event.tid = Raw(b"%d" % event.pid)
    event.pid = process
