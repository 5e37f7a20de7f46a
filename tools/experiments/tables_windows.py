"""When runs were on the clock of their samples, and that no two were at once.

A row of runs.csv is a window on CLOCK_MONOTONIC: a whole run, or a part of one that a
trace or a load's result names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from registry.documents.findings import Finding, RegistryError, Severity, code, finding
from tools.experiments.record import Run

if TYPE_CHECKING:
    from tools.experiments.tables_loads import LoadResult

__all__ = ["Window", "apart", "counted", "epoch_ns", "of_one_clock", "run_window"]

AT_ONCE: Final = code(
    "B080",
    Severity.ERROR,
    "Two runs were on the machine at the same time.",
    "Run with `--concurrent 1`: power belongs to one run at a time. Give folders of"
    " such runs only.",
)
CLOCKS: Final = code(
    "B081",
    Severity.ERROR,
    "Runs are not on one clock.",
    "Make tables of each part by itself: between them the machine was started again,"
    " slept, or its time was set.",
)
MACHINES: Final = code(
    "B082",
    Severity.ERROR,
    "Runs are of different machines.",
    "Make tables of each machine by itself.",
)

_SHOWN: Final = 10
_STEP_NS: Final = 5_000_000_000
"""Setting a clock at most steps by so much without a doubt about the machine."""
_DRIFT: Final = 500e-6  # the fastest slew of adjtimex(2)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Window:
    """What becomes a row of runs.csv.

    Attributes:
        run: the record that it is of.
        begin_ns: where it begins on CLOCK_MONOTONIC.
        end_ns: where it ends.
        span: the name of the part of the run; None if it is the whole run.
        measured: whether the run's own performance is of this window.
        load: the result of a load that was sent meanwhile.
    """

    run: Run
    begin_ns: int
    end_ns: int
    span: str | None = None
    measured: bool = True
    load: LoadResult | None = field(default=None, compare=False)


def epoch_ns(run: Run) -> int:
    """The start of a run in nanoseconds since 1970, to the microsecond."""
    started = datetime.fromisoformat(run.started) - _EPOCH
    seconds = started.days * 86_400 + started.seconds
    return (seconds * 1_000_000 + started.microseconds) * 1000


def run_window(run: Run) -> Window:
    """The window of a whole run."""
    begin = run.started_monotonic_ns
    return Window(run, begin, begin + round(run.wall_seconds * 1e9))


def counted(runs: Sequence[Run]) -> list[Run]:
    """Runs that are rows: those that were not made only to warm caches."""
    return [run for run in runs if not run.warm_up]


def of_one_clock(runs: Sequence[Run]) -> list[Run]:
    """Return runs in the order of their starts on one clock.

    Raises:
        RegistryError: B081, they are of several clocks; B082, of several machines.
    """
    ordered = sorted(runs, key=lambda run: (epoch_ns(run), run.run_id))
    found = [*_machines(ordered), *_clocks(ordered)]
    if found:
        raise RegistryError(found)
    return sorted(ordered, key=lambda run: run.started_monotonic_ns)


def _machines(runs: Sequence[Run]) -> Iterator[Finding]:
    kinds: dict[tuple[str, int], Run] = {}
    for run in runs:
        kinds.setdefault((run.host.cpu, run.host.cores), run)
    if len(kinds) > 1:
        said = "; ".join(f"{cpu}, {cores} processors" for cpu, cores in list(kinds)[:4])
        yield finding(MACHINES, list(kinds.values())[1].run_id, said)


def _clocks(runs: Sequence[Run]) -> Iterator[Finding]:
    for before, after in pairwise(runs):
        wall = epoch_ns(after) - epoch_ns(before)
        steady = after.started_monotonic_ns - before.started_monotonic_ns
        if abs(wall - steady) > _STEP_NS + _DRIFT * abs(wall):
            what = (
                f"{wall / 1e9:.1f} s after {before.run_id} by the time of day,"
                f" {steady / 1e9:.1f} s by the clock that never steps"
            )
            yield finding(CLOCKS, after.run_id, what)


def apart(windows: Sequence[Window]) -> list[Window]:
    """Return windows in order of time.

    Raises:
        RegistryError: B080, some overlap; the first ones.
    """
    ordered = sorted(windows, key=lambda one: (one.begin_ns, one.end_ns))
    found: list[Finding] = []
    last: Window | None = None
    for one in ordered:
        if last is not None and one.begin_ns < last.end_ns:
            shared = (min(one.end_ns, last.end_ns) - one.begin_ns) / 1e9
            what = f"{_named(last)} and {_named(one)} share {shared:.3f} s"
            found.append(finding(AT_ONCE, one.run.run_id, what))
        if last is None or one.end_ns > last.end_ns:
            last = one
    if found:
        raise RegistryError(found[:_SHOWN])
    return ordered


def _named(window: Window) -> str:
    name = window.span or window.run.label
    return f"{name[:60]} of {window.run.run_id}"
