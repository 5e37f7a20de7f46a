"""What limits the numbers of a recording: findings about counters and energies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Final

from registry.documents.findings import Finding, Severity, code, finding
from tools.readings.series import Series
from tools.recording.counting import STUCK_SECONDS, Growth
from tools.recording.mirroring import mirrors
from tools.recording.recording import CELLS, Recording
from tools.sources.rapl import longest_interval_seconds

if TYPE_CHECKING:
    from tools.recording.summary import Energy

__all__ = ["doubts"]

DISAGREE: Final = code(
    "O010",
    Severity.WARNING,
    "Two ways of measuring one device's energy disagree.",
    "Report both with their source. Measure for a minute or longer at a steady load to"
    " tell a wrong meter from a lagging one.",
)
STUCK: Final = code(
    "O011",
    Severity.WARNING,
    "An energy counter stood still.",
    "Do not use its energy: nothing that is on draws no power.",
)
INVALID: Final = code(
    "O012",
    Severity.WARNING,
    "How much a counter grew cannot be known.",
    "Sample more often, and measure again; the raw readings are kept.",
)
GAPS: Final = code(
    "O014",
    Severity.WARNING,
    "Readings of a series failed while recording.",
    "See the reason; those rows are empty, not 0.",
)
TOO_SLOW: Final = code(
    "O015",
    Severity.WARNING,
    "The interval is too long for a counter that begins again at 0.",
    "Sample more often.",
)
MISSED: Final = code(
    "O016",
    Severity.WARNING,
    "Deadlines passed while a sample was still being read.",
    "Take a longer --interval-ms or fewer --sources.",
)
FULL: Final = code(
    "O017",
    Severity.WARNING,
    "Samples were left out afterwards: there was no room for all.",
    "Take a longer --interval-ms or fewer --sources.",
)

_DISAGREEMENT: Final = 0.1
_SHORT_SECONDS: Final = 2.0  # two windows of NVML's average, see measuring.md
_GAPS_SHOWN: Final = 20
_MISSED_SHARE: Final = 0.01


def doubts(
    recording: Recording, growths: Mapping[str, Growth], energies: Sequence[Energy]
) -> tuple[Finding, ...]:
    """Everything that limits what a summary says.

    Args:
        recording: the readings.
        growths: of each counter, by its column.
        energies: all energies.
    """
    found = [
        *_of_counters(recording, growths),
        *_disagreements(energies),
        *mirrors(recording),
        *_gaps(recording),
        *_pace(recording),
    ]
    return tuple(found)


def _of_counters(
    recording: Recording, growths: Mapping[str, Growth]
) -> Iterator[Finding]:
    for one in recording.columns:
        growth = growths.get(one.name)
        if growth is None:
            continue
        energy = one.unit == "joules"
        if energy and growth.stuck_seconds > STUCK_SECONDS:
            what = f"it stood still for {growth.stuck_seconds:.1f} s ({one.origin})"
            yield finding(STUCK, one.name, what)
        for problem in growth.problems:
            if energy and not growth.moved:
                continue  # said by the finding above
            severity = None if energy else Severity.INFO
            yield finding(INVALID, one.name, problem, severity=severity)
        yield from _pace_of(one, recording.pace.interval_ns / 1e9)


def _pace_of(one: Series, interval: float) -> Iterator[Finding]:
    longest = longest_interval_seconds(one)
    if longest is not None and interval > longest:
        what = f"an interval of {interval:g} s; at most {longest:.3g} s is safe"
        yield finding(TOO_SLOW, one.name, what)


def _disagreements(energies: Sequence[Energy]) -> Iterator[Finding]:
    for one, other in combinations(energies, 2):
        if one.device != other.device or one.coverage != other.coverage:
            continue
        methods = {one.method, other.method}
        if methods != {"counter", "integral"}:
            continue
        counter, integral = (one, other) if one.method == "counter" else (other, one)
        if counter.watts is None or integral.watts is None:
            continue
        if counter.joules is None or integral.joules is None:
            continue
        apart = abs(integral.watts - counter.watts)
        if apart <= _DISAGREEMENT * counter.watts:
            continue
        what = (
            f"{counter.joules:.0f} J by the counter {counter.series}, "
            f"{integral.joules:.0f} J by integrating {integral.series}, "
            f"over {counter.seconds:.1f} s"
        )
        short = min(counter.seconds, integral.seconds) < _SHORT_SECONDS
        severity = Severity.INFO if short else None
        yield finding(DISAGREE, one.device, what, severity=severity)


def _gaps(recording: Recording) -> Iterator[Finding]:
    gaps = sorted(recording.gaps.counts.items(), key=lambda one: -one[1])
    for (series, why), count in gaps[:_GAPS_SHOWN]:
        what = f"{count} reading{'' if count == 1 else 's'}: {why}"
        yield finding(GAPS, series, what)
    if len(gaps) > _GAPS_SHOWN:
        what = f"{len(gaps) - _GAPS_SHOWN} more series or reasons"
        yield finding(GAPS, "-", what)


def _pace(recording: Recording) -> Iterator[Finding]:
    pace = recording.pace
    if pace.missed > _MISSED_SHARE * (pace.ticks + pace.missed):
        what = f"{pace.missed} missed, {pace.late} late, {pace.ticks} kept"
        yield finding(MISSED, "-", what)
    if recording.full:
        what = f"more than {CELLS} numbers; one sample in {pace.interval_ns / 1e9:g} s"
        yield finding(FULL, "-", what)
