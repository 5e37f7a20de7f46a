"""Makes the events of other tools' JSON traces regular, one by one.

Numbers in quotes become numbers, names of processes and threads that stand where a
number belongs become names, and times since 1970 become times since an origin.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

from tools.traces.imports.imported import Account, Event
from tools.traces.imports.tracks import Tracks

__all__ = ["LATEST", "Normaliser", "as_object", "number"]

LATEST: Final = 9.0e12
"""Microseconds: a double beyond them has lost nanoseconds already."""
_TIMES: Final = ("ts", "dur", "tts", "tdur")
_NAMED: Final = 1 << 25
"""Number of the first process or thread that had a name in place of a number."""
_LARGEST: Final = 0xFFFF_FFFF
"""The largest number of a thread that viewers tell apart."""
_NAMES: Final = {"process_name": 0, "thread_name": 1}


def number(value: object) -> float | int | None:
    """A finite number, also if it is in quotes; None for everything else."""
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _quoted(text: str) -> float | int | None:
    if text.isascii() and text.isdigit() and len(text) < 20:
        return int(text)
    try:
        value = float(text[:64])
    except ValueError:
        return None
    return value if math.isfinite(value) else None


class Normaliser:
    """Makes events regular, and remembers the numbers that it gave."""

    def __init__(self, path: str, account: Account, *, origin: int = 0) -> None:
        """Begin.

        Args:
            path: the file, for findings.
            account: grows with what is read.
            origin: microseconds that are taken from each time.
        """
        self.tracks = Tracks(path)
        self._account = account
        self._origin = origin
        self._numbers: dict[tuple[object, ...], int] = {}
        self._named: set[tuple[int, int | None]] = set()

    def event(self, event: Event) -> Event | None:
        """A regular event, or None if it has no phase or no time.

        Args:
            event: the event as it was read; it is changed.
        """
        phase = event.get("ph")
        if not isinstance(phase, str) or not phase:
            self._account.untimed["events without a phase"] += 1
            return None
        if not self._times(event, phase):
            self._account.untimed[f"events {phase[:8]!r} without a time"] += 1
            return None
        pid = self._process(event.get("pid", 0))
        event["pid"] = pid
        if "tid" in event:
            event["tid"] = self._thread(pid, event["tid"])
        if phase == "M" and event.get("name") in _NAMES:
            of_thread = event["name"] == "thread_name"
            self._named.add((pid, event.get("tid", pid) if of_thread else None))
        self._account.read[_kind(phase)] += 1
        return event

    def names(self) -> Iterator[Event]:
        """Events that name what had a name in place of a number, and no other name."""
        for event in self.tracks.events():
            of_thread = event["name"] == "thread_name"
            if (event["pid"], event["tid"] if of_thread else None) not in self._named:
                yield event

    def _times(self, event: Event, phase: str) -> bool:
        for name in _TIMES:
            if name in event:
                value = number(event[name])
                if value is None:
                    del event[name]
                elif name == "ts":
                    event[name] = self._since(value)
                else:
                    event[name] = value
        if phase == "M":
            return True
        return "ts" in event and (phase != "X" or "dur" in event)

    def _since(self, value: float) -> float:
        if not self._origin:
            return value
        since = value - self._origin
        return since if isinstance(since, int) else round(since, 3)

    def _process(self, value: object) -> int:
        if isinstance(value, int) and 0 <= value <= _LARGEST:
            return value
        name = value if isinstance(value, str) else str(value)
        if name.isascii() and name.isdigit() and int(name[:11]) <= _LARGEST:
            return int(name)
        return self._number((name,), name or "(no process)")

    def _thread(self, pid: int, value: object) -> int:
        if isinstance(value, int) and 0 <= value <= _LARGEST:
            return value
        name = value if isinstance(value, str) else f"thread {value}"
        if name.isascii() and name.isdigit() and int(name[:11]) <= _LARGEST:
            return int(name)
        return self._number((pid, name), name or "(no thread)", pid)

    def _number(
        self, key: tuple[object, ...], name: str, pid: int | None = None
    ) -> int:
        given = self._numbers.get(key)
        if given is None:
            given = _NAMED + len(self._numbers)
            self._numbers[key] = given
            if pid is None:
                self.tracks.process(given, name[:200])
            else:
                self.tracks.thread(pid, given, name[:200])
        return given


_KINDS: Final[dict[str, str]] = {
    **dict.fromkeys("XBE", "slices"),
    **dict.fromkeys("iIR", "instants"),
    **dict.fromkeys("bneSTpF", "asynchronous"),
    **dict.fromkeys("stf", "arrows"),
    "C": "counters",
    "M": "names",
}


def _kind(phase: str) -> str:
    return _KINDS.get(phase, "others")


def as_object(value: object) -> dict[str, Any]:
    """A JSON object, or an empty one for everything else."""
    return value if isinstance(value, dict) else {}
