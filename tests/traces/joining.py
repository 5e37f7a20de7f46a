"""Traces that a test combines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.simulators.chrome_traces import write
from tools.traces.combination import Combination, Combined
from tools.traces.combining import combine

PLAIN = Combination()


def joined(
    folder: Path, *traces: Any, how: Combination = PLAIN, **more: Any
) -> Combined:
    """Combine traces, called a, b and so on, into out.json."""
    sources = []
    for number, events in enumerate(traces):
        label = chr(ord("a") + number)
        path = events
        if not isinstance(events, Path):
            path = write(folder / f"{label}.json", events, **more)
        sources.append((path, label))
    return combine(sources, folder / "out.json", how)
