"""Scenarios in virtual time: who waits for whom, how long a run is, how it ends."""

from __future__ import annotations

import signal
from typing import Any

import numpy as np
import pytest

from registry.documents.findings import RegistryError
from tests.load.test_open_loop import NAMES, ran
from tests.load.virtual_time import EPOCH_NS, Server, VirtualTime
from tools.load.judging import Query, bound
from tools.load.latencies import allowed_over
from tools.load.plan import make_plan
from tools.load.results import as_lines, result
from tools.load.running import run_plan
from tools.load.scenarios import Demands, Limits, Scenario, settings_for
from tools.load.targets.answers import Answer

ONE = make_plan(["a", "b"], "zipf", "closed:concurrency=1", requests=100)
FOUR = make_plan(["a"], "equal", "closed:concurrency=4,think=0.05", requests=80)
OFFLINE = make_plan(["a"], "equal", "offline", requests=64)
CONSTANT = make_plan(["a"], "equal", "constant:rate=10", duration=2)


def test_single_stream_sends_the_next_when_the_last_has_ended() -> None:
    run, facts = ran(ONE, Server(0.02, places=9), Limits(scenario="single-stream"))
    journal = run.journal
    assert facts["overload"]["most_in_flight"] == 1
    assert list(journal.started[1:]) == pytest.approx(list(journal.ended[:-1]), abs=9)
    assert facts["duration_seconds"] == pytest.approx(2.0, abs=1e-5)
    assert facts["latency_bound"]["percentile"] == 0.90
    assert facts["latency_bound"]["seconds"] == pytest.approx(0.02, abs=1e-6)
    assert facts["valid"]


def test_failed_queries_count_as_the_slowest_in_what_is_proven() -> None:
    """Or a service that fails early would prove any latency."""
    plan = make_plan(["a"], "equal", requests=700)
    wanted = Limits(scenario="single-stream")
    for failed, seconds in ((0, 0.02), (49, 0.02), (69, None), (700, None)):
        fails = ["no"] * failed + [None] * (700 - failed)
        _, facts = ran(plan, Server(0.02, error=fails.__getitem__), wanted)
        bound = facts["latency_bound"]
        assert bound["queries"] == 700
        assert bound["seconds"] == (seconds and pytest.approx(seconds, abs=1e-6))
        if failed and seconds is None:
            assert bound["queries_needed"] > 700
            more = bound["queries_needed"] - 700
            line = f"bound        p90 is not proven: {more} more queries needed"
            assert line in list(as_lines(facts))


def test_the_slowest_that_are_allowed_are_those_that_failed_first() -> None:
    over = allowed_over(700, 0.90)
    assert over is not None
    query = Query(np.arange(1.0, 691.0), 700)
    proven = bound(query, Scenario.SINGLE_STREAM)
    assert proven is not None
    assert proven["seconds"] == 690 - (over - 10)


def test_multi_stream_queries_end_with_their_last_sample() -> None:
    run, facts = ran(
        make_plan(["a"], "equal", requests=80),
        Server(0.01, places=2),
        Limits(scenario="multi-stream"),
    )
    assert facts["queries"] == 10
    assert facts["samples"] == 80
    assert facts["overload"]["most_in_flight"] == 8
    assert facts["latency_seconds"]["min"] == pytest.approx(0.04, abs=1e-5)
    assert facts["latency_bound"]["percentile"] == 0.99
    assert facts["latency_bound"]["seconds"] is None
    assert facts["latency_bound"]["queries_needed"] == 459
    assert list(run.journal.queries[:9]) == [0] * 8 + [1]


def test_multi_stream_has_whole_queries_when_the_plan_begins_again() -> None:
    plan = make_plan(["a"], "equal", requests=12)
    limits = Limits(scenario="multi-stream", samples=8, min_queries=5)
    run, facts = ran(plan, Server(0.01, places=8), limits)
    counts = np.bincount(run.journal.queries)
    assert facts["queries"] == 5
    assert counts.tolist() == [8] * 5


