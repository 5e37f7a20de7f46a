"""Writes the slices of a trace as speedscope's file: one evented profile a thread.

The format is that of https://www.speedscope.app/file-format-schema.json. Its events
must nest and come in order, so a slice that outlives the one around it is cut there.
Asynchronous slices have no place in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np

from tools.traces.slices import Batch
from tools.traces.timelines import Timeline

__all__ = ["write_speedscope"]

SCHEMA: Final = "https://www.speedscope.app/file-format-schema.json"
_encode: Final = msgspec.json.encode
_EVENTS: Final = 50_000


def write_speedscope(timeline: Timeline, out: Path, name: str) -> int:
    """Write a file of speedscope, thread by thread.

    Args:
        timeline: the gathered trace; its slices are closed here.
        out: the file.
        name: the name that the file shows.

    Returns:
        How many slices were written.
    """
    count = 0
    with out.open("xb") as file:
        file.write(
            b'{"$schema":%b,"name":%b,"profiles":[' % (_encode(SCHEMA), _encode(name))
        )
        first = True
        for batch in timeline.slices.close():
            if batch.asynchronous or not len(batch.starts):
                continue
            heads = np.flatnonzero(np.diff(batch.places, prepend=batch.places[0] - 1))
            for rows in np.split(np.arange(len(batch.starts)), heads[1:]):
                file.write(b"" if first else b",\n")
                first = False
                for part in _profile(timeline, batch, rows):
                    file.write(part)
                count += len(rows)
        frames = [{"name": one} for one in timeline.pairs.names]
        file.write(
            b'],"shared":{"frames":%b},"exporter":"powerkit"}\n' % _encode(frames)
        )
    return count


def _profile(timeline: Timeline, batch: Batch, rows: Any) -> Iterator[bytes]:
    """The text of a thread's profile, in parts."""
    place = timeline.places.places[int(batch.places[rows[0]])]
    starts, ends = batch.starts[rows], batch.starts[rows] + batch.durations[rows]
    head = {
        "type": "evented",
        "name": f"{timeline.process(place[0])}, {timeline.thread(place)}",
        "unit": "nanoseconds",
        "startValue": int(starts.min()),
        "endValue": int(ends.max()),
    }
    yield _encode(head)[:-1] + b',"events":['
    held: list[dict[str, Any]] = []
    first = True
    for event in _events(timeline, batch, rows):
        held.append(event)
        if len(held) == _EVENTS:
            yield (b"" if first else b",") + _encode(held)[1:-1]
            held, first = [], False
    if held:
        yield (b"" if first else b",") + _encode(held)[1:-1]
    yield b"]}"


def _events(timeline: Timeline, batch: Batch, rows: Any) -> Iterator[dict[str, Any]]:
    """Opens and closes in order; slices come by start, the longest first."""
    names = timeline.pairs.name_of
    open_: list[tuple[int, int]] = []
    for pair, start, length in zip(
        batch.pairs[rows].tolist(),
        batch.starts[rows].tolist(),
        batch.durations[rows].tolist(),
        strict=True,
    ):
        while open_ and open_[-1][1] <= start:
            frame, end = open_.pop()
            yield {"type": "C", "frame": frame, "at": end}
        end = start + length
        if open_:
            end = min(end, open_[-1][1])
        frame = names[pair]
        open_.append((frame, end))
        yield {"type": "O", "frame": frame, "at": start}
    while open_:
        frame, end = open_.pop()
        yield {"type": "C", "frame": frame, "at": end}
