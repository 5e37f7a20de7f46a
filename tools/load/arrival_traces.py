"""Recorded arrivals: times of a table, a plan, a Chrome trace or a list.

Tables are CSV or JSON lines with a column of times, as the public traces of LLM
services have them (Azure: TIMESTAMP as date and time, BurstGPT: Timestamp in seconds,
Mooncake: timestamp in JSON lines). Times are exact: they are never read as floats.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np

from registry.documents import limits
from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
    shown,
)
from tools.load.arrivals import LONGEST_NS, OPTION, REQUESTS, Replay
from tools.load.plan_file import read_plan
from tools.load.streams import Integers
from tools.traces.reading import Found, events

__all__ = ["instant_ns", "read_arrivals"]

_LINE_BYTES: Final = 256 * limits.KIB
_COLUMNS: Final = (
    "t_ns",
    "timestamp",
    "time",
    "arrival_time",
    "arrived_at",
    "time_seconds",
    "ts",
)
_UNIT_NS: Final = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,20}(\.[0-9]{0,30})?([eE][+-]?[0-9]{1,2})?")
_INSTANT: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2})"
    r"(?:\.([0-9]{1,18}))?(Z|[+-][0-9]{2}:[0-9]{2})?"
)
_BEGINNINGS: Final = frozenset("BXiIRbnSsO")

Q010 = code(
    "Q010",
    Severity.ERROR,
    "Recorded arrivals cannot be replayed.",
    "Name the column (column=…), its unit (unit=s|ms|us|ns) or the events of a Chrome"
    " trace (event=…) after the file; every row needs a time.",
)


def read_arrivals(replay: Replay) -> tuple[Integers, dict[str, Any]]:
    """The times of recorded arrivals in nanoseconds, ascending, and what was read.

    Raises:
        RegistryError: Q010, or what reading a plan or a Chrome trace raises.
        OSError: the file cannot be read.
    """
    path = replay.path
    facts: dict[str, Any] = {"file": path.name}
    with path.open("rb") as file:
        head = file.read(64).lstrip()
        file.seek(0)
        if replay.event is not None:
            times = _chrome(replay, facts)
        elif head.startswith(b'{"schema":"load-plan/'):
            times = _planned(replay, facts)
        else:
            times = _table(file, head, replay, facts)
        file.seek(0)  # it has an end, as is known by now
        facts["sha256"] = hashlib.file_digest(file, "sha256").hexdigest()
    if not times:
        raise RegistryError(finding(Q010, str(path), "there is no arrival in it"))
    return _from_origin(times, replay, facts), facts


def instant_ns(text: str, unit: str) -> int | None:
    """An instant in nanoseconds: a number of a unit, or a date and time (else UTC).

    Args:
        text: what stands in the file.
        unit: s, ms, us or ns, for a number.
    """
    text = text.strip()
    if _NUMBER.fullmatch(text):
        return round(Decimal(text) * _UNIT_NS[unit])
    if not (parts := _INSTANT.fullmatch(text)):
        return None
    try:
        instant = datetime.fromisoformat(f"{parts[1]}{parts[3] or ''}")
    except ValueError:
        return None
    if instant.tzinfo is None:
        instant = instant.replace(tzinfo=UTC)
    since = instant - datetime(1970, 1, 1, tzinfo=UTC)
    fraction = round(Decimal(f"0.{parts[2] or 0}") * 10**9)
    return (since.days * 86_400 + since.seconds) * 10**9 + fraction


def _planned(replay: Replay, facts: dict[str, Any]) -> list[int]:
    facts["form"] = "load-plan/1"
    times = read_plan(replay.path).requests.times
    if times is None:
        what = "the plan is a closed load, which has no times"
        raise RegistryError(finding(Q010, str(replay.path), what))
    return times.tolist()


def _chrome(replay: Replay, facts: dict[str, Any]) -> list[int]:
    found = Found()
    times: list[int] = []
    for event in events(replay.path, found):
        if event.get("name") != replay.event or event.get("ph") not in _BEGINNINGS:
            continue
        when = instant_ns(str(event.get("ts")), "us")
        if when is None:
            what = f"an event {shown(replay.event)} has no time: {shown(event)}"
            raise RegistryError(finding(Q010, str(replay.path), what))
        times.append(when)
        _refuse_many(len(times), replay.path)
    facts |= {"form": "chrome", "event": replay.event, "bad_events": found.bad_events}
    return times


def _table(
    file: BinaryIO, head: bytes, replay: Replay, facts: dict[str, Any]
) -> list[int]:
    times: list[int] = []
    problems: list[Finding] = []
    read = _json_lines if head.startswith(b"{") else _rows
    try:
        for line, text, unit in read(file, replay, facts):
            when = instant_ns(text, unit)
            if when is None:
                what = f"no time: {shown(text) or 'nothing'}"
                problems.append(finding(Q010, str(replay.path), what, line=line))
            else:
                times.append(when)
            _refuse_many(len(times), replay.path)
            if len(problems) == limits.SHOWN_PER_DOCUMENT:
                break
    except (csv.Error, UnicodeDecodeError) as error:
        what = f"no table in UTF-8: {error}"
        problems.append(finding(Q010, str(replay.path), what))
    if problems:
        raise RegistryError(problems)
    return times


def _rows(
    file: BinaryIO, replay: Replay, facts: dict[str, Any]
) -> Iterator[tuple[int, str, str]]:
    reader = csv.reader(_lines(file, replay.path), strict=True)
    first = next(reader, [])
    if len(first) == 1 and instant_ns(first[0], "s") is not None and not replay.column:
        facts |= {"form": "list", "unit": replay.unit or "s"}
        place, reader_rows = 0, chain([first], reader)
    else:
        place = _column(first, replay)
        facts |= {"form": "csv", "column": shown(first[place])}
        facts["unit"] = replay.unit or _unit_of(first[place])
        reader_rows = chain(reader)
    for row in reader_rows:
        if row:
            cell = row[place] if place < len(row) else ""
            yield reader.line_num, cell, facts["unit"]


def _json_lines(
    file: BinaryIO, replay: Replay, facts: dict[str, Any]
) -> Iterator[tuple[int, str, str]]:
    name = replay.column
    for number, line in enumerate(_lines(file, replay.path), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line, parse_float=str, parse_int=str)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            yield number, line, "s"
            continue
        if "form" not in facts:
            keys = [str(key) for key in row]
            name = keys[_column(keys, replay)]
            unit = replay.unit or _unit_of(name)
            facts |= {"form": "json lines", "column": shown(name), "unit": unit}
        yield number, str(row.get(name, "")), facts["unit"]


def _lines(file: BinaryIO, path: Path) -> Iterator[str]:
    number = 0
    while line := file.readline(_LINE_BYTES + 1):
        number += 1
        if len(line) > _LINE_BYTES:
            what = f"more than {_LINE_BYTES} bytes in a line"
            raise RegistryError(finding(Q010, str(path), what, line=number))
        yield line.decode("utf-8-sig" if number == 1 else "utf-8")


def _column(names: list[str], replay: Replay) -> int:
    """The place of the column of times."""
    plain = [name.strip().lower() for name in names]
    wanted = _COLUMNS if replay.column is None else (replay.column.lower(),)
    for name in wanted:
        for names_or_bases in (plain, [_without_unit(one) for one in plain]):
            if name in names_or_bases:
                return names_or_bases.index(name)
    known = ", ".join(shown(name) for name in names[:8]) or "none"
    asked = "that is known for times" if replay.column is None else "of that name"
    what = f"no column {asked}; columns: {known}"
    raise RegistryError(finding(Q010, str(replay.path), what, line=1))


def _without_unit(column: str) -> str:
    base, _, ending = column.rpartition("_")
    return base if ending in _UNIT_NS else column


def _unit_of(column: str) -> str:
    ending = column.strip().lower().rpartition("_")[2]
    return ending if ending in _UNIT_NS else "s"


def _refuse_many(count: int, path: Path) -> None:
    if count > REQUESTS:
        what = f"more than {REQUESTS} arrivals"
        raise RegistryError(finding(Q010, str(path), what))


def _from_origin(times: list[int], replay: Replay, facts: dict[str, Any]) -> Integers:
    """Times from the beginning of the load, ascending."""
    facts["sorted"] = any(a > b for a, b in pairwise(times))
    times.sort()
    keep = "keep" if facts["form"] == "load-plan/1" else "first"
    facts["origin"] = replay.origin or keep
    facts["origin_ns"] = 0 if facts["origin"] == "keep" else times[0]
    first, last = times[0] - facts["origin_ns"], times[-1] - facts["origin_ns"]
    if not 0 <= first <= last <= LONGEST_NS:
        what = f"times from {shown(first)} to {shown(last)} ns are no schedule"
        raise RegistryError(finding(Q010, OPTION, what))
    return np.array([when - facts["origin_ns"] for when in times], dtype=np.int64)