def test_the_last_multi_stream_query_is_whole_as_well() -> None:
    plan = make_plan(["a"], "equal", requests=12)
    run, facts = ran(plan, Server(0.01, places=8), Limits(scenario="multi-stream"))
    assert np.bincount(run.journal.queries).tolist() == [8, 8]
    assert facts["rounds"] == 2


def test_the_bound_of_the_percentile_is_a_value_of_this_rank() -> None:
    """Of 662 queries, the second largest latency bounds the 99th percentile."""
    plan = make_plan(["a"], "equal", requests=662)
    seconds = iter(np.arange(1, 663) / 1000)
    _, facts = ran(plan, Server(lambda _: float(next(seconds))))
    assert facts["latency_bound"]["seconds"] == pytest.approx(0.661, abs=1e-6)


def test_a_closed_load_has_its_workers_and_they_think() -> None:
    run, facts = ran(FOUR, Server(0.05, places=9))
    assert facts["scenario"] == "closed"
    assert facts["overload"]["most_in_flight"] == 4
    # Each of four workers needs 100 ms a request, the last one 50 ms less.
    assert facts["duration_seconds"] == pytest.approx(80 / 4 * 0.1, abs=1e-4)
    assert facts["latency_seconds"]["max"] == pytest.approx(0.05, abs=1e-6)
    assert facts["rate"]["verdict"] == "not scheduled"
    assert run.ending == "complete"


def test_concurrency_of_the_command_line_comes_first() -> None:
    _, facts = ran(FOUR, Server(0.05, places=99), Limits(concurrency=10))
    assert facts["overload"]["most_in_flight"] == 10
    assert facts["settings"]["at_once"] == 10


def test_offline_is_due_at_once_and_counts_samples_a_second() -> None:
    run, facts = ran(OFFLINE, Server(0.1, places=9), Limits(concurrency=8))
    assert facts["scenario"] == "offline"
    assert set(run.journal.scheduled) == {0}
    assert facts["rate"]["completed"] == pytest.approx(80, rel=1e-4)
    assert facts["latency_seconds"]["max"] == pytest.approx(0.8, abs=1e-4)
    assert facts["latency_bound"] is None


def test_a_server_load_lasts_as_long_as_its_plan() -> None:
    run, facts = ran(CONSTANT, Server(0.01, places=9))
    assert facts["scenario"] == "server"
    assert facts["samples"] == 20
    assert run.rounds == 1


@pytest.mark.parametrize(
    ("limits", "samples", "seconds"),
    [
        (Limits(min_duration=2.0), 20, 2.0),
        (Limits(min_duration=5.0), 50, 5.0),
        (Limits(min_queries=33), 33, 3.3),
        (Limits(min_duration=2.55), 25, 2.55),
        (Limits(min_duration=1.0, min_queries=25), 25, 2.5),
        (Limits(min_duration=3.0, min_queries=25), 30, 3.0),
    ],
)
def test_a_plan_begins_again_until_both_limits_hold(
    limits: Limits, samples: int, seconds: float
) -> None:
    run, facts = ran(CONSTANT, Server(0.0, places=9), limits)
    assert facts["samples"] == samples
    assert facts["duration_seconds"] == pytest.approx(seconds, abs=1e-4)
    assert facts["valid"], facts["reasons"]
    times = np.array(run.journal.scheduled)
    assert (np.diff(times) == 10**8).all()  # the rounds join without a seam


def test_a_stream_begins_again_as_well() -> None:
    limits = Limits(scenario="single-stream", min_duration=3.0, min_queries=10)
    run, facts = ran(ONE, Server(0.02), limits)
    assert facts["samples"] == 150
    assert run.rounds == 2


def test_a_plan_without_limits_is_run_once() -> None:
    assert ran(ONE, Server(0.0001))[1]["samples"] == 100


