"""Mean over time and integral of a gauge, by trapezoids between its readings.

level = gauge_level(series, recording.points(series.name))
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tools.readings.series import Series

__all__ = ["Level", "gauge_level"]


@dataclass(slots=True)
class Level:
    """What a gauge did between its first and last reading.

    Attributes:
        count: how many readings there are.
        minimum: the smallest reading, in units.
        peak: the largest one.
        last: the latest one.
        integral: the sum of trapezoids, in units times seconds.
        seconds: the time that they cover.
        gap_seconds: time between readings that is too long to be drawn a line over.
        first_ns: the instant of the first reading.
        last_ns: the instant of the last one.

    """

    count: int = 0
    minimum: float | None = None
    peak: float | None = None
    last: float | None = None
    integral: float = 0.0
    seconds: float = 0.0
    gap_seconds: float = 0.0
    first_ns: int = 0
    last_ns: int = 0

    @property
    def mean(self) -> float | None:
        """The mean over the covered time; the reading itself if there is but one."""
        if self.seconds > 0:
            return self.integral / self.seconds
        return self.last


def gauge_level(
    series: Series, points: Iterable[tuple[int, int]], gap_ns: float
) -> Level:
    """Follow a gauge.

    Args:
        series: the gauge.
        points: instants in nanoseconds and readings in steps, in order of time.
        gap_ns: a longer time between two readings is a gap: it is not integrated.
    """
    level = Level()
    before: float | None = None
    steps = series.steps  # of a day there are millions of readings
    for time_ns, reading in points:
        value = reading / steps
        if before is None or level.peak is None or level.minimum is None:
            level.minimum = level.peak = value
            level.first_ns = time_ns
        else:
            level.minimum = min(level.minimum, value)
            level.peak = max(level.peak, value)
            passed = time_ns - level.last_ns
            if passed > gap_ns:
                level.gap_seconds += passed / 1e9
            else:
                level.integral += (before + value) / 2 * (passed / 1e9)
                level.seconds += passed / 1e9
        level.count += 1
        level.last = before = value
        level.last_ns = time_ns
    return level
