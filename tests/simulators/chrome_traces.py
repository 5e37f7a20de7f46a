"""Chrome traces as tests write and read them."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

from tools.traces.reading import Found, events

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["arrow", "named", "read", "rows", "slice_", "write"]


def slice_(
    name: str, ts: float, dur: float, pid: Any = 1, **more: Any
) -> dict[str, Any]:
    """A complete event on thread 1."""
    known = {"ph": "X", "name": name, "ts": ts, "dur": dur, "pid": pid, "tid": 1}
    return known | more


def arrow(phase: str, id_: Any, ts: float, pid: Any = 1, **more: Any) -> dict[str, Any]:
    """An end of an arrow: s, t or f."""
    known = {"ph": phase, "name": "a", "cat": "c", "id": id_, "ts": ts, "pid": pid}
    return known | {"tid": 1} | more


def named(kind: str, pid: Any, value: Any, **more: Any) -> dict[str, Any]:
    """A metadata event, such as process_name."""
    key = {"process_labels": "labels", "process_sort_index": "sort_index"}
    return {
        "ph": "M",
        "name": kind,
        "pid": pid,
        "args": {key.get(kind, "name"): value},
    } | more


def write(path: Path, events_: Any, **others: Any) -> Path:
    """Write a trace: an array, or an object if it has other keys; gzip by its name."""
    value = {"traceEvents": events_, **others} if others else events_
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    path.write_bytes(gzip.compress(data, 1) if path.suffix == ".gz" else data)
    return path


def read(path: Path) -> tuple[list[dict[str, Any]], Found]:
    """All events of a trace, and what reading it found."""
    found = Found()
    return list(events(path, found)), found


def rows(path: Path, *keys: str) -> list[tuple[Any, ...]]:
    """Some values of each event that is no metadata event."""
    return [
        tuple(event.get(key) for key in keys)
        for event in read(path)[0]
        if event.get("ph") != "M"
    ]
