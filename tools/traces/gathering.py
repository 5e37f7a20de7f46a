"""The events of one file, by kind: slices, flows, counters, instants."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from tools.traces.counters import Counters
from tools.traces.flows import Flows
from tools.traces.naming import Pairs, Place, Places, label
from tools.traces.reading import Found, decoded
from tools.traces.slices import Slices
from tools.traces.typed import Event, arguments, decode, decoded_raw, identity

__all__ = ["Gathered"]

PHASES: Final = 64
"""The most different phases that are told apart; the format has 26."""
PHASE_CHARACTERS: Final = 20
OTHER: Final = "(other)"
INSTANTS: Final = ("i", "I", "R", "n")
NUMBERS: Final = 1 << 48
"""Identities below are numbers of their own; others are hashed."""
SPACES: Final = 1 << 14
"""How many name spaces of such identities are told apart without hashing."""
KNOWN: Final = frozenset("BEXiIRCbneSTpFstfPNODMVvc()")
NAME_CHARACTERS: Final = 200


class _Lists(dict[str, Callable[[Event], None]]):
    """Events of one block by phase; those whose order matters share a list."""

    def __init__(self) -> None:
        super().__init__()
        self.of: dict[str, list[Event]] = {}
        self.complete: list[Event] = []
        self.nested: list[Event] = []
        self.asynchronous: list[Event] = []
        self.flows: list[Event] = []
        self.update(dict.fromkeys("beSF", self.asynchronous.append))
        self.update(dict.fromkeys("stf", self.flows.append))

    def __missing__(self, phase: str) -> Callable[[Event], None]:
        made = self.of[phase] = []
        self[phase] = made.append
        return made.append

    def take(self, events: Iterable[Event]) -> None:
        """Add events; the usual ones without a call that finds their list."""
        complete, nested = self.complete.append, self.nested.append
        for event in events:
            phase = event.ph
            if phase == "X":
                complete(event)
            elif phase in {"B", "E"}:
                nested(event)
            else:
                self[phase](event)

    def counts(self) -> Counter[str]:
        """How many events of each phase there are."""
        found = Counter({phase: len(events) for phase, events in self.of.items()})
        found["X"] = len(self.complete)
        for events in (self.nested, self.asynchronous, self.flows):
            phases = "".join([event.ph for event in events])
            found.update({phase: phases.count(phase) for phase in set(phases)})
        return +found


class Gathered:
    """What is gathered of one file while it is read.

    Attributes:
        pairs: names and categories, which may be of several files.
        places: the threads of this file.
        slices: its slices.
        flows: its flows.
        counters: its counters.
        phases: how many events of each phase it has.
        unknown_phases: how many have a phase that the format does not know, or none.
        instants: how many instants of each name, by the number of the name.
        process_names: what its processes are called.
        thread_names: what its threads are called.

    """

    def __init__(self, pairs: Pairs) -> None:
        """Begin a file."""
        self.pairs = pairs
        self.places = Places()
        self.slices = Slices(pairs, self.places)
        self.flows = Flows()
        self.counters = Counters()
        self.phases: Counter[str] = Counter()
        self.unknown_phases = 0
        self.instants: Counter[int] = Counter()
        self._spaces: dict[tuple[object, ...], int] = {}
        self._may_bind = True
        self.process_names: dict[int | str, str] = {}
        self.thread_names: dict[Place, str] = {}

    def read(self, path: Path, found: Found) -> Iterator[None]:
        """Read a file, and stop after each block of it.

        Args:
            path: a trace.
            found: is filled meanwhile.

        Raises:
            RegistryError: it is no trace, or has too many threads (V030).
            OSError: it cannot be read.
        """
        self._may_bind = False
        for events in decoded(path, found, self._decode):
            self.add(events)
            yield

    def _decode(self, array: bytes) -> list[Event]:
        # Few traces bind slices to flows. Names may be written with escapes.
        self._may_bind = self._may_bind or b"bind_id" in array or b"\\u" in array
        return decode(array)

    def add(self, events: Iterable[Event]) -> None:
        """Add events, in the order of the file."""
        lists = _Lists()
        lists.take(events)
        self._count(lists.counts())
        self.slices.add_complete(lists.complete)
        self.slices.add_nested(lists.nested)
        if lists.asynchronous:
            keys = [self._key(event) for event in lists.asynchronous]
            self.slices.add_async(lists.asynchronous, keys)
        self.flows.add(lists.flows)
        if self._may_bind:
            self.flows.add_bound(lists.complete)
            self.flows.add_bound(lists.nested)
        self.counters.add(lists.of.get("C", []))
        for phase in INSTANTS:
            for event in lists.of.get(phase, ()):
                pair = self.pairs[event.name, event.cat]
                self.instants[self.pairs.name_of[pair]] += 1
        self._name(lists.of.get("M", ()))

    def labels(self, prefix: str) -> list[tuple[str, str]]:
        """What to call the process and the thread of each place."""
        return [
            (
                prefix + label(self.process_names, place[0], place[0]),
                label(self.thread_names, place, place[1]),
            )
            for place in self.places.places
        ]

    def release(self) -> None:
        """Let go of flows and counters, which were taken; slices need the room."""
        self.flows, self.counters = Flows(), Counters()

    def _count(self, counts: Counter[str]) -> None:
        for phase, count in counts.items():
            if phase not in KNOWN:
                self.unknown_phases += count
            short = phase[:PHASE_CHARACTERS]
            known = short in self.phases or len(self.phases) < PHASES
            self.phases[short if known else OTHER] += count

    def _place(self, event: Event) -> Place:
        return self.places.places[self.places[event.pid, event.tid]]

    def _name(self, events: Iterable[Event]) -> None:
        for event in events:
            if event.name not in {"process_name", "thread_name"}:
                continue
            name = str(arguments(event).get("name") or "")[:NAME_CHARACTERS]
            place = self._place(event)
            if event.name == "process_name":
                self.process_names[place[0]] = name
            else:
                self.thread_names[place] = name

    def _key(self, event: Event) -> int:
        """What an asynchronous event belongs to; the same number in every run."""
        whose: Any = event.id
        pid: int | str | None = None
        if len(event.id2) and isinstance(given := decoded_raw(event.id2), dict):
            # An identity may be that of its process only, or of all.
            pid = self._place(event)[0] if "local" in given else None
            whose = given.get("global" if pid is None else "local")
        # Older ones belong together by their name too; newer ones are nested.
        named = event.name if event.ph in "SF" else None
        number, space = identity(whose), (event.cat, named, event.scope, pid)
        if type(number) is int and 0 <= number < NUMBERS:
            if len(self._spaces) < SPACES:
                return (
                    self._spaces.setdefault(space, len(self._spaces)) * NUMBERS + number
                )
            if space in self._spaces:
                return self._spaces[space] * NUMBERS + number
        key = repr((number, space)).encode("utf-8", "replace")
        digest = hashlib.blake2b(key, digest_size=8).digest()
        return -1 - int.from_bytes(digest, "little") // 2