def test_an_interruption_is_not_told_as_a_time_limit() -> None:
    """Which comes while the last answers are awaited."""

    def interrupt(number: int) -> None:
        if number == 0:
            signal.raise_signal(signal.SIGTERM)

    run, facts = ran(CONSTANT, Server(1.0, error=interrupt), Limits(time_limit=1.5))
    assert run.ending == "interrupted"
    assert facts["interrupted"] is True


def test_the_time_limit_ends_a_run() -> None:
    run, facts = ran(CONSTANT, Server(0.05), Limits(time_limit=1.02))
    assert run.ending == "time limit"
    assert facts["samples"] == 10
    assert facts["unfinished"] == 0  # what was in flight may end
    assert facts["valid"] is False
    assert facts["reasons"][0] == "it ended early: time limit"


def test_what_does_not_end_after_the_limit_is_given_up() -> None:
    run, facts = ran(CONSTANT, Server(1e6, places=99), Limits(time_limit=1.02))
    assert facts["unfinished"] == 10
    assert facts["duration_seconds"] == pytest.approx(1.02 + 5, abs=0.01)
    assert all(started >= 0 for started in run.journal.started)
    assert facts["latency_seconds"]["count"] == 0
    assert "10 requests have no answer" in facts["reasons"]


def test_a_run_that_is_too_short_says_by_how_much() -> None:
    run, facts = ran(CONSTANT, Server(0.05), Limits(time_limit=3.0, min_queries=100))
    assert facts["reasons"] == [
        "it ended early: time limit",
        f"{len(run.journal)} queries, at least 100 were asked for",
    ]


def test_a_request_that_is_never_answered_is_given_up() -> None:
    run, facts = ran(ONE, Server(1e6), Limits(timeout=10), patient=False)
    assert facts["errors"] == [{"what": "no answer in time", "count": 100}]
    assert facts["duration_seconds"] == pytest.approx(100 * 15, abs=1e-3)
    assert run.ending == "complete"


def test_failures_are_counted_by_their_texts() -> None:
    def error(number: int) -> str | None:
        return "status 503" if number % 10 == 0 else None

    _, facts = ran(ONE, Server(0.01, error=error))
    assert facts["failed"] == 10
    assert facts["errors"] == [{"what": "status 503", "count": 10}]
    assert facts["latency_seconds"]["count"] == 90
    assert facts["reasons"] == ["10 of 100 requests failed"]
    assert sum(item["failed"] for item in facts["items"]) == 10


def test_failures_may_be_allowed() -> None:
    time = VirtualTime()
    demands = Demands(error_share=0.1)
    settings = settings_for(ONE, Limits(), demands)
    target = Server(0.01, error=lambda n: "x" if n % 10 == 0 else None)
    run = run_plan(ONE, target, settings, clock=time.clock, loop_factory=time.loop)
    assert result(ONE, run, settings, demands, NAMES)["valid"]


def test_no_more_than_fifty_texts_of_errors_are_kept() -> None:
    _, facts = ran(ONE, Server(0.01, error=lambda number: f"error {number}"))
    assert len(facts["errors"]) == 51
    assert facts["errors"][-1] == {"what": "other errors", "count": 50}


def test_a_target_that_raises_is_an_error_of_that_request() -> None:
    class Broken(Server):
        async def answer(self, item: str) -> Answer:
            raise ValueError("no\x1b[2J" + item[:0])

    _, facts = ran(ONE, Broken(0.0))
    assert facts["errors"] == [{"what": "ValueError: no\\x1b[2J", "count": 100}]


def test_numbers_of_single_items() -> None:
    _, facts = ran(ONE, Server(lambda item: 0.01 if item == "a" else 0.03))
    first, second = facts["items"]
    assert (first["name"], second["name"]) == ("a", "b")
    assert first["requests"] + second["requests"] == 100
    assert first["p99_seconds"] == pytest.approx(0.01, abs=1e-6)
    assert second["p50_seconds"] == pytest.approx(0.03, abs=1e-6)


