"""Chrome counter events of a recording, for any viewer of traces.

A gauge is drawn as it was read. A counter is drawn as its rate: over each stretch the
value is the growth by the time, so that its area is what the counter grew.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tools.readings.series import Kind, Series
from tools.recording.counting import difference, rate_window_seconds

if TYPE_CHECKING:
    from tools.recording.recording import Recording

__all__ = ["counter_events"]


def counter_events(recording: Recording, pid: int) -> Iterator[dict[str, object]]:
    """Give the events of all series, series by series, each in order of time.

    Args:
        recording: the readings.
        pid: the number of the process under which a viewer shows them.

    Yields:
        A name for the process, then events of the phase ``C`` whose ``ts`` is
        CLOCK_MONOTONIC in microseconds. Of joules a rate is in watts.
    """
    yield {
        "ph": "M",
        "pid": pid,
        "tid": 0,
        "name": "process_name",
        "args": {"name": "monitor"},
    }
    for one in recording.columns:
        if one.kind is Kind.COUNTER:
            yield from _rates(recording, one, pid)
        else:
            for time_ns, reading in recording.points(one.name):
                yield _event(one.name, one.unit, time_ns, reading / one.steps, pid)


def _rates(recording: Recording, one: Series, pid: int) -> Iterator[dict[str, object]]:
    name, unit = _rate_name(one)
    window_ns = rate_window_seconds(one) * 1e9
    rate: float | None = None
    mark: tuple[int, int] | None = None
    grown = 0
    before = (0, 0)
    for time_ns, reading in recording.points(one.name):
        if mark is None:
            mark = time_ns, 0
        else:
            step, problem = difference(one, before, (time_ns, reading))
            grown += step
            passed = time_ns - mark[0]
            if problem is not None:
                mark, rate = (time_ns, grown), None
            elif passed >= window_ns:
                rate = (grown - mark[1]) / one.steps / (passed / 1e9)
                yield _event(name, unit, mark[0], rate, pid)
                mark = time_ns, grown
        before = time_ns, reading
    if rate is not None and mark is not None:
        yield _event(name, unit, mark[0], rate, pid)  # where the last stretch ends


def _rate_name(one: Series) -> tuple[str, str]:
    stem = one.name.removesuffix("_total")
    if one.unit == "joules":
        return stem.removesuffix("_joules") + "_watts", "watts"
    return f"{stem}_per_second", f"{one.unit} per second"


def _event(
    name: str, unit: str, time_ns: int, value: float, pid: int
) -> dict[str, object]:
    whole, part = divmod(time_ns, 1000)
    return {
        "ph": "C",
        "pid": pid,
        "tid": 0,
        "ts": time_ns / 1000 if part else whole,
        "name": name,
        "args": {unit: value},
    }
