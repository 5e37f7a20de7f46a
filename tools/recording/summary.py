"""Peak, mean and energy of a recording, with all that limits what they say.

    summary = recording.summary()
    [one.joules for one in summary.energies]

Energy is given by every way in which it was measured, each with its source: the
difference of a counter, and the integral of a power. They are compared, never mixed,
and never added up over devices.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise
from statistics import median
from typing import Final

from registry.documents.findings import Finding
from tools.readings.series import Kind, Series
from tools.recording.counting import Growth, counter_growth
from tools.recording.doubts import doubts
from tools.recording.gauging import gauge_level
from tools.recording.recording import Pace, Recording

__all__ = ["Energy", "ReadTimes", "SeriesSummary", "Summary", "summarised"]

_GAP_NS: Final = 1e9
_GAP_SPACINGS: Final = 5


@dataclass(frozen=True, slots=True)
class SeriesSummary:
    """What one series did.

    Attributes:
        name: its column.
        unit: its unit; of a counter the statistics are rates in this unit a second.
        kind: counter, instant, average or unknown.
        source: the source that read it.
        device: what was measured, for people.
        quantity: what was measured of the device.
        coverage: what the number covers.
        count: readings that are there.
        missing: readings that failed; those that were not due are no part of it.
        minimum: the smallest reading or rate; None if there is none.
        mean: the mean over time.
        peak: the largest reading or rate.
        last: the latest reading; of a counter too.
        total: how much a counter grew, in units; None of a gauge, or if unknown.
        turns: how often a counter began again at 0.
        problems: why there is no total.

    """

    name: str
    unit: str
    kind: str
    source: str
    device: str
    quantity: str
    coverage: str
    count: int
    missing: int
    minimum: float | None
    mean: float | None
    peak: float | None
    last: float | None
    total: float | None = None
    turns: int = 0
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Energy:
    """The energy of one device, by one way of measuring it.

    Attributes:
        device: what was measured.
        coverage: what it covers: package, core, uncore, dram, psys or gpu.
        method: ``counter`` or ``integral``.
        series: the column that it is of.
        joules: the energy; None if it cannot be known, and `why` says so.
        seconds: the time between its first and last reading, less `gap_seconds`.
        gap_seconds: time without readings that is not in it.
        before_seconds: time of the window before its first reading, not in it.
        after_seconds: time of the window after its last reading, not in it.
        why: why there is no number; empty if there is one.

    """

    device: str
    coverage: str
    method: str
    series: str
    joules: float | None
    seconds: float
    gap_seconds: float
    before_seconds: float
    after_seconds: float
    why: str = ""

    @property
    def watts(self) -> float | None:
        """The mean power over its own time."""
        if self.joules is None or self.seconds <= 0:
            return None
        return self.joules / self.seconds


@dataclass(frozen=True, slots=True)
class ReadTimes:
    """How long a source took to read: what measuring costs, in nanoseconds."""

    source: str
    median_ns: int
    worst_ns: int


@dataclass(frozen=True, slots=True)
class Summary:
    """What a recording says.

    Attributes:
        begin_ns: CLOCK_MONOTONIC where the window begins.
        end_ns: where it ends.
        rows: rows within it.
        series: what each series did, in the order of columns.
        energies: the energy of each device by each way of measuring it.
        pace: how well deadlines were kept, over the whole recording.
        read_times: what each source's reads took.
        findings: what limits these numbers.

    """

    begin_ns: int
    end_ns: int
    rows: int
    series: tuple[SeriesSummary, ...]
    energies: tuple[Energy, ...]
    pace: Pace
    read_times: tuple[ReadTimes, ...]
    findings: tuple[Finding, ...]

    @property
    def seconds(self) -> float:
        """How long the window is."""
        return (self.end_ns - self.begin_ns) / 1e9

    def document(self) -> dict[str, object]:
        """Everything as values for JSON, by the schema monitor/1."""
        return {
            "schema": "monitor/1",
            "seconds": self.seconds,
            "begin_monotonic_ns": self.begin_ns,
            "end_monotonic_ns": self.end_ns,
            "rows": self.rows,
            "pace": asdict(self.pace),
            "series": [asdict(one) for one in self.series],
            "energies": [asdict(one) for one in self.energies],
            "read_times": [asdict(one) for one in self.read_times],
            "findings": [asdict(one) for one in self.findings],
        }


def summarised(
    recording: Recording, begin_ns: int | None, end_ns: int | None
) -> Summary:
    """Summarise the rows of a recording within a window; see `Recording.summary`."""
    times = recording.times_ns
    first, last = (times[0], times[-1]) if len(times) else (0, 0)
    begin = first if begin_ns is None else begin_ns
    end = last if end_ns is None else end_ns
    rows = sum(begin <= time <= end for time in times)
    series: list[SeriesSummary] = []
    energies: list[Energy] = []
    growths: dict[str, Growth] = {}
    for one in recording.columns:
        points = _Points(recording, one.name, begin_ns, end_ns)
        failed = _failed(recording, one.name)
        if one.kind is Kind.COUNTER:
            growth = growths[one.name] = counter_growth(one, points)
            _stuck(one, growth)
            series.append(_of_counter(one, growth, failed))
            if one.unit == "joules":
                energies.append(_counted(one, growth, begin, end))
        else:
            summary, energy = _of_gauge(one, points, recording.pace, failed, begin, end)
            series.append(summary)
            energies += energy
    return Summary(
        begin,
        end,
        rows,
        tuple(series),
        tuple(energies),
        recording.pace,
        _read_times(recording),
        doubts(recording, growths, energies),
    )


class _Points:
    """The readings of a series within a window, without a copy of a long recording."""

    def __init__(
        self, recording: Recording, name: str, begin_ns: int | None, end_ns: int | None
    ) -> None:
        self._recording = recording
        self._name = name
        self._begin = begin_ns
        self._end = end_ns

    def __iter__(self) -> Iterator[tuple[int, int]]:
        points = self._recording.points(self._name)
        if self._begin is None and self._end is None:
            return points
        begin = float("-inf") if self._begin is None else self._begin
        end = float("inf") if self._end is None else self._end
        return (point for point in points if begin <= point[0] <= end)


def _failed(recording: Recording, name: str) -> int:
    counts = recording.gaps.counts.items()
    return sum(count for (series, _), count in counts if series == name)


def _stuck(series: Series, growth: Growth) -> None:
    """An energy counter that never moved is frozen, or was not renewed yet."""
    if series.unit == "joules" and not growth.moved and growth.count > 1:
        growth.total = None
        growth.problems.append(f"it stood still for {growth.seconds:.3g} s")


def _of_counter(one: Series, growth: Growth, failed: int) -> SeriesSummary:
    known = growth.total is not None
    return SeriesSummary(
        *_identity(one),
        growth.count,
        failed,
        growth.lowest if known else None,
        growth.mean(one),
        growth.peak if known else None,
        growth.last / one.steps if growth.count else None,
        None if growth.total is None else growth.total / one.steps,
        growth.turns,
        tuple(growth.problems),
    )


def _of_gauge(
    one: Series,
    points: _Points,
    pace: Pace,
    failed: int,
    begin: int,
    end: int,
) -> tuple[SeriesSummary, list[Energy]]:
    spaces = array("q", (after[0] - before[0] for before, after in pairwise(points)))
    usual = max(median(spaces) if spaces else 0, pace.interval_ns)
    level = gauge_level(one, points, max(_GAP_SPACINGS * usual, _GAP_NS))
    summary = SeriesSummary(
        *_identity(one),
        level.count,
        failed,
        level.minimum,
        level.mean,
        level.peak,
        level.last,
    )
    if one.quantity not in ("power", "average_power", "usage_power"):
        return summary, []
    known = level.seconds > 0
    energy = Energy(
        one.device,
        one.coverage,
        "integral",
        one.name,
        level.integral if known else None,
        level.seconds,
        level.gap_seconds,
        *_outside(level.count, level.first_ns, level.last_ns, begin, end),
        "" if known else "there are not two readings of it",
    )
    return summary, [energy]


def _counted(one: Series, growth: Growth, begin: int, end: int) -> Energy:
    why = "; ".join(growth.problems)
    if growth.total is None and not why:
        why = "there are not two readings of it"
    return Energy(
        one.device,
        one.coverage,
        "counter",
        one.name,
        None if growth.total is None else growth.total / one.steps,
        growth.seconds,
        0.0,
        *_outside(growth.count, growth.first_ns, growth.last_ns, begin, end),
        why if growth.total is None else "",
    )


def _outside(
    count: int, first_ns: int, last_ns: int, begin: int, end: int
) -> tuple[float, float]:
    """How much of the window lies before the first and after the last reading."""
    if not count:
        return 0.0, 0.0
    return max(first_ns - begin, 0) / 1e9, max(end - last_ns, 0) / 1e9


def _identity(one: Series) -> tuple[str, str, str, str, str, str, str]:
    kind = one.kind.value
    return (
        one.name,
        one.unit,
        kind,
        one.source,
        one.device,
        one.quantity,
        one.coverage,
    )


def _read_times(recording: Recording) -> tuple[ReadTimes, ...]:
    return tuple(
        ReadTimes(source, round(median(took)), max(took))
        for source, took in recording.took_ns.items()
        if len(took)
    )
