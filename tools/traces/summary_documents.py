"""A summary as a document for programs, trace-summary/1; times are nanoseconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from tools.traces.choices import Sort
from tools.traces.statistics import Statistic
from tools.traces.summaries import Input, Summary
from tools.traces.tree import Node

__all__ = ["SCHEMA", "as_document", "sorted_statistics"]

SCHEMA: Final = "trace-summary/1"
CORRUPT: Final = (
    "salvaged",
    "bad_events",
    "not_objects",
    "bad_utf8",
    "not_numbers",
    "corrupt",
    "corrupt_at",
    "metadata_left_out",
)

COUNTER: Final = (
    "counter",
    "series",
    "count",
    "least",
    "mean",
    "greatest",
    "last",
    "integral",
    "joules",
)


def sorted_statistics(rows: Sequence[Statistic], sort: Sort) -> list[Statistic]:
    """Order statistics; those that are equal by their names."""
    return sorted(rows, key=lambda row: (-int(getattr(row, sort)), row.name))


def as_document(summary: Summary, sort: Sort, top: int | None) -> dict[str, Any]:
    """A summary, without its records.

    Args:
        summary: the summary; its statistics are used up by this.
        sort: how to order statistics and calls.
        top: how many statistics to keep; all if None.
    """
    threads = sorted_statistics(summary.statistics(), sort)
    others = sorted_statistics(summary.statistics(asynchronous=True), sort)
    return {
        "by": str(summary.by),
        "sort": str(sort),
        "inputs": [_input(one) for one in summary.inputs],
        "runs": [
            {"input": number} | run
            for number, one in enumerate(summary.inputs)
            for run in one.runs
        ],
        "statistics": [_statistic(row) for row in threads[:top]],
        "statistics_left_out": len(threads) - len(threads[:top]),
        "asynchronous": [_statistic(row) for row in others[:top]],
        "asynchronous_left_out": len(others) - len(others[:top]),
        "names_folded": summary.pairs.folded,
        "counters": [
            {"process": process} | {key: getattr(one, key) for key in COUNTER}
            for process, one in summary.counters
        ],
        "instants": [
            {"name": name, "count": count}
            for name, count in sorted(
                summary.instants.items(), key=lambda item: (-item[1], item[0])
            )
        ],
        "calls": [_call(node) for node in summary.calls(str(sort))],
    }


def _input(one: Input) -> dict[str, Any]:
    return {
        "path": str(one.path),
        "container": one.found.container,
        "compressed": one.found.compressed,
        "unterminated": one.found.unterminated,
        "events": one.found.events,
        "first_ns": one.first_ns,
        "last_ns": one.last_ns,
        "phases": dict(sorted(one.phases.items())),
        "damage": {key: getattr(one.found, key) for key in CORRUPT},
        "odd": asdict(one.troubles)
        | {
            "unknown_phases": one.unknown_phases,
            "counter_values_unusable": one.counter_values_unusable,
            "counter_series_left_out": one.counter_series_left_out,
        },
        "flows": asdict(one.flows),
    }


def _statistic(row: Statistic) -> dict[str, Any]:
    return {
        "name": row.name,
        "count": row.count,
        "incomplete": row.incomplete,
        "total_ns": row.total,
        "self_ns": row.self,
        "min_ns": row.least,
        "mean_ns": row.mean,
        "median_ns": row.median,
        "p95_ns": row.p95,
        "p99_ns": row.p99,
        "max_ns": row.greatest,
    }


def _call(node: Node) -> dict[str, Any]:
    return {
        "depth": node.depth,
        "parent": node.parent,
        "name": node.name,
        "asynchronous": node.asynchronous,
        "count": node.count,
        "total_ns": node.total,
        "self_ns": node.self,
    }
