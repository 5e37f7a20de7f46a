"""Small traces in a line each, and what a filter leaves of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tools.traces.filtering import Filtered, filter_trace
from tools.traces.filtering_conditions import Conditions

__all__ = ["Event", "at", "filtered", "names", "x"]

Event = dict[str, Any]


def x(name: str, ts: float, dur: float, **more: Any) -> Event:
    """A complete event of thread 1 of process 1, if nothing else is said."""
    return {"ph": "X", "name": name, "ts": ts, "dur": dur, "pid": 1, "tid": 1} | more


def at(phase: str, ts: float, **more: Any) -> Event:
    """An event of any phase, likewise."""
    return {"ph": phase, "ts": ts, "pid": 1, "tid": 1} | more


def filtered(
    folder: Path, events: list[Event], **conditions: Any
) -> tuple[Filtered, list[Event]]:
    """Filter some events; give what was done, and what is left."""
    (folder / "a.json").write_text(json.dumps(events))
    out = folder / "b.json"
    done = filter_trace(folder / "a.json", out, Conditions(**conditions))
    kept: list[Event] = json.loads(out.read_bytes())["traceEvents"]
    assert done.kept == len(kept)
    return done, kept


def names(events: list[Event]) -> list[str]:
    """Names of events, or their phases where they have none."""
    return [one.get("name", one["ph"]) for one in events]
