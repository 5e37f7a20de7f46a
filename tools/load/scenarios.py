"""How requests are issued: the scenarios of MLPerf's LoadGen, and the closed loop.

- single-stream: the next request when the last one has ended; 90th percentile.
- multi-stream: queries of several samples, the next when the last one has ended; a
  query ends with its last sample; 99th percentile.
- server: requests at the plan's times, whether or not others have ended; 99th.
- offline: everything is due at the beginning; samples a second count.
- closed: several workers, each issuing its next request some time after its last.

A run issues the whole plan, and begins it again for as long as the least duration and
the least number of queries do not both hold.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from registry.documents.findings import Finding, RegistryError, Severity, code, finding
from tools.load.requests import Plan

__all__ = ["Demands", "Limits", "Scenario", "Settings", "settings_for"]

_SECOND: Final = 10**9
_GRACE: Final = 5.0
"""Seconds beyond its time limit that a target has to give up by itself."""

Q013 = code(
    "Q013",
    Severity.ERROR,
    "A plan cannot be run in this way.",
    "Choose a scenario that fits the plan's arrivals, and limits that can hold.",
)


class Scenario(StrEnum):
    """How requests are issued."""

    SINGLE_STREAM = "single-stream"
    MULTI_STREAM = "multi-stream"
    SERVER = "server"
    OFFLINE = "offline"
    CLOSED = "closed"

    @property
    def percentile(self) -> float | None:
        """The latency percentile that the scenario is judged by."""
        return {"single-stream": 0.90, "offline": None}.get(self.value, 0.99)


@dataclass(frozen=True, slots=True)
class Settings:
    """How a plan is run.

    Attributes:
        scenario: how requests are issued.
        samples: of a query, in the multi-stream scenario.
        concurrency: workers of a closed or offline load.
        think_ns: what a worker of a closed load waits after an answer.
        in_flight: the most requests of a server load that run at once; more wait, and
            are counted.
        min_duration_ns: the shortest run.
        min_queries: the fewest queries.
        time_limit_ns: when a run ends anyway, or None.
        answer_ns: after what time a request is given up, whatever its target does.
        grace_ns: how long requests in flight may go on after an early end.

    """

    scenario: Scenario
    samples: int = 8
    concurrency: int = 1
    think_ns: int = 0
    in_flight: int = 256
    min_duration_ns: int = 0
    min_queries: int = 0
    time_limit_ns: int | None = None
    answer_ns: int = 35 * 10**9
    grace_ns: int = 5 * 10**9

    @property
    def samples_per_query(self) -> int:
        """How many requests make up a query."""
        return self.samples if self.scenario is Scenario.MULTI_STREAM else 1

    @property
    def at_once(self) -> int:
        """How many requests may run at once."""
        if self.scenario is Scenario.SERVER:
            return self.in_flight
        if self.scenario is Scenario.SINGLE_STREAM:
            return 1
        many = self.scenario is Scenario.MULTI_STREAM
        return self.samples if many else self.concurrency


@dataclass(frozen=True, slots=True)
class Limits:
    """What a user asks of a run: options as they were given, times in seconds.

    Attributes:
        scenario: its name; as the plan's arrivals if None.
        samples: of a multi-stream query.
        concurrency: workers; as the plan says, or for an offline load as many as there
            are processors, if None.
        in_flight: the most requests of a server load at once.
        min_duration: the shortest run.
        min_queries: the fewest queries.
        time_limit: when a run ends anyway, or None.
        timeout: how long one answer may take.

    """

    scenario: str | None = None
    samples: int = 8
    concurrency: int | None = None
    in_flight: int = 256
    min_duration: float = 0.0
    min_queries: int = 0
    time_limit: float | None = None
    timeout: float = 30.0


@dataclass(frozen=True, slots=True)
class Demands:
    """What a run is held to.

    Attributes:
        rate_tolerance: how far the rate of a server load may be off, as a fraction.
        error_share: the largest share of requests that may fail.
        target_seconds: the latency that the scenario's percentile must keep, or None.

    """

    rate_tolerance: float = 0.01
    error_share: float = 0.0
    target_seconds: float | None = None


def settings_for(plan: Plan, limits: Limits, demands: Demands) -> Settings:
    """How a plan is run under these limits.

    Raises:
        RegistryError: Q013, with every problem.
    """
    scenario = _default(plan) if limits.scenario is None else Scenario(limits.scenario)
    problems = list(_out_of_bounds(limits, demands))
    problems += _contradictions(plan, scenario, limits, demands)
    if problems:
        raise RegistryError(problems)
    planned = plan.header.arrivals.values.get("concurrency", os.cpu_count() or 1)
    think = plan.header.arrivals.values.get("think", 0.0)
    limit = limits.time_limit
    return Settings(
        scenario,
        limits.samples,
        int(planned) if limits.concurrency is None else limits.concurrency,
        round(float(think) * _SECOND) if scenario is Scenario.CLOSED else 0,
        limits.in_flight,
        round(limits.min_duration * _SECOND),
        limits.min_queries,
        None if limit is None else round(limit * _SECOND),
        round((limits.timeout + _GRACE) * _SECOND),
    )


def _default(plan: Plan) -> Scenario:
    """The scenario that a plan's arrivals ask for."""
    if plan.closed:
        return Scenario.CLOSED
    offline = plan.header.arrivals.kind == "offline"
    return Scenario.OFFLINE if offline else Scenario.SERVER


def _out_of_bounds(limits: Limits, demands: Demands) -> Iterator[Finding]:
    bounds: dict[str, tuple[float | None, float, float]] = {
        "--samples-per-query": (limits.samples, 1, 10_000),
        "--concurrency": (limits.concurrency, 1, 10_000),
        "--max-in-flight": (limits.in_flight, 1, 10_000),
        "--min-duration": (limits.min_duration, 0, 1e7),
        "--min-queries": (limits.min_queries, 0, 10_000_000),
        "--time-limit": (limits.time_limit, 1e-3, 1e7),
        "--timeout": (limits.timeout, 1e-3, 86_400),
        "--rate-tolerance": (demands.rate_tolerance, 0, 1),
        "--error-share": (demands.error_share, 0, 1),
        "--target-latency": (demands.target_seconds, 1e-9, 86_400),
    }
    for option, (value, least, most) in bounds.items():
        if value is not None and not least <= value <= most:
            what = f"{value:g} is not from {least:g} to {most:g}"
            yield finding(Q013, option, what)


def _contradictions(
    plan: Plan, scenario: Scenario, limits: Limits, demands: Demands
) -> Iterator[Finding]:
    times = plan.requests.times
    if not len(plan.requests):
        yield finding(Q013, "PLAN", "the plan has no requests")
    if scenario is Scenario.SERVER and times is None:
        what = "the plan is a closed load, which has no times of arrival"
        yield finding(Q013, "--scenario", what)
    again = limits.min_duration > 0 or limits.min_queries > len(plan.requests)
    if scenario is Scenario.SERVER and times and not times[-1] and again:
        what = "everything is due at once: such a plan cannot begin again"
        yield finding(Q013, "--scenario", what)
    if limits.concurrency is not None and scenario not in {
        Scenario.CLOSED,
        Scenario.OFFLINE,
    }:
        what = f"a {scenario} load has no workers to count"
        yield finding(Q013, "--concurrency", what)
    if demands.target_seconds is not None and scenario.percentile is None:
        what = "an offline load is judged by its rate, not by latency"
        yield finding(Q013, "--target-latency", what)
    if limits.time_limit is not None and limits.time_limit < limits.min_duration:
        what = "it ends before the least duration"
        yield finding(Q013, "--time-limit", what)
