"""Reads what `nvprof --export-profile FILE` wrote: an SQLite database of CUPTI records.

Its times are whole nanoseconds since 1970. Names are numbers of rows in StringTable;
API calls have only numbers. Names of kernels stay mangled, as they are there. Tables
and columns are those of nvprof's format version 9 and later.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from registry.documents.findings import RegistryError, finding
from tools.traces.imports.cupti import OVERHEADS, call_name
from tools.traces.imports.databases import NOT_READ, Database
from tools.traces.imports.imported import Account, Clock, Event, times_of
from tools.traces.imports.links import Links
from tools.traces.imports.nvprof_environment import ENVIRONMENT, environment
from tools.traces.imports.nvprof_markers import MARKER, MARKER_DATA, markers
from tools.traces.imports.nvprof_objects import name_objects, object_track, thread
from tools.traces.imports.nvprof_work import WORK, work
from tools.traces.imports.profiles import Profile, leftover
from tools.traces.imports.tracks import Tracks

__all__ = ["read_nvprof"]

_CALLS: Final = {
    "CUPTI_ACTIVITY_KIND_RUNTIME": "runtime",
    "CUPTI_ACTIVITY_KIND_DRIVER": "driver",
}
_OVERHEAD: Final = "CUPTI_ACTIVITY_KIND_OVERHEAD"
_TIMED: Final = {
    **dict.fromkeys((*_CALLS, *WORK, _OVERHEAD), "start"),
    MARKER: "timestamp",
    ENVIRONMENT: "timestamp",
}
"""Tables of events in time, each with the column of its time."""
_OTHERS: Final = {
    "StringTable",
    "Version",
    "CUPTI_ACTIVITY_KIND_DEVICE",
    "CUPTI_ACTIVITY_KIND_NAME",
    MARKER_DATA,
    "sqlite_sequence",
}
"""Tables that are read beside them, or say nothing."""


def read_nvprof(database: Database, account: Account) -> Iterator[Event]:
    """Events of a database, in the order of its tables.

    Args:
        database: the open database.
        account: grows with what was read; its metadata name the origin of time.

    Raises:
        RegistryError: V050, V051 or V052: it is none of nvprof's, damaged or too large.
    """
    path = str(database.path)
    starts = [database.smallest(table, column) for table, column in _TIMED.items()]
    if not any(starts):
        what = "it has no rows in any table of CUPTI's activities"
        raise RegistryError([finding(NOT_READ, path, what)])
    clock = Clock(min(one for one in starts if one))
    account.metadata |= {"baseTimeNanoseconds": clock.origin}
    account.absent += sorted(set(_TIMED) - set(database.tables))
    account.ignored += leftover(database, {*_TIMED, *_OTHERS})
    links = Links(_correlations(database, _CALLS), _correlations(database, WORK))
    names = database.texts("StringTable", "_id_", "value")
    profile = Profile(database, account, clock, Tracks(path), names, links)
    name_objects(profile)
    yield from _calls(profile)
    yield from work(profile)
    yield from markers(profile)
    yield from _overhead(profile)
    yield from environment(profile)
    account.arrows = len(links)
    account.tracks = len(profile.tracks)
    yield from profile.tracks.events()


def _correlations(database: Database, tables: Iterable[str]) -> Iterator[int]:
    for table in tables:
        columns = ("start", "end", "correlationId")
        for start, end, number in database.rows(table, columns):
            if isinstance(number, int) and number and start and times_of(start, end):
                yield number


def _calls(profile: Profile) -> Iterator[Event]:
    columns = ("start", "end", "cbid", "processId", "threadId", "correlationId")
    for table, api in _CALLS.items():
        rows = profile.database.rows(table, (*columns, "returnValue"))
        for start, end, cbid, pid, tid, correlation, returned in rows:
            track = thread(profile, pid, tid)
            args = {"correlation": correlation, "returned": returned or None}
            name = call_name(api, cbid)
            times = (start or None, end)
            event = profile.span(table, track, name, f"cuda_{api}", times, args)
            if event is not None:
                yield event
                yield from profile.links.begin(event, correlation)


def _overhead(profile: Profile) -> Iterator[Event]:
    columns = ("start", "end", "overheadKind", "objectKind", "objectId")
    rows: Iterator[Any] = profile.database.rows(_OVERHEAD, columns)
    for start, end, kind, of, number in rows:
        name = OVERHEADS.get(kind, f"overhead {kind}")
        track = object_track(profile, of, number, "profiler's overhead")
        times = (start or None, end)
        event = profile.span(_OVERHEAD, track, name, "overhead", times)
        if event is not None:
            yield event