def test_the_window_for_power_is_told_on_both_clocks() -> None:
    run, facts = ran(ONE, Server(0.02))
    begin, end = facts["power_begin"], facts["power_end"]
    assert end["monotonic_ns"] - begin["monotonic_ns"] == pytest.approx(2e9, rel=1e-4)
    assert begin["epoch_ns"] - begin["monotonic_ns"] == EPOCH_NS
    assert begin["utc"] == "2027-01-15T08:00:05.000000Z"
    assert run.begin.monotonic_ns == begin["monotonic_ns"]


@pytest.mark.parametrize(
    ("queries", "slow", "verdict", "more"),
    [
        (459, 0, "met", 0),
        (458, 0, "more queries needed", 1),
        (661, 1, "more queries needed", 1),
        (662, 1, "met", 0),
        (600, 7, "missed", 996),
    ],
)
def test_a_target_latency_must_be_proven(
    queries: int, slow: int, verdict: str, more: int
) -> None:
    plan = make_plan(["a", "slow"], "equal", "constant:rate=10", requests=queries)
    served = iter(["slow"] * slow + ["a"] * queries)
    time, demands = VirtualTime(), Demands(target_seconds=0.1)
    settings = settings_for(plan, Limits(), demands)
    target = Server(lambda _: 0.2 if next(served) == "slow" else 0.01, places=9)
    run = run_plan(plan, target, settings, clock=time.clock, loop_factory=time.loop)
    facts = result(plan, run, settings, demands, NAMES)
    found = facts["target_latency"]
    assert (found["over"], found["verdict"], found["more_needed"]) == (
        slow,
        verdict,
        more,
    )
    assert facts["valid"] is (verdict == "met")
    assert any(line.startswith("target") for line in as_lines(facts))


@pytest.mark.parametrize(
    ("plan", "limits", "demands", "path", "what"),
    [
        (
            ONE,
            {"scenario": "server"},
            {},
            "--scenario",
            "the plan is a closed load, wh",
        ),
        (
            OFFLINE,
            {"scenario": "server", "min_duration": 1.0},
            {},
            "--scenario",
            "everyth",
        ),
        (ONE, {"samples": 0}, {}, "--samples-per-query", "0 is not from 1 to 10000"),
        (ONE, {"concurrency": 0}, {}, "--concurrency", "0 is not from 1 to 10000"),
        (
            CONSTANT,
            {"concurrency": 2},
            {},
            "--concurrency",
            "a server load has no work",
        ),
        (ONE, {"in_flight": 0}, {}, "--max-in-flight", "0 is not from 1 to 10000"),
        (
            ONE,
            {"min_duration": float("nan")},
            {},
            "--min-duration",
            "nan is not from 0",
        ),
        (ONE, {"min_queries": -1}, {}, "--min-queries", "-1 is not from 0 to 1e+07"),
        (ONE, {"time_limit": 0.0}, {}, "--time-limit", "0 is not from 0.001 to 1e+07"),
        (
            ONE,
            {"time_limit": 1.0, "min_duration": 2.0},
            {},
            "--time-limit",
            "it ends befo",
        ),
        (
            ONE,
            {"timeout": float("inf")},
            {},
            "--timeout",
            "inf is not from 0.001 to 864",
        ),
        (
            ONE,
            {},
            {"rate_tolerance": -1.0},
            "--rate-tolerance",
            "-1 is not from 0 to 1",
        ),
        (ONE, {}, {"error_share": 2.0}, "--error-share", "2 is not from 0 to 1"),
        (
            ONE,
            {},
            {"target_seconds": 0.0},
            "--target-latency",
            "0 is not from 1e-09 to",
        ),
        (
            OFFLINE,
            {},
            {"target_seconds": 1.0},
            "--target-latency",
            "an offline load is",
        ),
    ],
)
def test_what_cannot_be_run_is_told(
    plan: Any, limits: dict[str, Any], demands: dict[str, Any], path: str, what: str
) -> None:
    with pytest.raises(RegistryError) as refused:
        settings_for(plan, Limits(**limits), Demands(**demands))
    found = refused.value.findings[0]
    assert (found.code, found.path) == ("Q013", path)
    assert found.what.startswith(what)
