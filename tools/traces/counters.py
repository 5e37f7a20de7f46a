"""Counter events: least, greatest, last and mean value of each series, and energy."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec
import numpy as np

from tools.traces.columns import Numbers, Table
from tools.traces.times import nanoseconds
from tools.traces.typed import Event, arguments, identity

__all__ = ["Counters", "Series", "watts_factor"]

SERIES: Final = 20_000
"""The most series of a file."""
WATTS: Final = re.compile(
    r"(?:\A|[^A-Za-z])(m|k|milli|kilo)?(?:w|watts?)(?:[^a-z]|\Z)", re.IGNORECASE
)
NO_SERIES: Final = -1
EMPTY: Final = len("{}")
FACTORS: Final = {"": 1.0, "m": 1e-3, "milli": 1e-3, "k": 1e3, "kilo": 1e3}

_Counter = tuple[int | str | None, str | None, int | str | None]
_floats: Final = msgspec.json.Decoder(dict[str, float]).decode


@dataclass(frozen=True, slots=True)
class Series:
    """One series of a counter.

    Attributes:
        pid: its process.
        counter: the name of the counter, with its id if it has one.
        series: the name of the value.
        count: how many values there are.
        least: the least of them.
        mean: their mean, each weighted by the time until the next one.
        greatest: the greatest of them.
        last: the last of them.
        integral: values times seconds until the next one, all together.
        joules: the energy, if the values are power by their name; None if not.

    """

    pid: int | str
    counter: str
    series: str
    count: int
    least: float
    mean: float
    greatest: float
    last: float
    integral: float
    joules: float | None


class Counters:
    """Gathers the counter events of one file, 16 bytes a value."""

    def __init__(self) -> None:
        """Begin a file."""
        self.without_time = 0
        self.not_numbers = 0
        self.series_left_out = 0
        self._series: list[tuple[int | str, str, str]] = []
        self._numbers: dict[_Counter, dict[str, int]] = {}
        self._values = Table("q", "d")

    def add(self, events: Sequence[Event]) -> None:
        """Add events of the phase C."""
        times, good = nanoseconds(array("d", [event.ts for event in events]))
        if not good.all():
            self.without_time += int((~good).sum())
            events = [event for event, known in zip(events, good, strict=True) if known]
            times = times[good]
        series, rows, values = array("q"), array("q"), array("d")
        for row, event in enumerate(events):
            try:
                given = _floats(event.args)
            except ValueError:
                given = self._finite(event)
            numbers = self._numbers.get((event.pid, event.name, event.id))
            if numbers is None:
                numbers = self._numbers_of(event)
            for key, value in given.items():
                number = numbers.get(key)
                if number is None:
                    number = self._number(event, numbers, key)
                if number != NO_SERIES:
                    series.append(number)
                    rows.append(row)
                    values.append(value)
        self._values.add(series, times[np.frombuffer(rows, "q")], values)

    def _finite(self, event: Event) -> dict[str, float]:
        """The values of an event that are numbers; the others are counted."""
        given = arguments(event)
        found = {key: float(one) for key, one in given.items() if _is_number(one)}
        unread = not given and len(event.args) > EMPTY
        self.not_numbers += len(given) - len(found) + unread
        return found

    def _numbers_of(self, event: Event) -> dict[str, int]:
        """The series of a counter: one dict, however its process is written."""
        pid, name, id_ = _process(event), event.name or "", identity(event.id)
        numbers = self._numbers.setdefault((pid, name, id_), {})
        return self._numbers.setdefault((event.pid, event.name, event.id), numbers)

    def _number(self, event: Event, numbers: dict[str, int], series: str) -> int:
        """Number a new series, if it is not one too many."""
        if len(self._series) >= SERIES:
            self.series_left_out += 1
            return NO_SERIES
        counter = event.name or ""
        if event.id is not None:
            counter = f"{counter}[{event.id}]"
        numbers[series] = len(self._series)
        self._series.append((_process(event), counter, series))
        return numbers[series]

    def close(self) -> Iterator[Series]:
        """All series, in the order in which they were first seen."""
        for number, (pid, name, key) in enumerate(self._series):
            _, times, values = self._values.rows(number, number)
            order = np.argsort(times, kind="stable")
            times, values = times[order], values[order]
            integral, mean = _integrated(times, values)
            factor = watts_factor(name, key)
            yield Series(
                pid,
                name,
                key,
                len(values),
                float(values.min()),
                mean,
                float(values.max()),
                float(values[-1]),
                integral,
                None if factor is None else integral * factor,
            )


def watts_factor(counter: str, series: str) -> float | None:
    """What to multiply values with to get watts, or None if they are no power.

    The unit is a word of the name: `gpu_0_watts`, `Power (mW)`, `package kW`.
    """
    for text in (series, counter):
        if found := WATTS.search(text):
            return FACTORS[(found[1] or "").lower()]
    return None


def _process(event: Event) -> int | str:
    pid = identity(event.pid)
    return 0 if pid is None else pid


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _integrated(times: Numbers, values: Numbers) -> tuple[float, float]:
    """The integral over seconds, and the mean; the plain one of a single instant."""
    seconds = np.diff(times) / 1e9
    integral = float(np.dot(values[:-1], seconds))
    span = float(seconds.sum())
    return integral, integral / span if span > 0 else float(values.mean())
