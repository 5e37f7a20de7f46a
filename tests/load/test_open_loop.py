"""Open loops: arrivals keep their times whatever the system under test does."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

import numpy as np
import pytest

from tests.load.virtual_time import Server, VirtualTime
from tools.load.clock import Clock
from tools.load.plan import Plan, make_plan
from tools.load.results import result
from tools.load.running import Run, run_plan
from tools.load.scenarios import Demands, Limits, settings_for
from tools.load.targets.answers import Target

NAMES = {"plan": {}, "sut": "simulated"}


def ran(
    plan: Plan,
    target: Target,
    limits: Limits | None = None,
    clock: Clock | None = None,
    *,
    patient: bool = True,
) -> tuple[Run, dict[str, Any]]:
    """A run in virtual time, and its result."""
    time = VirtualTime()
    demands = Demands()
    limits = limits or Limits()
    if patient:
        limits = dataclasses.replace(limits, timeout=80_000)
    settings = settings_for(plan, limits, demands)
    run = run_plan(
        plan, target, settings, clock=clock or time.clock, loop_factory=time.loop
    )
    return run, result(plan, run, settings, demands, NAMES)


def lindley(arrivals: np.ndarray, service: float) -> np.ndarray:
    """Latencies of a queue with one place, from when each request was due (Lindley)."""
    free, latencies = 0.0, []
    for due in arrivals.tolist():
        free = max(free, due) + service
        latencies.append(free - due)
    return np.array(latencies)


def due(plan: Plan) -> np.ndarray:
    return np.array(plan.requests.times) / 1e9


@pytest.fixture(scope="module")
def minute() -> tuple[Plan, Run, dict[str, Any]]:
    """A minute of 50 requests a second on a server that answers 33."""
    plan = make_plan(["a"], "equal", "poisson:rate=50", duration=60, seed=1)
    return (plan, *ran(plan, Server(0.03), Limits(in_flight=10_000)))


def test_arrivals_keep_their_rate_for_a_minute_under_a_slow_server(
    minute: tuple[Plan, Run, dict[str, Any]],
) -> None:
    plan, run, facts = minute
    assert run.waited == 0
    assert facts["rate"]["verdict"] == "kept"
    sent = facts["samples"] / 60
    assert abs(sent / 50 - 1) < 0.05  # 3,000 ± 55 arrivals of a Poisson process
    assert abs(facts["rate"]["issued"] / facts["rate"]["planned"] - 1) < 1e-9
    assert list(run.journal.started) == pytest.approx(list(plan.requests.times), abs=9)
    assert facts["rate"]["completed"] == pytest.approx(1 / 0.03, rel=0.01)
    assert facts["rate"]["open_at_last_arrival"] > 900


def test_a_constant_rate_is_kept() -> None:
    plan = make_plan(["a"], "equal", "constant:rate=50", duration=10)
    _, facts = ran(plan, Server(0.03), Limits(in_flight=10_000))
    assert facts["samples"] == 500
    assert facts["rate"]["issued"] == pytest.approx(50, rel=1e-6)


def test_latency_counts_from_the_schedule_as_queueing_theory_has_it() -> None:
    plan = make_plan(["a"], "equal", "poisson:rate=30", duration=60, seed=2)
    run, facts = ran(plan, Server(0.03))
    expected = lindley(due(plan), 0.03)
    latencies = (np.array(run.journal.ended) - np.array(run.journal.scheduled)) / 1e9
    assert latencies == pytest.approx(expected, abs=1e-6)
    ranked = np.sort(expected)
    nearest = ranked[int(np.ceil(0.99 * len(ranked))) - 1]
    assert facts["latency_seconds"]["p99"] == pytest.approx(nearest, abs=1e-6)
    assert facts["latency_seconds"]["p99"] > 4 * 0.03


def test_a_stream_that_waits_for_answers_would_have_hidden_the_queue(
    minute: tuple[Plan, Run, dict[str, Any]],
) -> None:
    """What coordinated omission is: the same server, asked only when it is free."""
    plan, _, opened = minute
    _, closed = ran(plan, Server(0.03), Limits(scenario="single-stream"))
    assert closed["latency_seconds"]["p99"] == pytest.approx(0.03, abs=1e-6)
    assert opened["latency_seconds"]["p99"] > 10


def test_what_waits_for_a_place_is_counted_and_its_latency_is_honest() -> None:
    plan = make_plan(["a"], "equal", "poisson:rate=50", duration=20, seed=1)
    run, facts = ran(plan, Server(0.03, places=99), Limits(in_flight=1))
    expected = lindley(due(plan), 0.03)
    latencies = (np.array(run.journal.ended) - np.array(run.journal.scheduled)) / 1e9
    assert latencies == pytest.approx(expected, abs=1e-5)
    assert facts["overload"]["most_in_flight"] == 1
    assert facts["overload"]["waited"] > 700
    assert facts["overload"]["most_waiting"] > 250
    assert facts["rate"]["verdict"] == "missed"
    assert "the arrivals did not keep the plan's rate" in facts["reasons"]


def test_report_12_a_schedule_is_absolute_and_a_late_request_counts_from_it() -> None:
    """mlcommons/inference PR 680: offsets were taken for gaps.

    The issuer stands still for a second; requests of that time are sent late, and the
    second is in their latencies.
    """
    plan = make_plan(["a"], "equal", "constant:rate=10", requests=50)
    time = VirtualTime()
    begun = time.now_ns

    async def sleep(seconds: float) -> None:
        await asyncio.sleep(seconds)
        if 2 * 10**9 <= time.now_ns - begun < 2.05 * 10**9:
            time.now_ns += 10**9

    settings = settings_for(plan, Limits(), Demands())
    clock = Clock(time.clock.now_ns, time.clock.epoch_ns, sleep)
    run = run_plan(plan, Server(0.001), settings, clock=clock, loop_factory=time.loop)
    journal = run.journal
    assert list(journal.scheduled) == [10**8 * (i + 1) for i in range(50)]
    delays = (np.array(journal.started) - np.array(journal.scheduled)) / 1e9
    assert delays[:19] == pytest.approx(np.zeros(19), abs=1e-6)
    assert delays[19:29] == pytest.approx(np.arange(1.0, 0.0, -0.1), abs=1e-2)
    assert delays[30:] == pytest.approx(np.zeros(20), abs=1e-6)
    facts = result(plan, run, settings, Demands(), NAMES)
    assert facts["latency_seconds"]["max"] == pytest.approx(1.001, abs=1e-2)
    assert facts["start_delay_seconds"]["max"] == pytest.approx(1.0, abs=1e-2)


def test_report_13_a_poisson_rate_of_50_with_30_ms_of_service() -> None:
    """Sleeps were added after the service (grpc #4194, vLLM PR 43212).

    Were they, 30 ms of service and gaps of 20 ms would make 20 requests a second.
    """
    plan = make_plan(["a"], "equal", "poisson:rate=50", duration=60, seed=13)
    _, facts = ran(plan, Server(0.03, places=8), Limits(in_flight=10_000))
    count = facts["samples"]
    assert abs(count - 50 * 60) < 3 * np.sqrt(50 * 60)
    assert facts["rate"]["verdict"] == "kept"
    assert facts["rate"]["issued"] == pytest.approx(facts["rate"]["planned"], rel=1e-6)


def test_report_13_a_rate_that_is_not_realised_is_reported_as_missed() -> None:
    plan = make_plan(["a"], "equal", "poisson:rate=50", duration=20, seed=13)
    _, facts = ran(plan, Server(0.03), Limits(in_flight=1))
    assert facts["rate"]["issued"] < 34
    assert facts["rate"]["verdict"] == "missed"
    assert facts["valid"] is False


def test_items_are_asked_for_in_the_order_of_the_plan() -> None:
    plan = make_plan(["a", "b", "c"], "zipf", "poisson:rate=100", requests=500, seed=3)
    server = Server(0.5, places=500)
    ran(plan, server)
    assert server.asked == [request.item for request in plan.requests]
    assert server.closed
