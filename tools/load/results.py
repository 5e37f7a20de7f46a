"""A run as a document of the schema load-result/1, and as lines for people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from registry.documents.findings import shown
from registry.documents.instants import precise_instant
from tools.files.writing import write_whole
from tools.load import judging
from tools.load.clock import Window
from tools.load.latencies import percentile, summary
from tools.load.plan_statistics import nominal_rate
from tools.load.requests import Plan
from tools.load.running import Run
from tools.load.scenarios import Demands, Settings
from tools.load.streams import Floats, Integers

__all__ = ["as_lines", "result", "write_result"]

_ITEMS: Final = 1000
"""How many items a result tells of, those with the most requests first."""


def result(
    plan: Plan, run: Run, settings: Settings, demands: Demands, names: Mapping[str, Any]
) -> dict[str, Any]:
    """All that is worth knowing of a run; times in seconds, rates a second.

    Args:
        plan: what was run.
        run: what happened.
        settings: how it was run.
        demands: what it is held to.
        names: facts of the caller: the plan's file and digest, the target's text.
    """
    query = judging.queries(run)
    journal = run.journal
    times = _Times(run)
    facts: dict[str, Any] = {
        "schema": "load-result/1",
        **names,
        "seed": plan.header.seed,
        "scenario": settings.scenario.value,
        "settings": {
            "samples_per_query": settings.samples_per_query,
            "at_once": settings.at_once,
            "think_seconds": settings.think_ns / 1e9,
            "min_duration_seconds": settings.min_duration_ns / 1e9,
            "min_queries": settings.min_queries,
        },
        "ending": run.ending,
        "interrupted": run.ending == "interrupted",
        "power_begin": _instant(run.begin),
        "power_end": _instant(run.end),
        "duration_seconds": (run.end.monotonic_ns - run.begin.monotonic_ns) / 1e9,
        "rounds": run.rounds,
        "queries": query.count,
        "samples": len(journal),
        "failed": int(times.failed.sum()),
        "unfinished": int((times.ended < 0).sum()),
        "errors": _errors(run),
        "rate": judging.rate(run, settings, nominal_rate(plan), demands),
        "latency_seconds": summary(query.seconds),
        "service_seconds": summary(times.service[times.good]),
        "start_delay_seconds": summary(times.delay[times.started >= 0]),
        "overload": {
            "most_in_flight": run.most_in_flight,
            "waited": run.waited,
            "most_waiting": run.most_waiting,
        },
        "latency_bound": judging.bound(query, settings.scenario),
        "target_latency": judging.latency_verdict(query, settings.scenario, demands),
        "items": _items(plan, times),
    }
    why = judging.reasons(run, settings, demands, facts)
    return facts | {"valid": not why, "reasons": why}


def write_result(document: Mapping[str, Any], path: Path) -> None:
    """Write a result whole or not at all."""
    write_whole(path, json.dumps(document, indent=2) + "\n")


def as_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """A result for people."""
    said = "valid" if facts["valid"] else "NOT VALID"
    yield f"{facts['scenario']}: {said}"
    yield from (f"  {why}" for why in facts["reasons"])
    yield (
        f"queries      {facts['queries']} in {facts['duration_seconds']:.3f} s,"
        f" {facts['failed']} requests failed, {facts['unfinished']} without an answer"
    )
    rate = facts["rate"]
    rates = ", ".join(
        f"{name} {rate[name]:.6g}"
        for name in ("nominal", "planned", "issued", "completed")
        if rate[name] is not None
    )
    yield f"rate         {rates} a second: {rate['verdict']}"
    for name in ("latency", "service", "start_delay"):
        yield _summary_line(name.replace("_", " "), facts[f"{name}_seconds"])
    overload = facts["overload"]
    yield (
        f"in flight    {overload['most_in_flight']} at most;"
        f" {overload['waited']} waited for a place, {overload['most_waiting']} at once"
    )
    proven = facts["latency_bound"]
    if proven is not None:
        yield _bound_line(proven)
    target = facts["target_latency"]
    if target is not None:
        yield (
            f"target       p{target['percentile'] * 100:g} of {target['seconds']:g} s:"
            f" {target['verdict']}; {target['over']} of {target['queries']} over,"
            f" {target['more_needed']} more queries needed"
        )
    for error in facts["errors"]:
        yield f"error        {error['count']} × {shown(error['what'], 120)}"


def _summary_line(name: str, values: Mapping[str, float | None]) -> str:
    parts = [
        f"{key} {_duration(values[key])}"
        for key in ("mean", "p50", "p90", "p99", "p99.9", "max")
        if values[key] is not None
    ]
    return f"{name:12} {', '.join(parts) or 'none'}"


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "none"
    return f"{seconds:.3f} s" if abs(seconds) >= 1 else f"{seconds * 1e3:.3f} ms"


def _bound_line(proven: Mapping[str, Any]) -> str:
    what = f"p{proven['percentile'] * 100:g}"
    if proven["seconds"] is None:
        missing = proven["queries_needed"] - proven["queries"]
        return f"bound        {what} is not proven: {missing} more queries needed"
    sure = f"with {proven['confidence']:.0%} confidence"
    return f"bound        {what} is at most {_duration(proven['seconds'])} {sure}"


class _Times:
    """The journal's columns as arrays, in seconds where they are spans."""

    def __init__(self, run: Run) -> None:
        journal = run.journal
        scheduled = np.array(journal.scheduled, dtype=np.int64)
        self.items: Integers = np.array(journal.items, dtype=np.int64)
        self.started: Integers = np.array(journal.started, dtype=np.int64)
        self.ended: Integers = np.array(journal.ended, dtype=np.int64)
        self.failed = np.array(journal.failures, dtype=np.int64) >= 0
        self.good = (self.ended >= 0) & ~self.failed
        self.service: Floats = (self.ended - self.started) / 1e9
        self.delay: Floats = (self.started - scheduled) / 1e9
        self.latency: Floats = (self.ended - scheduled) / 1e9


def _items(plan: Plan, times: _Times) -> list[dict[str, Any]]:
    """Numbers of single items, those with the most requests first."""
    count = len(plan.items)
    asked = np.bincount(times.items, minlength=count)
    failed = np.bincount(times.items[times.failed], minlength=count)
    order = np.argsort(times.items[times.good], kind="stable")
    latencies = times.latency[times.good][order]
    ends = np.cumsum(np.bincount(times.items[times.good], minlength=count))
    rows = []
    for item in np.argsort(-asked, kind="stable")[:_ITEMS].tolist():
        own = np.sort(latencies[(ends[item - 1] if item else 0) : ends[item]])
        some = len(own) > 0
        rows.append(
            {
                "name": plan.items[item].name,
                "requests": int(asked[item]),
                "failed": int(failed[item]),
                "mean_seconds": float(own.mean()) if some else None,
                "p50_seconds": percentile(own, 0.50) if some else None,
                "p99_seconds": percentile(own, 0.99) if some else None,
            }
        )
    return rows


def _errors(run: Run) -> list[dict[str, Any]]:
    failures = np.array([one for one in run.journal.failures if one >= 0], dtype=int)
    counts = np.bincount(failures, minlength=len(run.journal.errors)).tolist()
    named = zip(run.journal.errors, counts, strict=True)
    return [{"what": what, "count": count} for what, count in named]


def _instant(window: Window) -> dict[str, Any]:
    """An instant on both clocks, and as UTC to the microsecond."""
    return {
        "utc": precise_instant(window.epoch_ns),
        "epoch_ns": window.epoch_ns,
        "monotonic_ns": window.monotonic_ns,
    }
