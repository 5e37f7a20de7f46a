"""The slices, threads and counters of one trace, gathered for drawing and converting.

timeline = read_timeline(Path("trace.json"))
for batch in timeline.slices.close():
    ...
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from tools.traces.columns import Numbers, Table
from tools.traces.naming import Pairs, Place, Places, label
from tools.traces.reading import Found, decoded
from tools.traces.slices import Slices
from tools.traces.times import nanoseconds
from tools.traces.typed import Event, arguments, decode, identity

__all__ = ["Series", "Timeline", "read_timeline"]

SERIES: Final = 2000
"""The most series of counters that are gathered."""
_NAME_CHARACTERS: Final = 200


@dataclass(frozen=True, slots=True)
class Series:
    """A series of a counter.

    Attributes:
        pid: its process.
        name: the counter's name and the value's.
        times: nanoseconds, ascending.
        values: finite numbers, one for each time.
    """

    pid: int | str
    name: str
    times: Numbers
    values: Numbers


@dataclass(slots=True)
class Timeline:
    """What is gathered of a trace.

    Attributes:
        found: what reading found.
        pairs: numbers of names and categories.
        places: numbers of threads.
        slices: complete events, begins with ends, and asynchronous ones.
        instants: how many instants there are, which are not drawn.
        series_left_out: how many series of counters were one too many.

    """

    found: Found = field(default_factory=Found)
    pairs: Pairs = field(default_factory=Pairs)
    places: Places = field(default_factory=Places)
    slices: Slices = field(init=False)
    instants: int = 0
    series_left_out: int = 0
    _processes: dict[int | str, str] = field(default_factory=dict)
    _threads: dict[Place, str] = field(default_factory=dict)
    _numbers: dict[tuple[int | str, str], int] = field(default_factory=dict)
    _values: Table = field(default_factory=lambda: Table("q", "d"))

    def __post_init__(self) -> None:
        """Begin to gather slices."""
        self.slices = Slices(self.pairs, self.places)

    def add(self, events: Iterable[Event]) -> None:
        """Add events, in the order of the file."""
        of: dict[str, list[Event]] = {}
        for event in events:
            of.setdefault(_KINDS.get(event.ph, ""), []).append(event)
        self.slices.add_complete(of.get("X", []))
        self.slices.add_nested(of.get("BE", []))
        if sequences := of.get("be", []):
            self.slices.add_async(sequences, [_sequence(one) for one in sequences])
        self.instants += len(of.get("i", ()))
        self._count(of.get("C", []))
        for event in of.get("M", ()):
            self._name(event)

    def process(self, pid: int | str) -> str:
        """A process's name with its number."""
        return label(self._processes, pid, pid)

    def thread(self, place: Place) -> str:
        """A thread's name with its number."""
        return label(self._threads, place, place[1])

    def names(self, place: Place) -> tuple[str | None, str | None]:
        """The names of a place's process and thread, where they have any."""
        return self._processes.get(place[0]), self._threads.get(place)

    def counters(self) -> Iterator[Series]:
        """All series of counters, in the order in which they were first seen."""
        for (pid, name), number in self._numbers.items():
            _, times, values = self._values.rows(number, number)
            order = np.argsort(times, kind="stable")
            yield Series(pid, name, times[order], values[order])

    def _place(self, event: Event) -> Place:
        return self.places.places[self.places[event.pid, event.tid]]

    def _name(self, event: Event) -> None:
        if event.name in {"process_name", "thread_name"}:
            name = str(arguments(event).get("name") or "")[:_NAME_CHARACTERS]
            place = self._place(event)
            if event.name == "process_name":
                self._processes[place[0]] = name
            else:
                self._threads[place] = name

    def _count(self, events: list[Event]) -> None:
        times, good = nanoseconds(array("d", [event.ts for event in events]))
        numbers, kept, values = array("q"), array("q"), array("d")
        for row in np.flatnonzero(good).tolist():
            event = events[row]
            pid = self._place(event)[0]
            for key, value in arguments(event).items():
                number = self._series(pid, event, str(key))
                if number is not None and _is_number(value):
                    numbers.append(number)
                    kept.append(int(times[row]))
                    values.append(float(value))
        self._values.add(numbers, np.array(kept, "q"), values)

    def _series(self, pid: int | str, event: Event, key: str) -> int | None:
        counter = event.name or "counter"
        if event.id is not None:
            counter = f"{counter}[{event.id}]"
        name = (pid, f"{counter}: {key}"[:_NAME_CHARACTERS])
        if name not in self._numbers and len(self._numbers) >= SERIES:
            self.series_left_out += 1
            return None
        return self._numbers.setdefault(name, len(self._numbers))


_KINDS: Final = {
    "X": "X",
    "C": "C",
    "M": "M",
    **dict.fromkeys("BE", "BE"),
    **dict.fromkeys("beSF", "be"),
    **dict.fromkeys("iIR", "i"),
}


def read_timeline(
    path: Path, *, progress: Callable[[str], None] = lambda _: None
) -> Timeline:
    """Gather a trace.

    Args:
        path: the file.
        progress: is given a line now and then.

    Raises:
        RegistryError: V001 to V004 or V030: it is no trace, or has too many threads.
        OSError: it cannot be read.
    """
    timeline = Timeline()
    for events in decoded(path, timeline.found, decode):
        timeline.add(events)
        progress(f"{timeline.found.events:,} events read")
    return timeline


def _sequence(event: Event) -> int:
    """What an asynchronous event belongs to, as a number."""
    whose: object = identity(event.id)
    if len(event.id2):
        text = bytes(event.id2)
        whose = text, event.pid if b'"local"' in text else None
    named = event.name if event.ph in "SF" else None
    return hash((named, event.cat, event.scope, whose))


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < 1e300
