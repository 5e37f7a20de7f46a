"""What an import made of a recording: its events, and an account of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tools.traces.writing import microseconds

__all__ = ["Account", "Clock", "Event", "asynchronous", "instant", "span", "times_of"]

Event = dict[str, Any]


@dataclass(slots=True)
class Account:
    """What was read and what was left out; it grows while events are read.

    Attributes:
        source: the tool that recorded.
        events: how many events the trace has.
        read: how many rows or events became events, by table or kind.
        untimed: how many had no usable time or were damaged, by table or kind.
        absent: tables that such a recording may have, and this one has not.
        ignored: tables that hold something else than events in time.
        unmatched: ends without a begin, and begins without an end.
        overlapping: spans of a thread that reach over the end of an earlier one, which
            became asynchronous events.
        arrows: arrows from calls to what they started.
        tracks: threads and streams.
        notes: what a reader should know of the result, as sentences.
        metadata: keys for the trace's own metadata.

    """

    source: str
    events: int = 0
    read: Counter[str] = field(default_factory=Counter)
    untimed: Counter[str] = field(default_factory=Counter)
    absent: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    unmatched: int = 0
    overlapping: int = 0
    arrows: int = 0
    tracks: int = 0
    notes: list[str] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Clock:
    """The origin of a trace's time.

    Times since 1970 in nanoseconds don't fit a JSON number, so they are counted from
    an origin that the metadata names.

    Attributes:
        origin: nanoseconds of the recording's clock that are 0 in the trace.
    """

    origin: int

    def at(self, nanoseconds: int) -> float:
        """A time in the trace's microseconds."""
        return microseconds(nanoseconds - self.origin)


def times_of(start: object, end: object) -> tuple[int, int] | None:
    """Two values of a database, if they are the times of a span."""
    if isinstance(start, int) and isinstance(end, int) and start <= end:
        return start, end
    return None


def span(
    clock: Clock,
    track: tuple[int, int],
    name: str,
    category: str,
    times: tuple[object, object],
    args: Mapping[str, object] | None = None,
) -> Event | None:
    """A complete event, or None if its times are none.

    Args:
        clock: the trace's origin.
        track: process and thread.
        name: its name.
        category: its category.
        times: begin and end in nanoseconds of the recording's clock.
        args: what else is known; what is None is left out.
    """
    usable = times_of(*times)
    if usable is None:
        return None
    start, end = usable
    event: Event = {
        "name": name,
        "cat": category,
        "ph": "X",
        "ts": clock.at(start),
        "dur": microseconds(end - start),
        "pid": track[0],
        "tid": track[1],
    }
    return _with(event, args)


def instant(
    clock: Clock,
    track: tuple[int, int],
    name: str,
    category: str,
    time: int,
    args: Mapping[str, object] | None = None,
) -> Event:
    """An event without a duration, on its thread; arguments as for `span`."""
    event: Event = {
        "name": name,
        "cat": category,
        "ph": "i",
        "s": "t",
        "ts": clock.at(time),
        "pid": track[0],
        "tid": track[1],
    }
    return _with(event, args)


def _with(event: Event, args: Mapping[str, object] | None) -> Event:
    known = {key: one for key, one in (args or {}).items() if one is not None}
    return event | {"args": known} if known else event


def asynchronous(event: Event, number: int) -> Iterator[Event]:
    """A complete event as a pair of nestable asynchronous ones."""
    begin = {key: one for key, one in event.items() if key != "dur"}
    yield begin | {"ph": "b", "id": number}
    keys = ("name", "cat", "pid", "tid")
    end = event["ts"] + event["dur"]
    yield {key: event[key] for key in keys} | {"ph": "e", "id": number, "ts": end}
