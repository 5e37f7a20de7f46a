"""Run a workload of the kit phase by phase, and time each.

Phases: `import` of packages; `open`, which checks files; `data`; `init`, all else that
is made ready; `warm_up`; `run`, which performance is of. With `eager`, init ends before
anything is repeated. With `async` it goes on in a thread while the data is made, and
`wait` is what is left of it then. With `lazy` it is part of the first iteration.
"""

from __future__ import annotations

import threading
import time
from array import array
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Literal

from registry.documents.findings import RegistryError, Severity, code, finding
from tools.workloads.catalogue import Chosen
from tools.workloads.requirements import required
from tools.workloads.work import Conditions, Unit, Work

__all__ = ["MOST", "Course", "Hold", "Init", "Measured", "Span", "measure"]

Init = Literal["lazy", "eager", "async"]
Clock = Callable[[], int]

MOST: Final = 10_000_000
"""The most iterations of a run, whatever its duration."""
NANO: Final = 10**9

W004 = code(
    "W004",
    Severity.ERROR,
    "A workload needs more memory than there is.",
    "Choose smaller parameters, or a machine with more memory.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How a workload is run.

    Attributes:
        iterations: how often at most.
        duration: seconds after which no iteration begins; None for no such end.
        warm_up: iterations before that, which performance leaves out.
        init: when it is made ready.
        conditions: what it is told.
    """

    iterations: int = 10
    duration: float | None = None
    warm_up: int = 0
    init: Init = "eager"
    conditions: Conditions = field(default_factory=Conditions)


@dataclass(frozen=True, slots=True)
class Span:
    """A phase: its name, nanoseconds of its beginning and end, and its thread."""

    name: str
    start_ns: int
    end_ns: int
    thread: int

    @property
    def seconds(self) -> float:
        """How long it lasted."""
        return (self.end_ns - self.start_ns) / NANO


@dataclass(frozen=True, slots=True)
class Hold:
    """Memory that a workload took: for what, how much, when and in which thread."""

    name: str
    bytes: int
    at_ns: int
    thread: int


@dataclass(slots=True)
class Measured:
    """What a run gave.

    Attributes:
        started_ns: the clock when it began.
        started_epoch_ns: wall time at the same instant.
        unit: what `amount` counts.
        amount: how much the measured iterations did.
        spans: phases in the order in which they ended.
        holds: memory in the order in which it was taken.
        times: beginning and end of each iteration, those of the warm-up first.
        warm_up: how many of them are warm-up.
    """

    started_ns: int
    started_epoch_ns: int
    unit: Unit = "operations"
    amount: float = 0.0
    spans: list[Span] = field(default_factory=list)
    holds: list[Hold] = field(default_factory=list)
    times: array[int] = field(default_factory=lambda: array("q"))
    warm_up: int = 0

    @property
    def phases(self) -> dict[str, float]:
        """Seconds of each phase by name."""
        return {span.name: span.seconds for span in self.spans}

    @property
    def iterations(self) -> int:
        """How many were measured."""
        return len(self.times) // 2 - self.warm_up

    @property
    def performance(self) -> float | None:
        """How much was done a second, in `unit`; None if no time went by."""
        seconds = self.phases["run"]
        return self.amount / seconds if seconds > 0 else None

    def durations(self) -> list[int]:
        """Nanoseconds of each measured iteration."""
        measured = self.times[2 * self.warm_up :]
        return [measured[i + 1] - measured[i] for i in range(0, len(measured), 2)]


class _Run:
    """A run under way; each step is timed."""

    def __init__(self, chosen: Chosen, course: Course, clock: Clock) -> None:
        self.course = course
        self.chosen = chosen
        self.clock = clock
        self.measured = Measured(clock(), time.time_ns(), warm_up=course.warm_up)
        self.ready = False
        self.noting = threading.Lock()

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        start = self.clock()
        yield
        span = Span(name, start, self.clock(), threading.get_native_id())
        self.measured.spans.append(span)

    def opened(self) -> Work:
        with self.phase("import"):
            kind = self.chosen.builtin.load()
            required("threadpoolctl")
        with self.phase("open"):
            work = kind(self.chosen.values, self.course.conditions)
        self.measured.unit = work.unit
        return work

    def prepare(self, work: Work) -> None:
        with self.phase("data"), self._held(work):
            work.prepare()

    def initialise(self, work: Work) -> None:
        # OpenMP's limits are a thread's own.
        with self.phase("init"), self._held(work), limited(self.course.conditions):
            work.initialise()
        self.ready = True

    def both(self, work: Work) -> None:
        """Make the data, and make ready as the course says."""
        init = self.course.init
        if init == "async":
            with ThreadPoolExecutor(1, "init") as pool:
                going_on = pool.submit(self.initialise, work)
                self.prepare(work)
                with self.phase("wait"):
                    going_on.result()
            return
        self.prepare(work)
        if init == "eager":
            self.initialise(work)

    def repeat(self, work: Work) -> None:
        course = self.course
        if course.warm_up:
            with self.phase("warm_up"):
                for _ in range(course.warm_up):
                    self._once(work)
        with self.phase("run"):
            end = None
            if course.duration is not None:
                end = self.clock() + round(course.duration * NANO)
            for _ in range(course.iterations):
                self.measured.amount += self._once(work)
                if end is not None and self.clock() >= end:
                    break

    def _once(self, work: Work) -> float:
        start = self.clock()
        if not self.ready:
            self.initialise(work)
        amount = work.iterate()
        self.measured.times.extend((start, self.clock()))
        return amount

    @contextmanager
    def _held(self, work: Work) -> Iterator[None]:
        """Note what memory a step took; two steps may go on at once."""
        yield
        at, thread = self.clock(), threading.get_native_id()
        with self.noting:
            noted = {one.name for one in self.measured.holds}
            self.measured.holds.extend(
                Hold(name, size, at, thread)
                for name, size in dict(work.holds).items()
                if name not in noted
            )


def measure(
    chosen: Chosen, course: Course, clock: Clock = time.monotonic_ns
) -> Measured:
    """Run a workload.

    Args:
        chosen: the workload with its parameters.
        course: how it is run.
        clock: nanoseconds that never go back.

    Raises:
        RegistryError: W001, a package is missing; W004, memory is; W010 to W014, a
            model cannot be run.
    """
    run = _Run(chosen, course, clock)
    try:
        work = run.opened()
        with limited(course.conditions):
            run.both(work)
            run.repeat(work)
    except MemoryError as error:
        what = str(error) or "it was refused"
        raise RegistryError(finding(W004, chosen.builtin.name, what)) from None
    return run.measured


@contextmanager
def limited(conditions: Conditions) -> Iterator[None]:
    """Have BLAS and OpenMP compute with so many threads."""
    with required("threadpoolctl").threadpool_limits(conditions.threads):
        yield
