"""The wall time of a trace, if its other keys tell of one."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, Final

__all__ = ["wall_ns"]

_SIZES: Final = ((1e17, 1), (1e14, 10**3), (1e11, 10**6), (1e8, 10**9))
"""From which size on a number of wall time is ns, µs, ms or s: all after 1973."""
_END: Final = 1e20
_NUMBER: Final = re.compile(r"[0-9]{9,19}\Z")
_INSTANT: Final = re.compile(r"(.{10}[Tt ].{8})(?:\.([0-9]{1,9}))?(.{1,6})\Z")


def wall_ns(metadata: dict[str, Any]) -> int | None:
    """The wall time of a trace's 0, ns since 1970, that its other keys tell of.

    PyTorch and viztracer write `baseTimeNanoseconds`, TRIMS `otherData.start_at`.
    """
    places: list[Any] = [metadata.get("baseTimeNanoseconds")]
    for key, names in (
        ("viztracer_metadata", ("baseTimeNanoseconds",)),
        ("otherData", ("baseTimeNanoseconds", "ts", "start_at")),
    ):
        inner = metadata.get(key)
        if isinstance(inner, dict):
            places += [inner.get(name) for name in names]
    return next((ns for place in places if (ns := _instant(place)) is not None), None)


def _instant(value: Any) -> int | None:
    """A wall time as ns: a number of any usual unit, or a text of RFC 3339."""
    if isinstance(value, str):
        if not _NUMBER.match(value):
            return _text(value)
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    unit = next((unit for least, unit in _SIZES if least <= value < _END), None)
    return None if unit is None else int(value * unit)


def _text(text: str) -> int | None:
    """Whole seconds and nanoseconds apart: a datetime holds microseconds only."""
    match = _INSTANT.match(text)
    if match is None:
        return None
    try:
        second = datetime.fromisoformat(match[1] + match[3])
    except ValueError:
        return None
    if second.tzinfo is None:
        return None
    return int(second.timestamp()) * 10**9 + int((match[2] or "0").ljust(9, "0"))
