"""Totals and self times against Perfetto's engine: all real traces, and a made one.

Where the two differ, the test says in which file, at which name, and how: what Perfetto
v52 does with slices that overlap is known to be wrong (google/perfetto #4280).
"""

from __future__ import annotations

import gzip
import json
import random
import runpy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.simulators.nests import nested_trace
from tests.simulators.perfetto import COUNTERS, FLOWS, LOST, Answer, ask
from tools.traces.reading import Found, events
from tools.traces.summaries import Summary

Row = tuple[int, int, int]
"""Count, total and self nanoseconds."""

CLOSED = """
    WITH ends AS (
        SELECT track_id, MAX(ts + MAX(dur, 0)) AS last FROM slice GROUP BY track_id
    ), closed AS (
        SELECT id, parent_id, track_id, name, IIF(dur < 0, last - ts, dur) AS dur
        FROM slice JOIN ends USING (track_id)
    ), inner AS (
        SELECT parent_id, SUM(dur) AS dur FROM closed GROUP BY parent_id
    )
    SELECT t.type, c.name, COUNT(*), SUM(c.dur), SUM(c.dur - COALESCE(i.dur, 0))
    FROM closed c JOIN track t ON t.id = c.track_id
    LEFT JOIN inner i ON i.parent_id = c.id
    GROUP BY t.type, c.name
"""
"""Slices that nothing ends are closed with their track, as we do; Perfetto has -1."""

MADE = "made.json.gz"
SHUFFLED = "shuffled.json"
BENCHMARK = "benchmark.json"

# The reasons:
# dropped: Perfetto leaves out a complete event that overlaps another one.
# placed: Perfetto ends a begin that outlives its parent with the parent.
# negative: Perfetto takes a child's whole duration from its parent, the outside too.
# main: Perfetto takes thread 0 of process 1 and thread 1 of process 1 for one thread.
# first: Perfetto puts complete events around begins of the same time, of any length.
# end: for Perfetto a track ends with its last slice, for us with its last event.
DIFFERENCES: dict[str, dict[str, tuple[Row | None, Row | None]]] = {
    "clang_ftime_trace/self-win-clang-cl-9.0rc2/Colors.json": {  # main, dropped
        "ExecuteCompiler": ((1, 738367000, 4181000), None),
        "Total ExecuteCompiler": ((1, 738367000, 738367000), (1, 738367000, 4181000)),
    },
    "pytorch_hta/critical_path/alexnet/"
    "benchmark_result_2869224_1695835535_trace.json.gz": {  # dropped
        "Stream Sync": ((16, 544000, 532000), (8, 73000, 61000)),
        "Memcpy HtoD (Pageable -> Device)": (
            (16, 55503000, 55085000),
            (16, 55503000, 55503000),
        ),
    },
    "pytorch_hta/critical_path/simple_add/"
    "benchmark_result_493459_1694039959_trace.json.gz": {  # dropped
        "Stream Sync": ((16, 581000, 569000), (9, 83000, 71000)),
        "Memcpy HtoD (Pageable -> Device)": (
            (16, 39080000, 38628000),
            (16, 39080000, 39080000),
        ),
    },
    "speedscope/bex-interaction.json": {  # first, placed
        "E": ((1, 1000, 1000), (1, 1000, 0)),
        "F": ((1, 2000, 1000), (1, 1000, 1000)),
        "G": ((1, 2000, 1000), (1, 1000, 1000)),
        "H": ((1, 1000, 1000), (1, 1000, 0)),
    },
    "speedscope/end-non-top-of-stack.json": {  # negative
        "A": ((1, 10000, 1000), (1, 10000, 0)),
    },
    "speedscope/invalid-x-nesting.json": {  # dropped
        "alpha": ((1, 10000, 5000), (1, 10000, 10000)),
        "beta": ((1, 10000, 10000), None),
    },
    "speedscope/mismatched-name.json": {  # end
        "alpha": ((1, 10000, 10000), (1, 0, 0)),
    },
    "speedscope/multiprocess.json": {  # main
        "gamma": ((1, 1000, 1000), (1, 1000, 0)),
    },
    "speedscope/out-of-order-unbalanced-name.json": {  # placed
        "beta": ((1, 9000, 9000), (1, 8000, 8000)),
    },
    "speedscope/unbalanced-name.json": {  # placed
        "beta": ((1, 9000, 9000), (1, 8000, 8000)),
    },
}


