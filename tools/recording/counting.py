"""How much a counter grew: over turns, gaps and resets, and never negative.

    growth = counter_growth(series, recording.points(series.name))

A difference between two readings is trusted only if the rate that it implies can be
true. What is not trusted is said, and then there is no total.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from tools.readings.series import Series

__all__ = [
    "STUCK_SECONDS",
    "Growth",
    "counter_growth",
    "difference",
    "rate_window_seconds",
]

STUCK_SECONDS: Final = 1.0
"""An energy counter that stands still for longer is stuck: nothing draws no power."""

_UNKNOWN_WATTS: Final = 1000.0
_HEADROOM: Final = 2.0  # turbo draws more than the limits that firmware tells of
_UNKNOWN_UPDATE_SECONDS: Final = 0.1
_JITTER: Final = 0.25  # an interface may give at once what it held back so long


@dataclass(slots=True)
class Growth:
    """What became of a counter between its first and last reading.

    Attributes:
        count: how many readings there are.
        first: the first reading, in steps, at `first_ns`.
        last: the last reading, at `last_ns`.
        total: steps that it grew, turns included; None if that cannot be known.
        turns: how often it began again at 0.
        peak: the largest rate in units a second, over windows long enough for the
            interface's pace; None if there is no such window.
        lowest: the smallest one.
        stuck_seconds: the longest time it stood still.
        moved: whether it ever changed.
        problems: why `total` is None, each reason once; or, of a counter that is no
            energy, how often it went down.

    """

    count: int = 0
    first: int = 0
    last: int = 0
    first_ns: int = 0
    last_ns: int = 0
    total: int | None = 0
    turns: int = 0
    peak: float | None = None
    lowest: float | None = None
    stuck_seconds: float = 0.0
    moved: bool = False
    problems: list[str] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """The time between the first and the last reading."""
        return (self.last_ns - self.first_ns) / 1e9

    def mean(self, series: Series) -> float | None:
        """The mean rate in units a second; None without two readings."""
        if self.total is None or self.seconds <= 0:
            return None
        return self.total / series.steps / self.seconds


def rate_window_seconds(series: Series) -> float:
    """Over how much time a rate is taken, at least: ten of the interface's updates."""
    return 10 * (series.update_seconds or _UNKNOWN_UPDATE_SECONDS)


def counter_growth(series: Series, points: Iterable[tuple[int, int]]) -> Growth:
    """Follow a counter.

    Args:
        series: the counter.
        points: instants in nanoseconds and readings in steps, in order of time.

    Returns:
        Its growth. A difference is invalid if the counter went down and does not turn,
        or turns at an unknown number; if a whole turn could have hidden in the time
        between; or if its rate is above what can be true.
    """
    growth = Growth()
    window = rate_window_seconds(series) * 1e9
    mark: tuple[int, int] | None = None  # where the window of the rate began
    still_ns = 0
    grown = 0  # like total, but it goes on after something invalid
    for time_ns, reading in points:
        if growth.count == 0:
            growth.first, growth.first_ns, still_ns = reading, time_ns, time_ns
            mark = time_ns, 0
        else:
            before = growth.last_ns, growth.last
            step, problem = difference(series, before, (time_ns, reading))
            if problem is not None:
                _refuse(series, growth, problem)
                mark = time_ns, grown
            else:
                grown += step
                growth.turns += reading < growth.last
                mark = _rated(series, growth, mark, (time_ns, grown), window)
            if reading != growth.last:
                growth.moved = True
                still_ns = time_ns
            stood = (time_ns - still_ns) / 1e9
            growth.stuck_seconds = max(growth.stuck_seconds, stood)
        growth.count += 1
        growth.last, growth.last_ns = reading, time_ns
    growth.total = grown if growth.total is not None and growth.count > 1 else None
    return growth


def difference(
    series: Series, before: tuple[int, int], after: tuple[int, int]
) -> tuple[int, str | None]:
    """How many steps a counter grew between two readings, or why that is unknown.

    Args:
        series: the counter.
        before: the instant in nanoseconds and the earlier reading in steps.
        after: the later ones.

    Returns:
        The growth, never negative, and None; or 0 and the reason.
    """
    seconds = (after[0] - before[0]) / 1e9
    step = after[1] - before[1]
    limit = _limit(series)
    if series.wraps and series.modulus is not None:
        if after[1] > series.modulus:
            return 0, "a reading is above the number at which the counter begins again"
        if limit is not None and seconds * limit >= series.modulus / series.steps:
            text = f"{seconds:.0f} s passed between two readings: a turn may be hidden"
            return 0, text
        step %= series.modulus
    elif step < 0:
        if series.wraps:
            return 0, "it began again at 0, and the number at which is unknown"
        return 0, "it went down: it was set back"
    if limit is not None and step / series.steps > limit * max(seconds, _JITTER):
        rate = step / series.steps / max(seconds, 1e-9)
        return 0, f"it jumped by what would be {rate:.0f} {series.unit} a second"
    return step, None


def _limit(series: Series) -> float | None:
    """The largest rate that is believed; energy always has one."""
    if series.rate_maximum is not None:
        return _HEADROOM * series.rate_maximum
    return _HEADROOM * _UNKNOWN_WATTS if series.unit == "joules" else None


def _refuse(series: Series, growth: Growth, problem: str) -> None:
    if problem not in growth.problems and len(growth.problems) < 10:
        growth.problems.append(problem)
    # The kernel's times of waiting and idling do step back a little (proc(5)), so only
    # energy is refused whole; of others the doubtful step is left out.
    if series.unit == "joules":
        growth.total = None


def _rated(
    series: Series,
    growth: Growth,
    mark: tuple[int, int] | None,
    here: tuple[int, int],
    window: float,
) -> tuple[int, int]:
    """Take the rate since the mark if enough time passed; give the next mark."""
    if mark is None:
        return here
    passed = here[0] - mark[0]
    if passed < window:
        return mark
    rate = (here[1] - mark[1]) / series.steps / (passed / 1e9)
    growth.peak = rate if growth.peak is None else max(growth.peak, rate)
    growth.lowest = rate if growth.lowest is None else min(growth.lowest, rate)
    return here
