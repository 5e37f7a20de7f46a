"""Requests of a run as a Chrome trace: how long each waited and was served."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.load.requests import Plan
from tools.load.running import Run
from tools.traces.writing import TraceWriter, microseconds

__all__ = ["write_trace"]

_PID = 1


def write_trace(plan: Plan, run: Run, path: Path) -> None:
    """Write a trace.

    Requests in flight at the same time have different threads, which are named lanes,
    so that spans of one thread never overlap. A wait before a request was sent is an
    asynchronous span with the request's number as its id. Time 0 is the run's
    beginning; `baseTimeNanoseconds` says when that was.
    """
    metadata = {
        "baseTimeNanoseconds": run.begin.epoch_ns,
        "otherData": {"tool": "load"},
    }
    with TraceWriter(path, metadata=metadata) as trace:
        trace.write(_names(run))
        trace.write(_events(plan, run))


def _names(run: Run) -> Iterator[dict[str, Any]]:
    name = {"name": "process_name", "ph": "M", "pid": _PID, "tid": 0}
    yield name | {"args": {"name": "load"}}
    for lane in range(max(run.journal.lanes, default=-1) + 1):
        thread = {"name": "thread_name", "ph": "M", "pid": _PID, "tid": lane}
        yield thread | {"args": {"name": f"lane {lane}"}}


def _events(plan: Plan, run: Run) -> Iterator[dict[str, Any]]:
    journal = run.journal
    for row in range(len(journal)):
        item = plan.requests.names[journal.items[row]]
        due, started, ended = (
            journal.scheduled[row],
            journal.started[row],
            journal.ended[row],
        )
        if ended < 0:
            lost = {"name": "no answer", "ph": "i", "s": "p", "cat": "load"}
            args = {"item": item, "i": row}
            yield lost | {"ts": microseconds(due), "pid": _PID, "tid": 0, "args": args}
            continue
        if started > due:
            wait = {"name": "queue", "cat": "queue", "id": row, "pid": _PID, "tid": 0}
            args = {"item": item}
            yield wait | {"ph": "b", "ts": microseconds(due), "args": args}
            yield wait | {"ph": "e", "ts": microseconds(started)}
        args = {"item": item, "i": row, "query": journal.queries[row]}
        if journal.failures[row] >= 0:
            args["error"] = journal.errors[journal.failures[row]]
        yield {
            "name": "service",
            "cat": "service",
            "ph": "X",
            "ts": microseconds(started),
            "dur": microseconds(ended - started),
            "pid": _PID,
            "tid": journal.lanes[row],
            "args": args,
        }
