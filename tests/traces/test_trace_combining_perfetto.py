"""Combined traces open in Perfetto's engine with all that their inputs have."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.simulators.chrome_traces import arrow, slice_, write
from tests.simulators.perfetto import COUNTERS, FLOWS, LOST, SLICES, ask
from tools.traces.combination import Combination
from tools.traces.combining import combine

QUERIES = {
    "each": "SELECT ts, dur, name, depth FROM slice ORDER BY ts, dur, name, depth",
    "slices": SLICES,
    "flows": FLOWS,
    "counters": COUNTERS,
    "lost": LOST,
}

FILES = (
    "perfetto/flow_events_json_v1.json",
    "perfetto/flow_events_json_v2.json",
    "catapult/async_begin_end.json",
    "catapult/instance_counters.json",
    "speedscope/zero-duration-events.json",  # its ends must not change places
    "pytorch_hta/execution_trace/benchmark_simple_add_trace.json.gz",
    "pytorch_hta/triton_example/triton_example.json.gz",
)
"""One for each kind of event; loading all of them takes a minute."""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("combined")


def test_perfetto_sees_the_same_as_in_published_traces(
    shared_data: Path, outputs: Path
) -> None:
    files = [shared_data / "chrome_traces" / name for name in FILES]
    written = []
    for number, path in enumerate(files):
        written.append(outputs / f"{number}.json")
        combine([(path, "x")], written[-1], Combination())
    together = outputs / "all.json"
    torch = [path for path in files if "pytorch_hta" in path.parts]
    combine([(path, path.name) for path in torch], together, Combination())
    answers = ask([*files, *written, together], QUERIES)
    before, after = answers[: len(files)], answers[len(files) : -1]
    flows = slices = 0
    for path, old, new in zip(files, before, after, strict=True):
        assert new.error is None, path
        if old.error is None:
            for query in QUERIES:
                assert old.rows(query) == new.rows(query), (path, query)
        if path in torch:
            flows += old.rows("flows")[0][0]
            slices += len(old.rows("each"))
    assert answers[-1].rows("flows") == [(flows,)]
    assert len(answers[-1].rows("each")) == slices
    assert flows >= 5
    lost = Counter(dict(answers[-1].rows("lost")))
    expected: Counter[str] = Counter()
    for path, old in zip(files, before, strict=True):
        if path in torch:
            expected += Counter(dict(old.rows("lost")))
    assert lost == expected


def test_arrows_of_several_files_are_drawn_within_each(outputs: Path) -> None:
    def events(id_: object) -> list[dict[str, object]]:
        return [
            slice_("from", 0, 10),
            arrow("s", id_, 5),
            slice_("to", 20, 10, tid=2),
            arrow("f", id_, 25, tid=2, bp="e"),
        ]

    paths = [
        (write(outputs / f"rank-{number}.json", events(id_)), str(number))
        for number, id_ in enumerate((1, "0x1", "text", 2**63))
    ]
    combine(paths, outputs / "ranks.json", Combination())
    query = (
        "SELECT COUNT(*), SUM(a.name = 'from' AND b.name = 'to' AND p.upid = q.upid)"
        " FROM flow f JOIN slice a ON f.slice_out = a.id"
        " JOIN slice b ON f.slice_in = b.id"
        " JOIN thread_track s ON s.id = a.track_id JOIN thread p ON p.utid = s.utid"
        " JOIN thread_track t ON t.id = b.track_id JOIN thread q ON q.utid = t.utid"
    )
    names = "SELECT DISTINCT name FROM process WHERE name IS NOT NULL ORDER BY name"
    (answer,) = ask(
        [outputs / "ranks.json"], {"arrows": query, "lost": LOST, "names": names}
    )
    assert answer.rows("arrows") == [(4, 4)]
    assert answer.rows("lost") == []
    assert answer.rows("names") == [("0 / 1",), ("1 / 1",), ("2 / 1",), ("3 / 1",)]
