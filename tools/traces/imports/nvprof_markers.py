"""Ranges and marks that a program set with NVTX, of nvprof's tables.

A range is two rows with one id: flags say which is its start. The row of the end has no
name.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, Final

from tools.traces.imports.cupti import (
    MARKER_END,
    MARKER_INSTANT,
    MARKER_START,
    OBJECT_PROCESS,
)
from tools.traces.imports.imported import Event
from tools.traces.imports.nvprof_objects import object_ids, thread
from tools.traces.imports.profiles import Profile

__all__ = ["MARKER", "MARKER_DATA", "markers"]

MARKER: Final = "CUPTI_ACTIVITY_KIND_MARKER"
MARKER_DATA: Final = "CUPTI_ACTIVITY_KIND_MARKER_DATA"
_COLUMNS: Final = ("timestamp", "flags", "id", "objectKind", "objectId", "name")
_PAYLOADS: Final = {
    # CUpti_MetricValueKind: how the eight bytes of a payload are to be read
    0: struct.Struct("<d"),
    1: struct.Struct("<Q"),
    4: struct.Struct("<q"),
}
_COLOURED: Final = 1 << 1


def markers(profile: Profile) -> Iterator[Event]:
    """Events of all ranges and marks."""
    yield from _instants(profile)
    yield from profile.ranges(_ranges(profile))


def _instants(profile: Profile) -> Iterator[Event]:
    for time, flags, _, kind, number, name in profile.database.rows(MARKER, _COLUMNS):
        if isinstance(flags, int) and flags & MARKER_INSTANT:
            track = thread(profile, *object_ids(number))
            label = profile.name(name, "mark")
            event = profile.instant(MARKER, track, label, "nvtx", time)
            if event is not None:
                yield event | ({"s": "p"} if kind == OBJECT_PROCESS else {})


def _ranges(profile: Profile) -> Iterator[tuple[Event, object, tuple[int, int]]]:
    """Ranges by their start; each end is used once."""
    data = _data(profile)
    ended = 0
    for row in _pairs(profile):
        if row is None:
            continue
        number, start, end, kind, begun_on, ended_on, name, domain = row
        track = thread(profile, *object_ids(begun_on))
        if end is None:
            profile.account.unmatched += 1
            continue
        ended += 1
        args = {"domain": profile.names(domain), **data.get(number, {})}
        label = profile.name(name, "range")
        event = profile.span(MARKER, track, label, "nvtx", (start, end), args)
        if event is not None:
            nests = kind != OBJECT_PROCESS and begun_on == ended_on
            yield event, track if nests else None, (start, end)
    profile.account.unmatched += max(_ends(profile) - ended, 0)


def _pairs(profile: Profile) -> Iterator[tuple[Any, ...] | None]:
    """Starts with their ends, sorted by start, longer ones first.

    A start with several ends comes as often; all but the first of them are None.
    """
    if MARKER not in profile.database.tables:
        return
    column = profile.database.column(MARKER, "domain")
    statement = f"""
        SELECT a.rowid, a.id, a.timestamp, b.timestamp, a.objectKind, a.objectId,
               b.objectId, a.name, {f"a.{column}" if column != "NULL" else column}
        FROM {MARKER} a
        LEFT JOIN {MARKER} b ON b.id = a.id AND b.flags & {MARKER_END}
        WHERE a.flags & {MARKER_START}
        ORDER BY a.timestamp, b.timestamp DESC
    """  # noqa: S608 - names of ours
    time, seen = None, set[object]()
    for row in profile.database.query(MARKER, statement):
        if row[2] != time:
            time, seen = row[2], set()
        yield None if row[0] in seen else row[1:]
        seen.add(row[0])


def _ends(profile: Profile) -> int:
    rows = profile.database.rows(MARKER, ("flags",))
    return sum(isinstance(flags, int) and bool(flags & MARKER_END) for (flags,) in rows)


def _data(profile: Profile) -> dict[object, dict[str, object]]:
    """Payload, colour and category of ranges that have any, by their id."""
    columns = ("id", "flags", "payloadKind", "payload", "color", "category")
    known: dict[object, dict[str, object]] = {}
    rows: Iterator[Any] = profile.database.rows(MARKER_DATA, columns)
    for number, flags, kind, payload, colour, category in rows:
        form = _PAYLOADS.get(kind)
        value = None
        if form and isinstance(payload, bytes) and len(payload) == form.size:
            value = form.unpack(payload)[0] or None
        coloured = isinstance(flags, int) and flags & _COLOURED
        args = {
            "payload": value,
            "colour": f"#{colour & 0xFFFFFF:06x}"
            if coloured and isinstance(colour, int)
            else None,
            "category": category or None,
        }
        if any(args.values()):
            known[number] = args
    return known
