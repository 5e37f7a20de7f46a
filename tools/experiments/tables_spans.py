"""What traces add to tables: spans that become runs, counters that become columns.

A trace has a clock of its own. If it tells the wall time of its 0, that is laid over
the clock of the samples by the start of its run, which is known on both; else its times
must be those of CLOCK_MONOTONIC themselves. Either way its spans must lie inside the
run.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from registry.documents.columns import Column, column
from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
    shown,
)
from tools.experiments.record import Run
from tools.experiments.tables_windows import Window, epoch_ns, run_window
from tools.experiments.tracing import trace_of
from tools.traces.found import Found
from tools.traces.gathering import Gathered
from tools.traces.naming import Pairs
from tools.traces.reading import decoded
from tools.traces.times import nanoseconds
from tools.traces.typed import Event, arguments, decode
from tools.traces.wall_clocks import wall_ns

__all__ = ["CATEGORY", "Traced", "traced"]

CATEGORY: Final = "cat:"
"""How a choice of spans begins that names their category."""

NO_TRACE: Final = code(
    "B089",
    Severity.ERROR,
    "A run has no trace in which its parts could be looked for.",
    "Run with `--trace`, or leave `--runs-from` and `--columns-from-trace` out.",
)
NO_SPAN: Final = code(
    "B090",
    Severity.ERROR,
    "A trace has no span of the name that was asked for.",
    "Look for its names: `powerkit trace summarize TRACE`.",
)
CLOCK: Final = code(
    "B091",
    Severity.ERROR,
    "The clock of a trace is not known.",
    "Have the workload write `baseTimeNanoseconds`, the wall time of its 0 in"
    " nanoseconds, or times of CLOCK_MONOTONIC in microseconds.",
)
UNCLOSED: Final = code(
    "B092",
    Severity.WARNING,
    "Spans have no end, so that they are no runs.",
    "See why the trace breaks off.",
)
MANY: Final = code(
    "B093",
    Severity.ERROR,
    "There are more runs than a bundle may have.",
    "Choose longer spans, or fewer folders.",
)
NO_COLUMN: Final = code(
    "B094",
    Severity.INFO,
    "Counters of a trace are no columns of the catalogue, so that they are left out.",
    "Name a counter as docs/columns.md does, with its unit, if it is one of them.",
)

_SLACK_NS: Final = 50_000_000  # wall time is slewed and written to the microsecond
_RUNS: Final = 10_000  # what the gate looks at
_NAMES: Final = 200


@dataclass(slots=True)
class Traced:
    """What a trace adds.

    Attributes:
        windows: its spans, in the order of their starts.
        columns: by name, instants on CLOCK_MONOTONIC in ns and values in base units.
        unknown: names of counters that are no columns.
        findings: what limits them.
    """

    windows: list[Window] = field(default_factory=list)
    columns: dict[str, tuple[array[int], array[float]]] = field(default_factory=dict)
    unknown: set[str] = field(default_factory=set)
    findings: list[Finding] = field(default_factory=list)


def traced(run: Run, span: str | None, *, counters: bool) -> Traced:
    """Read the trace of a run.

    Args:
        run: the run.
        span: the name of spans that become runs, or ``cat:`` and their category; None
            for none.
        counters: whether counters become columns.

    Raises:
        RegistryError: B089 to B091, B093; V codes.
    """
    path = trace_of(run)
    if path is None:
        raise RegistryError(finding(NO_TRACE, run.run_id, shown(run.label)))
    found, gathered, result = Found(), Gathered(Pairs()), Traced()
    for events in decoded(path, found, decode):
        gathered.add(event for event in events if event.ph != "C")
        if counters:
            _count(result, [event for event in events if event.ph == "C"])
    wall = wall_ns(found.metadata)
    shift = 0
    if wall is not None:
        shift = wall - (epoch_ns(run) - run.started_monotonic_ns)
    if span is not None:
        result.windows = _windows(run, gathered, span, shift, result)
    for name, (times, values) in result.columns.items():
        moved = array("q", [time + shift for time in times])
        result.columns[name] = moved, values
    _within(run, result, told=wall is not None)
    return result


def _windows(
    run: Run, gathered: Gathered, span: str, shift: int, result: Traced
) -> list[Window]:
    rows = list(_spans(gathered, span))
    whole = sorted((begin, end, name) for begin, end, name, open_ in rows if not open_)
    if len(whole) < len(rows):
        what = f"{len(rows) - len(whole)} of {len(rows)} spans {shown(span)}"
        result.findings.append(finding(UNCLOSED, run.run_id, what))
    if not whole:
        raise RegistryError(finding(NO_SPAN, run.run_id, shown(span)))
    if len(whole) > _RUNS:
        what = f"{len(whole)} spans {shown(span)}, at most {_RUNS}"
        raise RegistryError(finding(MANY, run.run_id, what))
    only = len(whole) == 1
    return [
        Window(run, begin + shift, end + shift, name, measured=only)
        for begin, end, name in whole
    ]


def _spans(gathered: Gathered, span: str) -> Iterator[tuple[int, int, str, bool]]:
    """Begin, end, name of each span that was asked for, and whether it has no end."""
    pairs = gathered.pairs
    category = span.startswith(CATEGORY)
    for batch in gathered.slices.close():
        texts = pairs.categories if category else pairs.names
        numbers = pairs.category_of if category else pairs.name_of
        wanted = span.removeprefix(CATEGORY) if category else span
        chosen = {
            pair for pair, number in enumerate(numbers) if texts[number] == wanted
        }
        for row in np.flatnonzero(np.isin(batch.pairs, list(chosen))).tolist():
            begin = int(batch.starts[row])
            name = pairs.names[pairs.name_of[int(batch.pairs[row])]]
            end = begin + int(batch.durations[row])
            yield begin, end, name, bool(batch.incomplete[row])


def _count(result: Traced, events: list[Event]) -> None:
    times, good = nanoseconds(array("d", [event.ts for event in events]))
    for event, time, timed in zip(events, times.tolist(), good.tolist(), strict=True):
        values = arguments(event)
        for key, value in values.items():
            entry = _entry(event.name or "", key, alone=len(values) == 1)
            if entry is None:
                if len(result.unknown) < _NAMES:
                    result.unknown.add(event.name or key)
                continue
            number = _number(value)
            if timed and number is not None:
                made = result.columns.setdefault(entry.name, (array("q"), array("d")))
                made[0].append(time)
                made[1].append(number)


def _entry(name: str, key: str, *, alone: bool) -> Column | None:
    """The column that a value of a counter is; a derived rate is none."""
    for text in (key, *([name] if alone else [])):
        entry = column(text, "samples") if len(text) <= _NAMES else None
        if entry is not None and entry.kind in ("gauge", "counter"):
            if entry.derived_from or entry.name == "time_seconds":
                return None
            return entry
    return None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _within(run: Run, result: Traced, *, told: bool) -> None:
    """Refuse a trace whose times are not those of its run.

    Raises:
        RegistryError: B091.
    """
    whole = run_window(run)
    first, last = whole.begin_ns - _SLACK_NS, whole.end_ns + _SLACK_NS
    begins = [one.begin_ns for one in result.windows]
    ends = [one.end_ns for one in result.windows]
    for times, _ in result.columns.values():
        begins.append(min(times))
        ends.append(max(times))
    if begins and not first <= min(begins) <= max(ends) <= last:
        how = "by the wall time that it tells" if told else "and it tells no wall time"
        what = (
            f"its times are {(min(begins) - whole.begin_ns) / 1e9:.3f} s to"
            f" {(max(ends) - whole.begin_ns) / 1e9:.3f} s after the run's start {how};"
            f" the run took {run.wall_seconds:.3f} s"
        )
        raise RegistryError(finding(CLOCK, run.run_id, what))
