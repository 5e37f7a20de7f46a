"""Reads what `nsys export --type sqlite` wrote of a Nsight Systems report.

Its times are nanoseconds since the capture began. Tables are made only for what was
recorded, and columns came and went between versions (NVIDIA's "SQLite Export Schema
Reference"), so every one of them may be absent. What names the host and its
environment variables is not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from registry.documents.findings import RegistryError, finding
from tools.traces.imports.cupti import without_version
from tools.traces.imports.databases import NOT_READ, Database
from tools.traces.imports.imported import Account, Clock, Event
from tools.traces.imports.links import Links
from tools.traces.imports.nsys_counters import COUNTERS, counters
from tools.traces.imports.nsys_nvtx import NVTX, nvtx
from tools.traces.imports.nsys_objects import (
    BITS,
    MASK,
    OBJECTS,
    WORD,
    launch,
    name_objects,
    thread,
)
from tools.traces.imports.nsys_work import WORK, work
from tools.traces.imports.profiles import Profile, leftover
from tools.traces.imports.tracks import Tracks

__all__ = ["read_nsys"]

_CALLS: Final = {
    "CUPTI_ACTIVITY_KIND_RUNTIME": "cuda_runtime",
    "CUPTI_ACTIVITY_KIND_DRIVER": "cuda_driver",
    "CUDNN_EVENTS": "cudnn",
    "CUBLAS_EVENTS": "cublas",
    "OSRT_API": "os_runtime",
    "PROFILER_OVERHEAD": "overhead",
}
"""Tables of what threads did, each with its category."""
_START: Final = "TARGET_INFO_SESSION_START_TIME"
_EXPORT: Final = "META_DATA_EXPORT"
_NAMES: Final = {"StringIds", _START, _EXPORT, "sqlite_sequence"}
_VERSIONS: Final = {
    "EXPORT_PRODUCT_VERSION": "nsys",
    "EXPORT_SCHEMA_VERSION": "schema",
}
_SILENT: Final = ("ENUM_", "TARGET_INFO_", "META_DATA_")
"""What tables begin with that describe and are no activity."""


def read_nsys(database: Database, account: Account) -> Iterator[Event]:
    """Events of a database, in the order of its tables.

    Args:
        database: the open database.
        account: grows with what was read; its metadata name the origin of time.

    Raises:
        RegistryError: V050, V051 or V052: it is none of nsys's, damaged or too large.
    """
    timed = (*_CALLS, *WORK, NVTX, *COUNTERS)
    if not any(_has_rows(database, table) for table in timed):
        what = "it has no rows in any table of activities"
        raise RegistryError([finding(NOT_READ, str(database.path), what)])
    _describe(database, account)
    account.absent += sorted(set(timed) - set(database.tables))
    account.ignored += [
        table
        for table in leftover(database, {*timed, *OBJECTS, *_NAMES})
        if not table.startswith(_SILENT)
    ]
    calls = _launches(database, ("CUPTI_ACTIVITY_KIND_RUNTIME",), "globalTid")
    links = Links(calls, _launches(database, WORK, "globalPid"))
    names = database.texts("StringIds", "id", "value")
    tracks = Tracks(str(database.path))
    profile = Profile(database, account, Clock(0), tracks, names, links)
    name_objects(profile)
    yield from _thread_calls(profile)
    yield from work(profile)
    yield from nvtx(profile)
    yield from counters(profile)
    account.arrows = len(links)
    account.tracks = len(tracks)
    yield from tracks.events()


def _has_rows(database: Database, table: str) -> bool:
    return next(database.rows(table, ("start",)), None) is not None


def _describe(database: Database, account: Account) -> None:
    """Take over when the capture began, and what exported it."""
    for (epoch,) in database.rows(_START, ("utcEpochNs",)):
        if isinstance(epoch, int):
            account.metadata["baseTimeNanoseconds"] = epoch
    if "baseTimeNanoseconds" not in account.metadata:
        account.notes.append("when the capture began is not known: times begin at 0")
    versions = {
        _VERSIONS[name]: value
        for name, value in database.rows(_EXPORT, ("name", "value"))
        if name in _VERSIONS
    }
    if versions:
        account.metadata["exported"] = versions


def _launches(database: Database, tables: Iterable[str], owner: str) -> Iterator[int]:
    """What `launch` makes of each row that has times and a correlation number."""
    for table in tables:
        if table not in database.tables:
            continue
        start, end, number, whose = (
            database.column(table, one)
            for one in ("start", "end", "correlationId", owner)
        )
        # in SQL, since these are millions of rows before the first event
        statement = f"""
            SELECT (CASE typeof({whose}) WHEN 'integer'
                    THEN {whose} >> {BITS} & {MASK} ELSE 0 END) << 32
                   | ({number} & {WORD})
            FROM "{table}"
            WHERE typeof({start}) = 'integer' AND typeof({end}) = 'integer'
              AND {start} <= {end} AND typeof({number}) = 'integer' AND {number} <> 0
        """  # noqa: S608 - names of ours
        for (key,) in database.query(table, statement):
            yield key


def _thread_calls(profile: Profile) -> Iterator[Event]:
    columns = ("start", "end", "globalTid", "nameId", "correlationId", "returnValue")
    for table, category in _CALLS.items():
        rows = profile.database.rows(table, columns)
        for start, end, identity, name, correlation, returned in rows:
            track = thread(profile, identity, overlaps=category == "overhead")
            label = without_version(profile.name(name, f"{category} {name}"))
            args = {"correlation": correlation or None, "returned": returned or None}
            times = (start, end)
            event = profile.span(table, track, label, category, times, args)
            if event is not None:
                yield event
                if category == "cuda_runtime":
                    key = launch(track[0], correlation)
                    yield from profile.links.begin(event, key)
