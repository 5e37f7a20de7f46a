"""Ranges and marks that a program set with NVTX, of Nsight Systems' table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tools.traces.imports.imported import Event
from tools.traces.imports.nsys_objects import thread
from tools.traces.imports.profiles import Profile

__all__ = ["NVTX", "nvtx"]

NVTX: Final = "NVTX_EVENTS"
_PAYLOADS: Final = (
    "uint64Value",
    "int64Value",
    "doubleValue",
    "uint32Value",
    "int32Value",
    "floatValue",
    "jsonText",
)
_COLUMNS: Final = (
    "start",
    "end",
    "eventType",
    "text",
    "textId",
    "globalTid",
    "endGlobalTid",
    "domainId",
    "category",
    *_PAYLOADS,
)
# ENUM_NSYS_EVENT_TYPE
_MARK: Final = 34
_PUSHED: Final = 59
_STARTED: Final = 60
_DOMAIN: Final = 75
_SORT: Final = 100_000
"""How many ranges that start together are sorted."""


def nvtx(profile: Profile) -> Iterator[Event]:
    """Events of all ranges and marks."""
    domains = _domains(profile)
    yield from _marks(profile, domains)
    yield from profile.ranges(_ranges(profile, domains))


def _rows(profile: Profile, order: str | None = None) -> Iterator[dict[str, Any]]:
    for values in profile.database.rows(NVTX, _COLUMNS, order=order):
        yield dict(zip(_COLUMNS, values, strict=True))


def _domains(profile: Profile) -> dict[object, str]:
    rows = (row for row in _rows(profile) if row["eventType"] == _DOMAIN)
    return {row["domainId"]: _label(profile, row, "") for row in rows}


def _marks(profile: Profile, domains: dict[object, str]) -> Iterator[Event]:
    for row in _rows(profile):
        if row["eventType"] == _MARK:
            track = thread(profile, row["globalTid"])
            args = _args(row, domains)
            label = _label(profile, row, "mark")
            event = profile.instant(NVTX, track, label, "nvtx", row["start"], args)
            if event is not None:
                yield event


def _ranges(
    profile: Profile, domains: dict[object, str]
) -> Iterator[tuple[Event, object, tuple[int, int]]]:
    """Ranges by their start, and of those that start together the longer first."""
    for row in _sorted(profile):
        if row["end"] is None:
            profile.account.unmatched += 1
            continue
        track = thread(profile, row["globalTid"])
        label = _label(profile, row, "range")
        times = (row["start"], row["end"])
        args = _args(row, domains)
        event = profile.span(NVTX, track, label, "nvtx", times, args)
        if event is not None:
            other = row["endGlobalTid"] not in {None, 0, row["globalTid"]}
            nests = row["eventType"] != _STARTED and not other
            yield event, track if nests else None, times


def _sorted(profile: Profile) -> Iterator[dict[str, Any]]:
    """Rows of ranges by their start; those that start together by falling end."""
    together: list[dict[str, Any]] = []
    for row in _rows(profile, order="start"):
        if row["eventType"] not in {_PUSHED, _STARTED, None}:
            continue
        if together and (row["start"] != together[0]["start"] or len(together) > _SORT):
            yield from sorted(together, key=_falling_end)
            together.clear()
        together.append(row)
    yield from sorted(together, key=_falling_end)


def _falling_end(row: dict[str, Any]) -> float:
    return -row["end"] if isinstance(row["end"], int) else 0


def _label(profile: Profile, row: dict[str, Any], otherwise: str) -> str:
    text = row["text"]
    if isinstance(text, str) and text:
        return text
    return profile.name(row["textId"], otherwise)


def _args(row: dict[str, Any], domains: dict[object, str]) -> dict[str, object]:
    found = (row[name] for name in _PAYLOADS)
    payload = next((one for one in found if isinstance(one, int | float | str)), None)
    return {
        "domain": domains.get(row["domainId"]),
        "category": row["category"] or None,
        "payload": payload,
    }
