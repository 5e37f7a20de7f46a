"""What a run of a workload leaves: a result for programs, and a Chrome trace.

The trace has a span for each phase and each iteration, and the memory that was taken in
the form of PyTorch's profiler, which `powerkit trace memory` adds up.
"""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tools.files.writing import write_whole
from tools.traces.writing import TraceWriter, microseconds
from tools.workloads.catalogue import Chosen
from tools.workloads.measuring import Course, Measured

__all__ = ["result_of", "write_result", "write_trace"]

SCHEMA: Final = "workload-result/1"


def result_of(chosen: Chosen, course: Course, measured: Measured) -> dict[str, Any]:
    """Return the result, workload-result/1; experiments read three keys of it."""
    ordered = sorted(measured.durations())
    return {
        "schema": SCHEMA,
        "workload": chosen.builtin.name,
        "label": chosen.builtin.label,
        "parameters": dict(chosen.values),
        "init": course.init,
        "seed": course.conditions.seed,
        "threads": course.conditions.threads,
        "warm_up": measured.warm_up,
        "iterations": measured.iterations,
        "phases": measured.phases,
        "iteration_seconds": {
            "min": ordered[0] / 1e9,
            "median": statistics.median(ordered) / 1e9,
            "p95": ordered[(95 * len(ordered) - 1) // 100] / 1e9,
            "max": ordered[-1] / 1e9,
        },
        "amount": measured.amount,
        "performance": measured.performance,
        "performance_unit": measured.unit,
    }


def write_result(result: dict[str, Any], path: Path) -> None:
    """Write a result, whole or not at all."""
    write_whole(path, json.dumps(result, indent=2, allow_nan=False) + "\n")


def write_trace(chosen: Chosen, course: Course, measured: Measured, path: Path) -> None:
    """Write the trace of a run; its 0 is the run's beginning."""
    about = {
        "workload": chosen.builtin.name,
        "parameters": dict(chosen.values),
        "eager_mode": course.init == "eager",
        "eager_mode_async": course.init == "async",
        "seed": course.conditions.seed,
        "threads": course.conditions.threads,
    }
    metadata = {
        "baseTimeNanoseconds": measured.started_epoch_ns,
        "otherData": about,
    }
    with TraceWriter(path, metadata=metadata) as trace:
        trace.write(_names(chosen, measured))
        trace.write(_phases(measured))
        trace.write(_iterations(measured))
        trace.write(_memory(measured))


def _names(chosen: Chosen, measured: Measured) -> Iterator[dict[str, Any]]:
    yield _named("process_name", os.getpid(), f"powerkit {chosen.builtin.name}")
    main = measured.spans[0].thread
    for thread in dict.fromkeys(span.thread for span in measured.spans):
        yield _named("thread_name", thread, "main" if thread == main else "init")


def _named(kind: str, thread: int, name: str) -> dict[str, Any]:
    return {
        "name": kind,
        "ph": "M",
        "pid": os.getpid(),
        "tid": thread,
        "args": {"name": name},
    }


def _phases(measured: Measured) -> Iterator[dict[str, Any]]:
    for span in measured.spans:
        yield _span(measured, span.name, "phase", span.start_ns, span.end_ns) | {
            "tid": span.thread
        }


def _iterations(measured: Measured) -> Iterator[dict[str, Any]]:
    times = measured.times
    main = measured.spans[0].thread
    for number in range(len(times) // 2):
        warm = number < measured.warm_up
        name = "warm-up" if warm else "iteration"
        counted = number if warm else number - measured.warm_up
        start, end = times[2 * number], times[2 * number + 1]
        yield _span(measured, name, "iteration", start, end) | {
            "tid": main,
            "args": {"number": counted + 1},
        }


def _span(
    measured: Measured, name: str, category: str, start: int, end: int
) -> dict[str, Any]:
    return {
        "name": name,
        "cat": category,
        "ph": "X",
        "ts": microseconds(start - measured.started_ns),
        "dur": microseconds(end - start),
        "pid": os.getpid(),
    }


def _memory(measured: Measured) -> Iterator[dict[str, Any]]:
    """Yield what was taken, and that all of it was let go at the end."""
    end = max(span.end_ns for span in measured.spans)
    main = measured.spans[0].thread
    total = 0
    changes = [(one.at_ns, one.thread, one.name, one.bytes) for one in measured.holds]
    changes += [(end, main, one.name, -one.bytes) for one in measured.holds]
    addresses = {one.name: number for number, one in enumerate(measured.holds, 1)}
    for at, thread, name, size in changes:
        total += size
        yield {
            "name": "[memory]",
            "cat": "memory",
            "ph": "i",
            "s": "t",
            "ts": microseconds(at - measured.started_ns),
            "pid": os.getpid(),
            "tid": thread,
            "args": {
                "Bytes": size,
                "Addr": addresses[name],
                "Device Type": 0,
                "Device Id": 0,
                "Total Allocated": total,
                "for": name,
            },
        }
