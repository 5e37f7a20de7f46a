"""Phases of a run, by a clock of the test's own."""

from __future__ import annotations

import threading
from typing import Any, ClassVar

import pytest
import threadpoolctl

from registry.documents.findings import RegistryError
from tools.workloads.catalogue import Builtin, Chosen
from tools.workloads.measuring import Course, Measured, measure
from tools.workloads.work import Conditions, Unit, Work

MILLI = 1_000_000


class Clock:
    """Time goes by only when somebody says so."""

    now = 5 * MILLI

    def __call__(self) -> int:
        return self.now


class Steps(Work):
    """A workload whose steps take known times and are noted."""

    unit: Unit = "bytes"
    clock: Clock
    steps: ClassVar[list[str]]
    fails: str = ""
    meeting: threading.Barrier | None = None

    def prepare(self) -> None:
        self.step("data", 10)
        self.holds["data"] = 800

    def initialise(self) -> None:
        self.step("init", 40)
        self.holds["weights"] = 1000

    def iterate(self) -> float:
        self.step("iterate", 3)
        return 6.0

    def step(self, name: str, milliseconds: int) -> None:
        self.steps.append(name)
        self.steps.append(threading.current_thread().name.partition("_")[0])
        if self.fails == name:
            raise MemoryError("no room")
        if self.meeting is not None and name != "iterate":
            self.meeting.wait(10)
        self.clock.now += milliseconds * MILLI


@pytest.fixture
def steps() -> type[Steps]:
    class Own(Steps):
        clock = Clock()
        steps: ClassVar[list[str]] = []

    return Own


def run(kind: type[Steps], **course: Any) -> Measured:
    class One(Builtin):
        __slots__ = ()

        def load(self) -> Any:
            return kind

    builtin = One("steps", "", "bytes", (), "", "", ())
    return measure(Chosen(builtin, {}), Course(**course), kind.clock)


def test_eager_makes_ready_before_anything_is_measured(steps: type[Steps]) -> None:
    done = run(steps, iterations=2, warm_up=1, init="eager")
    assert steps.steps[::2] == ["data", "init", "iterate", "iterate", "iterate"]
    assert list(done.phases) == ["import", "open", "data", "init", "warm_up", "run"]
    assert done.phases["data"] == 0.010
    assert done.phases["init"] == 0.040
    assert done.phases["warm_up"] == 0.003
    assert done.phases["run"] == 0.006
    assert (done.iterations, done.warm_up) == (2, 1)
    assert done.durations() == [3 * MILLI, 3 * MILLI]
    assert (done.amount, done.unit) == (12.0, "bytes")
    assert done.performance == pytest.approx(2000.0)


def test_lazy_makes_ready_in_the_first_iteration(steps: type[Steps]) -> None:
    done = run(steps, iterations=2, init="lazy")
    assert steps.steps[::2] == ["data", "init", "iterate", "iterate"]
    assert done.phases["init"] == 0.040
    assert done.phases["run"] == 0.046
    assert done.durations() == [43 * MILLI, 3 * MILLI]
    by_name = {span.name: span for span in done.spans}
    assert by_name["init"].start_ns >= by_name["run"].start_ns
    assert by_name["init"].end_ns <= by_name["run"].end_ns


def test_a_warm_up_takes_what_is_lazy(steps: type[Steps]) -> None:
    done = run(steps, iterations=2, init="lazy", warm_up=1)
    assert (done.phases["warm_up"], done.phases["run"]) == (0.043, 0.006)


def test_async_makes_ready_while_data_is_made(steps: type[Steps]) -> None:
    # Both wait for each other, so neither could be first.
    steps.meeting = threading.Barrier(2)
    done = run(steps, iterations=1, init="async")
    at = dict(zip(steps.steps[::2], steps.steps[1::2], strict=True))
    assert at == {"data": "MainThread", "init": "init", "iterate": "MainThread"}
    threads = {span.name: span.thread for span in done.spans}
    assert threads["init"] != threads["data"] == threads["run"]
    ended = {span.name: span.end_ns for span in done.spans}
    began = {span.name: span.start_ns for span in done.spans}
    assert ended["init"] <= ended["wait"] <= began["run"]
    assert sorted((one.name, one.bytes) for one in done.holds) == [
        ("data", 800),
        ("weights", 1000),
    ]


@pytest.mark.parametrize("fails", ["data", "init", "iterate"])
@pytest.mark.parametrize("init", ["lazy", "eager", "async"])
def test_too_little_memory_is_a_finding(
    steps: type[Steps], fails: str, init: str
) -> None:
    steps.fails = fails
    with pytest.raises(RegistryError) as error:
        run(steps, init=init)
    (found,) = error.value.findings
    assert (found.code, found.path, found.what) == ("W004", "steps", "no room")


def test_a_duration_ends_a_run_and_iterations_do(steps: type[Steps]) -> None:
    assert run(steps, iterations=1000, duration=0.01).iterations == 4
    assert run(steps, iterations=2, duration=0.01).iterations == 2
    assert run(steps, iterations=1000, duration=0).iterations == 1


def test_memory_is_noted_when_it_is_taken(steps: type[Steps]) -> None:
    done = run(steps)
    noted = [(one.name, one.bytes, one.at_ns) for one in done.holds]
    assert noted == [("data", 800, 15 * MILLI), ("weights", 1000, 55 * MILLI)]


def test_no_time_went_by(steps: type[Steps]) -> None:
    class Instant(steps):  # type: ignore[misc, valid-type]
        def iterate(self) -> float:
            return 1

    assert run(Instant).performance is None


@pytest.mark.parametrize("init", ["lazy", "eager", "async"])
def test_libraries_get_the_threads_that_were_asked_for(init: str) -> None:
    import numpy as np

    found: list[set[int]] = []

    class Looking(Work):
        def look(self) -> None:
            np.ones(2) @ np.ones(2)
            known = threadpoolctl.threadpool_info()
            found.append({one["num_threads"] for one in known})

        def prepare(self) -> None:
            self.look()

        def initialise(self) -> None:
            self.look()

        def iterate(self) -> float:
            self.look()
            return 1

    class One(Builtin):
        __slots__ = ()

        def load(self) -> Any:
            return Looking

    chosen = Chosen(One("look", "", "", (), "", "", ()), {})
    course = Course(iterations=1, init=init, conditions=Conditions(threads=2))  # type: ignore[arg-type]
    measure(chosen, course)
    assert found == [{2}] * 3