@pytest.fixture(scope="module")
def answers(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Answer]:
    """What Perfetto says about each file, by its name; all of one process of Node."""
    folder = tmp_path_factory.mktemp("made")
    made = nested_trace(seed=7, threads=5, calls=700)
    document = {"traceEvents": made, "displayTimeUnit": "ns"}
    (folder / MADE).write_bytes(gzip.compress(json.dumps(document).encode()))
    random.Random(8).shuffle(made)
    (folder / SHUFFLED).write_text(json.dumps(made))
    _write_benchmark(folder / BENCHMARK)
    files = {name: folder / name for name in (MADE, SHUFFLED, BENCHMARK)}
    try:
        real = request.getfixturevalue("shared_data") / "chrome_traces"
    except pytest.skip.Exception:
        real = folder / "nothing"
    found = (one for one in real.rglob("*") if one.suffix in {".json", ".gz"})
    files |= {one.relative_to(real).as_posix(): one for one in sorted(found)}
    queries = {"slices": CLOSED, "lost": LOST, "flows": FLOWS, "counters": COUNTERS}
    return dict(zip(files, ask(files.values(), queries), strict=True))


def _write_benchmark(path: Path) -> None:
    """Write a small trace of the generator that the benchmark measures with."""
    script = Path(__file__).parents[2] / "benchmarks" / "traces.py"
    benchmark = runpy.run_path(str(script))
    benchmark["write"](path, iter([benchmark["body"](0, 600_000)]))


def theirs(answer: Answer, *types: str) -> dict[str, Row]:
    """Perfetto's rows by name."""
    rows = [row for row in answer.rows("slices") if row[0] in types]
    return {name or "": (count, total, own) for _, name, count, total, own in rows}


def ours(file: Path) -> dict[str, Row]:
    """Our rows by name, with the instants of threads, which Perfetto calls slices."""
    summary = Summary()
    summary.add(file)
    rows = {row.name: (row.count, row.total, row.self) for row in summary.statistics()}
    for event in events(file, Found()):
        if event.get("ph") in ("i", "I", "R") and event.get("s", "t") == "t":
            name = event.get("name") or ""
            count, total, own = rows.get(name, (0, 0, 0))
            rows[name] = count + 1, total, own
    return rows


def differences(one: dict[str, Row], other: dict[str, Row]) -> dict[str, Any]:
    return {
        name: (one.get(name), other.get(name))
        for name in one.keys() | other.keys()
        if one.get(name) != other.get(name)
    }


def test_real_traces_sum_up_as_in_perfetto(
    answers: dict[str, Answer], shared_data: Path
) -> None:
    found = {}
    for name, answer in answers.items():
        if name in {MADE, SHUFFLED, BENCHMARK}:
            continue
        if one := differences(ours(answer.file), theirs(answer, "thread_execution")):
            found[name] = one
    assert len(answers) > 40
    assert found == DIFFERENCES


def test_what_perfetto_drops_is_counted_as_overlapping(
    answers: dict[str, Answer], shared_data: Path
) -> None:
    dropped = {}
    for name, answer in answers.items():
        lost = dict(answer.rows("lost"))
        if count := lost.get("slice_drop_overlapping_complete_event"):
            one = Summary().add(answer.file)
            dropped[Path(name).parent.name] = (one.troubles.overlapping, count)
    assert dropped == {
        "self-win-clang-cl-9.0rc2": (0, 1),  # two threads that Perfetto takes for one
        "alexnet": (8, 8),
        "simple_add": (7, 7),
        "speedscope": (1, 1),
    }


@pytest.mark.parametrize("name", [MADE, SHUFFLED, BENCHMARK])
def test_a_made_trace_sums_up_as_in_perfetto(
    answers: dict[str, Answer], name: str
) -> None:
    answer = answers[name]
    # In another order of the file a flow may come before the slice that it starts in.
    assert [one for one, _ in answer.rows("lost") if not one.startswith("flow_")] == []
    rows = ours(answer.file)
    assert sum(count for count, _, _ in rows.values()) > 3500
    assert differences(rows, theirs(answer, "thread_execution")) == {}


def test_beside_slices_the_same_is_counted(answers: dict[str, Answer]) -> None:
    answer = answers[MADE]
    summary = Summary()
    one = summary.add(answer.file)
    async_rows = summary.statistics(asynchronous=True)
    rows = {row.name: (row.count, row.total, row.self) for row in async_rows}
    assert rows == theirs(answer, "legacy_async_global_slice")
    assert one.flows.flows == one.flows.starts == answer.rows("flows")[0][0] > 100
    assert one.flows.without_start == one.flows.without_end == 0

    values: Counter[str] = Counter()
    for _, each in summary.counters:
        values[f"{each.counter} {each.series}"] += each.count
    assert values == Counter({row[0]: row[1] for row in answer.rows("counters")})
