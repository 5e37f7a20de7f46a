"""Put the clocks of several traces on one: by what offset each of them moves.

`none` leaves times as they are, `zero` begins each file at 0, `wall` uses the wall
clock that a file tells of, `marker` makes an event of the same name coincide, and
`offset` moves each by a given time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Final

from registry.documents.findings import RegistryError, Severity, code, finding
from tools.traces.aligning import Align
from tools.traces.surveying import Survey

__all__ = ["Align", "duration_ns", "offsets"]

V022 = code(
    "V022",
    Severity.ERROR,
    "Traces cannot be aligned by what was asked for.",
    "Choose another --align: zero needs nothing, marker an event that all files have.",
)


_UNITS: Final = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
_DURATION: Final = re.compile(r"([+-]?[0-9]*\.?[0-9]+)\s*(ns|us|ms|s)?\Z")


def duration_ns(text: str) -> int | None:
    """A time such as ``1.5ms`` or ``-20``, which is µs, in ns; None if it is none."""
    match = _DURATION.match(text.strip())
    if match is None or len(text) > 40:
        return None
    try:
        return int(Decimal(match[1]) * _UNITS[match[2] or "us"])
    except InvalidOperation:
        return None


def offsets(
    surveys: Sequence[Survey], align: Align, *, given: Sequence[int] = (), zero: bool
) -> list[int]:
    """The nanoseconds to add to the times of each file.

    Args:
        surveys: what is known of the files.
        align: how.
        given: the offsets for `offset`, one a file.
        zero: whether all together then move such that the first event is at 0.

    Raises:
        RegistryError: V022, with every file that lacks what is needed.
    """
    if align is Align.ZERO:
        moved = [-(one.first_ns or 0) for one in surveys]
    elif align is Align.WALL:
        bases = _all([one.wall_ns for one in surveys], surveys, "tells no wall time")
        moved = [base - min(bases) for base in bases]
    elif align is Align.MARKER:
        marks = _all([one.marker_ns for one in surveys], surveys, "has no such marker")
        moved = [marks[0] - mark for mark in marks]
    else:
        moved = list(given) or [0] * len(surveys)
    if zero:
        firsts = [
            one.first_ns + by
            for one, by in zip(surveys, moved, strict=True)
            if one.first_ns is not None
        ]
        moved = [by - min(firsts, default=0) for by in moved]
    return moved


def _all(
    values: Sequence[int | None], surveys: Sequence[Survey], lacks: str
) -> list[int]:
    missing = [
        finding(V022, str(survey.path), f"it {lacks}")
        for value, survey in zip(values, surveys, strict=True)
        if value is None
    ]
    if missing:
        raise RegistryError(missing)
    return [value for value in values if value is not None]
