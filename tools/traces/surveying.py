"""A first look at a trace that is going to be combined: its clock, before it moves."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw, UnsetType

from tools.traces.found import Found
from tools.traces.ignoring import Clock, Ignoring
from tools.traces.reading import decoded, pieces
from tools.traces.shapes import raw_number, raw_text
from tools.traces.wall_clocks import wall_ns

__all__ = ["Look", "Survey", "survey"]

EXACT_US: Final = 4e12
"""Below it the double of a time in µs is nearer to its nanosecond than to another."""


@dataclass(frozen=True, slots=True)
class Look:
    """What to look for.

    Attributes:
        metadata: the other keys, which may stand at the end of a file.
        first: the time of the first event.
        marker: the name of an event whose time is wanted.
        ignored: categories to be left out.
        take_out: whether their time is left out too.

    """

    metadata: bool = False
    first: bool = False
    marker: str | None = None
    ignored: frozenset[str] = frozenset()
    take_out: bool = False


@dataclass(slots=True)
class Survey:
    """What is known of a file.

    Attributes:
        path: the file.
        found: what reading it found; complete only if all of it was read.
        first_ns: the time of its first event that is kept, without ignored time.
        marker_ns: the time of its first marker, without ignored time.
        wall_ns: the wall time of its 0.
        clock: takes ignored time out.

    """

    path: Path
    found: Found = field(default_factory=Found)
    first_ns: int | None = None
    marker_ns: int | None = None
    wall_ns: int | None = None
    clock: Clock = field(default_factory=Clock)


class _Timed(msgspec.Struct, gc=False):
    """The fields that the quick look needs."""

    ph: str = ""
    name: str | None = None
    ts: float | None = None


class _Sliced(msgspec.Struct, gc=False):
    """The fields that ignored slices need, and times that are exact."""

    ph: str | UnsetType = UNSET
    pid: Any = UNSET
    tid: Raw | UnsetType = UNSET
    name: Raw | UnsetType = UNSET
    cat: Raw | UnsetType = UNSET
    ts: Raw | UnsetType = UNSET
    dur: Raw | UnsetType = UNSET


def survey(path: Path, look: Look) -> Survey:
    """Look at a trace: at its first events, or at all of it if that is needed.

    Args:
        path: the file.
        look: what for.

    Raises:
        RegistryError: V001 to V004, it is no trace; V021.
        OSError: it cannot be read.
    """
    seen = Survey(path)
    if look.take_out:
        _exactly(seen, look)
    elif look.first or look.marker is not None:
        if look.ignored or not _quickly(seen, look):
            seen.found = Found()
            _exactly(seen, look)
    elif look.metadata:
        for _ in pieces(path, seen.found):
            pass
    else:
        next(pieces(path, seen.found), None)
    if look.metadata:
        seen.wall_ns = wall_ns(seen.found.metadata)
    return seen


def _quickly(seen: Survey, look: Look) -> bool:
    """Find the first event and the marker; False if their times are too large."""
    first, mark = math.inf, None
    decode = msgspec.json.Decoder(list[_Timed], strict=False).decode
    for batch in decoded(seen.path, seen.found, decode):
        times = [one.ts for one in batch if one.ph != "M" and one.ts is not None]
        first = min(first, min(times, default=math.inf))
        if mark is None and look.marker is not None:
            named = (one for one in batch if one.name == look.marker and one.ph != "M")
            mark = next((one.ts for one in named if one.ts is not None), None)
    if any(abs(ts) > EXACT_US for ts in (first, mark or 0) if ts != math.inf):
        return False
    seen.first_ns = None if first == math.inf else round(first * 1000)
    seen.marker_ns = None if mark is None else round(mark * 1000)
    return True


def _exactly(seen: Survey, look: Look) -> None:
    """Find the first event, the marker and the ignored slices."""
    ignoring = Ignoring(look.ignored, str(seen.path))
    first = mark = None
    decode = msgspec.json.Decoder(list[_Sliced]).decode
    for batch in decoded(seen.path, seen.found, decode):
        for event in batch:
            if event.ph == "M" or (look.ignored and ignoring(event)):
                continue
            ns = raw_number(event.ts)
            if ns is None:
                continue
            if first is None or ns < first:
                first = ns
            if mark is None and look.marker is not None:
                mark = ns if raw_text(event.name) == look.marker else None
    seen.clock = ignoring.clock() if look.take_out else Clock()
    seen.first_ns = None if first is None else seen.clock(first)
    seen.marker_ns = None if mark is None else seen.clock(mark)
