"""A small trace, and its summary for programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.simulators import chrome_traces
from tests.simulators.commands import Done

CALLS: list[dict[str, Any]] = [
    {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "trainer"}},
    {"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": "main"}},
    {"ph": "X", "name": "step", "cat": "py", "ts": 0, "dur": 1000, "pid": 1, "tid": 2},
    {"ph": "X", "name": "load", "cat": "io", "ts": 10, "dur": 300, "pid": 1, "tid": 2},
    {"ph": "X", "name": "load", "cat": "io", "ts": 400, "dur": 100, "pid": 1, "tid": 2},
    {"ph": "B", "name": "late", "cat": "py", "ts": 2000, "pid": 3, "tid": 3},
    {"ph": "b", "name": "read", "cat": "io", "id": 1, "ts": 1, "pid": 1, "tid": 2},
    {"ph": "e", "name": "read", "cat": "io", "id": 1, "ts": 4, "pid": 1, "tid": 2},
    {"ph": "C", "name": "gpu_0_watts", "ts": 0, "pid": 1, "args": {"value": 100}},
    {"ph": "C", "name": "gpu_0_watts", "ts": 2000000, "pid": 1, "args": {"value": 50}},
    {"ph": "i", "name": "mark", "ts": 5, "pid": 1, "tid": 2, "s": "t"},
    {"ph": "s", "name": "f", "cat": "f", "id": 1, "ts": 5, "pid": 1, "tid": 2},
]


def write(path: Path, events: Any = CALLS, **metadata: Any) -> Path:
    return chrome_traces.write(path, events, **metadata)


def one_of(done: Done) -> dict[str, Any]:
    assert (done.code, done.err) == (0, "")
    document = json.loads(done.out)
    assert document["schema"] == "trace-summary/1"
    (summary,) = document["summaries"]
    return dict(summary)
