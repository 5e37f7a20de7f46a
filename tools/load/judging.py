"""Verdicts on a run: whether it kept its rate, was long enough and fast enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tools.load.latencies import CONFIDENCE, allowed_over, queries_needed
from tools.load.running import Run
from tools.load.scenarios import Demands, Scenario, Settings
from tools.load.streams import Floats, Integers

__all__ = ["Query", "bound", "latency_verdict", "queries", "rate", "reasons"]


@dataclass(frozen=True, slots=True)
class Query:
    """Latencies of the queries that ended well, and how many did not.

    Attributes:
        seconds: from when the query was due to the end of its last sample.
        count: all queries.

    """

    seconds: Floats
    count: int


def queries(run: Run) -> Query:
    """Put samples together to queries; one is as slow as its slowest sample."""
    journal = run.journal
    numbers = np.array(journal.queries, dtype=np.int64)
    if not len(numbers):
        return Query(np.zeros(0), 0)
    good = _good(run)
    count = int(numbers.max()) + 1
    seconds = (_column(journal.ended) - _column(journal.scheduled)) / 1e9
    slowest = np.zeros(count)
    np.maximum.at(slowest, numbers, seconds)
    whole = np.ones(count, dtype=np.bool_)
    whole[numbers[~good]] = False
    return Query(slowest[whole], count)


def rate(run: Run, settings: Settings, nominal: float | None, demands: Demands) -> Any:
    """How fast requests were to be sent, were sent and were answered, and a verdict.

    Rates are requests a second; `planned` and `issued` divide the number of gaps by the
    time from the first request to the last, so that they compare gap with gap.
    """
    journal = run.journal
    started = _column(journal.started)
    sent = started >= 0
    scheduled = _column(journal.scheduled)
    ended = _column(journal.ended)
    planned = _gaps_a_second(scheduled)
    issued = _gaps_a_second(np.sort(started[sent]))
    last = int(ended.max(initial=0))
    verdict = "not scheduled"
    if settings.scenario is Scenario.SERVER:
        near = planned is not None and issued is not None
        kept = (
            near and abs((issued or 0) / (planned or 1) - 1) <= demands.rate_tolerance
        )
        verdict = "kept" if kept and bool(sent.all()) else "missed"
        if len(scheduled) < 2 and bool(sent.all()):
            verdict = "kept"
    return {
        "nominal": nominal,
        "planned": planned if settings.scenario is Scenario.SERVER else None,
        "issued": issued,
        "completed": int((ended >= 0).sum()) / (last / 1e9) if last else None,
        "tolerance": demands.rate_tolerance,
        "open_at_last_arrival": int((ended > started.max(initial=0)).sum()),
        "verdict": verdict,
    }


def bound(query: Query, scenario: Scenario) -> dict[str, Any] | None:
    """An upper bound of the scenario's percentile that holds with 99 % confidence."""
    share = scenario.percentile
    if share is None:
        return None
    failed = query.count - len(query.seconds)  # as if they were the slowest
    over = allowed_over(query.count, share)
    seconds = None
    if over is not None and over >= failed:
        seconds = float(np.sort(query.seconds)[query.count - 1 - over])
    return {
        "percentile": share,
        "confidence": CONFIDENCE,
        "seconds": seconds,
        "queries": query.count,
        "queries_needed": queries_needed(failed, share),
    }


def latency_verdict(
    query: Query, scenario: Scenario, demands: Demands
) -> dict[str, Any] | None:
    """Whether so many queries prove that the target is kept; failed ones count as over.

    The answer is `met`, `missed`, or `more queries needed`.
    """
    share, target = scenario.percentile, demands.target_seconds
    if share is None or target is None:
        return None
    over = query.count - int((query.seconds <= target).sum())
    needed = queries_needed(over, share)
    allowed = (1 - share) * query.count
    verdict = "met" if query.count >= needed else "more queries needed"
    if over > allowed:
        verdict = "missed"
    return {
        "seconds": target,
        "percentile": share,
        "confidence": CONFIDENCE,
        "queries": query.count,
        "over": over,
        "queries_needed": needed,
        "more_needed": max(0, needed - query.count),
        "verdict": verdict,
    }


def reasons(
    run: Run, settings: Settings, demands: Demands, verdicts: dict[str, Any]
) -> list[str]:
    """Why a run is not valid; empty if it is."""
    why: list[str] = []
    journal = run.journal
    if run.ending != "complete":
        why.append(f"it ended early: {run.ending}")
    failed = sum(1 for failure in journal.failures if failure >= 0)
    if failed > demands.error_share * len(journal):
        why.append(f"{failed} of {len(journal)} requests failed")
    unfinished = sum(1 for ended in journal.ended if ended < 0)
    if unfinished:
        why.append(f"{unfinished} requests have no answer")
    count = verdicts["queries"]
    if count < settings.min_queries:
        why.append(f"{count} queries, at least {settings.min_queries} were asked for")
    lasted = run.end.monotonic_ns - run.begin.monotonic_ns
    if lasted < settings.min_duration_ns:
        asked = settings.min_duration_ns / 1e9
        why.append(f"{lasted / 1e9:.3f} s, at least {asked:g} s were asked for")
    if verdicts["rate"]["verdict"] == "missed":
        why.append("the arrivals did not keep the plan's rate")
    target = verdicts["target_latency"]
    if target is not None and target["verdict"] == "missed":
        why.append(f"{target['over']} queries were over the target latency")
    elif target is not None and target["verdict"] != "met":
        why.append(f"{target['more_needed']} more queries would prove the latency")
    return why


def _good(run: Run) -> Any:
    ended = _column(run.journal.ended) >= 0
    return ended & (_column(run.journal.failures) < 0)


def _column(values: Any) -> Integers:
    return np.array(values, dtype=np.int64)


def _gaps_a_second(times: Integers) -> float | None:
    if len(times) < 2 or times[-1] == times[0]:
        return None
    return (len(times) - 1) / ((int(times[-1]) - int(times[0])) / 1e9)
