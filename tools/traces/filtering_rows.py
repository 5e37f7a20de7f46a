"""Looks at each event of a trace once, and judges what can be judged alone.

Begins, ends, asynchronous events and arrows depend on others; they are gathered as rows
of numbers, and judged when the file is at its end.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from tools.traces.columns import Numbers
from tools.traces.filtering_conditions import Conditions, Patterns, all_of
from tools.traces.naming import Places
from tools.traces.typed import Event, identity

__all__ = ["DROP", "ENCLOSING", "ENDS", "KEEP", "LATER", "Judge", "Rows", "nanoseconds"]

DROP, KEEP, LATER = 0, 1, 2
ENDS: Final = 3
"""What an arrow does that ends; 1 begins, 2 goes on."""
ENCLOSING: Final = 4
"""Added if it ends at the slice around it."""
LATEST: Final = 4e15
"""Microseconds: later than 1970 and 126 years is no time."""
_ARROWS: Final = {"s": 1, "t": 2, "f": ENDS}
_GROUPS: Final = {
    # which letters a wanted letter stands for: no begin is kept without its end
    **dict.fromkeys("BE", "BE"),
    **dict.fromkeys("bne", "bne"),
    **dict.fromkeys("STpF", "STpF"),
    **dict.fromkeys("stf", "stf"),
    **dict.fromkeys("NOD", "NOD"),
}
_ALWAYS: Final = frozenset("Mc")
"""Names of processes and clock marks: without them the rest means less."""


@dataclass(slots=True)
class Rows:
    """Rows of numbers of some events, in the order of the file.

    Attributes:
        tracks: what the event belongs to: a thread, an asynchronous sequence, a flow.
        names: the number of its name, 0 for none; of an end `~number`.
        times: nanoseconds.
        ends: nanoseconds of the end of a complete event, else what `extra` says.
        events: the number of the event in the file.
        fits: whether it fits the conditions that it can be judged by alone.

    """

    tracks: array[int] = field(default_factory=lambda: array("q"))
    names: array[int] = field(default_factory=lambda: array("q"))
    times: array[int] = field(default_factory=lambda: array("q"))
    ends: array[int] = field(default_factory=lambda: array("q"))
    events: array[int] = field(default_factory=lambda: array("q"))
    fits: bytearray = field(default_factory=bytearray)

    def add(
        self, track: int, name: int, time: int, end: int, event: int, *, fits: bool
    ) -> None:
        """Add one."""
        self.tracks.append(track)
        self.names.append(name)
        self.times.append(time)
        self.ends.append(end)
        self.events.append(event)
        self.fits.append(fits)


class Judge:
    """Judges the events of one file.

    Attributes:
        verdicts: one of `DROP`, `KEEP` and `LATER` for each event.
        complete: complete events, by thread.
        nested: begins and ends, by thread.
        sequences: asynchronous events that begin or end something, by their identity.
        steps: asynchronous events between those.
        arrows: arrows by thread; `names` is the flow, `ends` what it does there.
        untimed: events without a time, by phase; they are dropped.

    """

    def __init__(self, conditions: Conditions) -> None:
        """Understand the conditions.

        Raises:
            RegistryError: V055: a pattern cannot be understood.
        """
        of = conditions
        self._conditions = of
        given = {
            "--name": of.names,
            "--not-name": of.not_names,
            "--category": of.categories,
        }
        self._names, self._not, self._categories = all_of(
            partial(Patterns, patterns, regex=of.regex, option=option)
            for option, patterns in given.items()
        )
        self._phases = frozenset("".join(_GROUPS.get(one, one) for one in of.phases))
        self._places = Places()
        self._numbers: dict[object, int] = {}
        self._start = -math.inf if of.start is None else of.start
        self._end = math.inf if of.end is None else of.end
        self.verdicts = bytearray()
        self.complete, self.nested, self.arrows = Rows(), Rows(), Rows()
        self.sequences, self.steps = Rows(), Rows()
        self.untimed: Counter[str] = Counter()

    def judge(self, events: list[Event], enclosing: set[int]) -> None:
        """Judge some events, and gather those that depend on others.

        Args:
            events: the events.
            enclosing: which of them are arrows that end at the slice around them.
        """
        named = [one.name or "" for one in events]
        for patterns in (self._names, self._not):
            patterns.learn(named)
        for at, event in enumerate(events):
            number = len(self.verdicts)
            self.verdicts.append(LATER)
            if event.ph in _ARROWS:
                self._arrow(event, number, enclosing=at in enclosing)
            else:
                self.verdicts[number] = self._verdict(event, number)

    def in_time(self, start: float, end: float) -> bool:
        """Whether something overlaps the wanted time."""
        if start == end:
            return self._start <= start <= self._end
        return start < self._end and end > self._start

    def lasting(self, starts: Numbers, ends: Numbers) -> Numbers:
        """Whether slices overlap the wanted time and are long enough."""
        inside = (starts < self._end) & (ends > self._start)
        inside |= (starts == ends) & (starts >= self._start) & (starts <= self._end)
        least = self._conditions.shortest
        return inside if least is None else inside & (ends - starts >= least)

    def _verdict(self, event: Event, number: int) -> int:
        phase = event.ph
        if phase in _ALWAYS:
            return KEEP if self._fits_place(event, names=phase == "M") else DROP
        time = self._time(event)
        if time is None:
            return DROP
        fits = self._fits(event)
        if phase == "X":
            return self._complete(event, number, time, fits=fits)
        if phase in {"B", "E"}:
            track = self._places[event.pid, event.tid]
            self.nested.add(track, self._name(event, "B"), time, 0, number, fits=fits)
            return LATER
        if phase and phase in "bneSTpF":
            self._asynchronous(event, number, time, fits=fits)
            return LATER
        return KEEP if fits and self.in_time(time, time) else DROP

    def _time(self, event: Event) -> int | None:
        if math.isnan(event.ts) or abs(event.ts) > LATEST:
            self.untimed[event.ph[:8] or "(no phase)"] += 1
            return None
        return nanoseconds(event.ts)

    def _name(self, event: Event, begins: str) -> int:
        """The number of a name, 0 for none; of an end `~number`."""
        name = self._number(("name", event.name)) if event.name else 0
        return name if event.ph in begins else ~name

    def _arrow(self, event: Event, number: int, *, enclosing: bool) -> None:
        time = self._time(event)
        if time is None:
            self.verdicts[number] = DROP
            return
        flow = self._number(("flow", event.cat, event.name, identity(event.id)))
        fits = not self._phases or event.ph in self._phases
        what = _ARROWS[event.ph] + (ENCLOSING if enclosing else 0)
        track = self._places[event.pid, event.tid]
        self.arrows.add(track, flow, time, what, number, fits=fits)

    def _complete(self, event: Event, number: int, time: int, *, fits: bool) -> int:
        length = 0 if math.isnan(event.dur) else nanoseconds(event.dur)
        end = time + max(length, 0)
        least = self._conditions.shortest
        kept = fits and self.in_time(time, end) and (least is None or length >= least)
        track = self._places[event.pid, event.tid]
        self.complete.add(track, 0, time, end, number, fits=kept)
        return KEEP if kept else DROP

    def _asynchronous(
        self, event: Event, number: int, time: int, *, fits: bool
    ) -> None:
        local = event.pid if b'"local"' in bytes(event.id2) else None
        whose = (event.scope, identity(event.id), bytes(event.id2)[:200], local)
        track = self._number(("sequence", event.cat, *whose))
        rows = self.steps if event.ph in "nTp" else self.sequences
        rows.add(track, self._name(event, "bS"), time, 0, number, fits=fits)

    def _fits(self, event: Event) -> bool:
        name, of = event.name or "", self._conditions
        if self._phases and event.ph not in self._phases:
            return False
        if of.names and name not in self._names:
            return False
        if of.not_names and name in self._not:
            return False
        if of.categories:
            categories = (event.cat or "").split(",")[:100]
            if not any(one.strip() in self._categories for one in categories):
                return False
        return self._fits_place(event)

    def _fits_place(self, event: Event, *, names: bool = False) -> bool:
        of = self._conditions
        if of.processes and str(0 if event.pid is None else event.pid) not in (
            of.processes
        ):
            return False
        if of.threads and not (names and event.name != "thread_name"):
            thread = event.pid if event.tid is None else event.tid
            return str(thread) in of.threads
        return True

    def _number(self, key: object) -> int:
        return self._numbers.setdefault(key, len(self._numbers) + 1)


def nanoseconds(microseconds: float) -> int:
    """Microseconds as nanoseconds, rounded once, the whole part exactly."""
    if abs(microseconds) > LATEST:
        return round(math.copysign(LATEST * 1000, microseconds))
    whole = math.floor(microseconds)
    return whole * 1000 + round((microseconds - whole) * 1000)
