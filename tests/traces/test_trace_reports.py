"""Public reports about other tools, each as the smallest input that shows it.

2 google/perfetto #926 and #1822, tarides/runtime_events_tools #121;
5 triton-lang/triton PR 10956, lightseekorg/tokenspeed PR 734;
6 gaogaotiantian/viztracer #208; 7 viztracer #361, #534, #107;
8 viztracer #115, #308, facebookresearch/HolisticTraceAnalysis #48;
9 HolisticTraceAnalysis PR 324, PR 226, #107; 11 NVIDIA/TensorRT-LLM PR 13536.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.simulators.bounded import peak_mib
from tests.simulators.chrome_traces import arrow, named, read, rows, slice_, write
from tests.simulators.commands import Done

Powerkit = Callable[..., Done]
TWO = '{"ph":"X","name":"a","ts":1,"dur":2},\n{"ph":"X","name":"b","ts":4,"dur":2}'


@pytest.mark.parametrize(
    "text",
    [
        "[" + TWO + ",\n",
        '{"traceEvents":[' + TWO + ",]}",
    ],
)
def test_report_02_a_trace_that_was_not_ended(
    powerkit: Powerkit, tmp_path: Path, text: str
) -> None:
    path = write(tmp_path / "t.json", text.encode())
    events, found = read(path)
    assert [event["name"] for event in events] == ["a", "b"]
    assert found.unterminated is not text.endswith("}")
    done = powerkit("trace", "validate", path)
    assert done.code == 0
    assert ("warning V005" in done.out) is found.unterminated


def test_report_05_ranks_share_neither_arrows_nor_processes(
    powerkit: Powerkit, tmp_path: Path
) -> None:
    rank = [arrow("s", 1, 0, 0), arrow("f", 1, 5, 0)]
    first = write(tmp_path / "rank0.json", [*rank, slice_("x", 0, 1, 10_001)])
    second = write(tmp_path / "rank1.json", [*rank, slice_("x", 0, 1, 1)])
    out = tmp_path / "out.json"
    assert powerkit("trace", "combine", first, second, "-o", out).code == 0
    told = rows(out, "ph", "id", "pid")
    arrows = [row for row in told if row[0] in "sf"]
    assert arrows[0][1:] == arrows[1][1:]
    assert arrows[2][1:] == arrows[3][1:]
    assert arrows[0][1] != arrows[2][1]
    assert all(isinstance(id_, int) for _, id_, _ in arrows)
    assert len({pid for _, _, pid in told}) == 4


def test_report_06_a_trace_of_another_tool_beside_viztracers(
    powerkit: Powerkit, tmp_path: Path
) -> None:
    base = {
        "viztracer_metadata": {"version": "1.1", "baseTimeNanoseconds": 17 * 10**17}
    }
    ours = write(tmp_path / "viz.json", [slice_("x", 9, 1)], **base)
    other = write(tmp_path / "other.json", [slice_("y", 5, 1)])
    out = tmp_path / "out.json"
    done = powerkit("trace", "combine", ours, other, "-o", out, "--align", "wall")
    assert done.code == 1
    assert f"error V022 {other}: it tells no wall time" in done.out
    assert "--align: zero needs nothing" in done.out
    assert not out.exists()
    done = powerkit("trace", "combine", ours, other, "-o", out, "--align", "zero")
    assert done.code == 0
    assert rows(out, "name", "ts") == [("x", 0), ("y", 0)]


def test_report_07_clocks_with_other_origins(
    powerkit: Powerkit, tmp_path: Path
) -> None:
    base = 1_700_000_000_000_000_000
    sync = slice_("sync", 1000, 1)
    first = write(
        tmp_path / "a.json", [sync, slice_("x", 1100, 1)], baseTimeNanoseconds=base
    )
    late = base + 2_000_000
    events = [slice_("sync", 90, 1), slice_("y", 140, 1)]
    second = write(tmp_path / "b.json", events, baseTimeNanoseconds=late)
    out = tmp_path / "out.json"
    for options, times in (
        (("--align", "wall"), [1000, 1100, 2090, 2140]),
        (("--align", "marker", "--marker", "sync"), [1000, 1100, 1000, 1050]),
        (("--align", "zero"), [0, 100, 0, 50]),
        (("--align", "wall", "--zero"), [0, 100, 1090, 1140]),
    ):
        assert (
            powerkit("trace", "combine", first, second, "-o", out, *options).code == 0
        )
        assert [ts for (ts,) in rows(out, "ts")] == times


def test_report_08_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    lines = [
        json.dumps(slice_(f"n{n % 50}", n, 1, args={"id": n})) for n in range(10_000)
    ]
    block = ",\n".join(lines)
    paths = []
    for name, times in (("small.json", 1), ("large.json", 20)):
        path = tmp_path / name
        with path.open("w") as file:
            file.write('{"traceEvents":[\n')
            file.write(",\n".join([block] * times))
            file.write('\n],"after":1}')
        paths.append(path)
    small, large = (
        peak_mib("trace", "combine", path, "--align", "zero", "-o", tmp_path / "out")
        for path in paths
    )
    assert paths[1].stat().st_size > 15 * 2**20
    assert large < small + 8


def test_report_09_large_integers_bad_text_late_keys_and_names_only(
    powerkit: Powerkit, tmp_path: Path
) -> None:
    text = (
        '{"traceEvents":[{"ph":"X","name":"a\udcff","ts":1,"dur":2,"pid":1,"tid":1,'
        '"args":{"id":18446744073709551617}}],"deviceProperties":[{"id":0},{"id":1}]}'
    )
    path = write(tmp_path / "t.json", text.encode("utf-8", "surrogateescape"))
    out = tmp_path / "out.json"
    done = powerkit("trace", "combine", path, "-o", out)
    assert done.code == 0
    assert "warning V008" in done.err
    assert '"args":{"id":18446744073709551617}' in out.read_text()
    assert rows(out, "name") == [("a\ufffd",)]
    source = read(out)[1].metadata["otherData"]["sources"][0]
    assert source["metadata"]["deviceProperties"] == [{"id": 0}, {"id": 1}]
    only = write(tmp_path / "names.json", [named("process_name", 1, "x")])
    for arguments in (
        ("combine", only, "-o", out),
        ("summarize", only),
        ("validate", only),
    ):
        assert powerkit("trace", *arguments).code == 0


def test_report_11_two_programs_wrote_into_one_file(
    powerkit: Powerkit, tmp_path: Path
) -> None:
    one, two = (
        ",\n".join(json.dumps(slice_(f"{name}{n}", n, 1, pid)) for n in range(40))
        for pid, name in enumerate("ab")
    )
    size = 700  # of the buffers that the two wrote by turns
    parts = [
        text[at : at + size]
        for at in range(0, max(len(one), len(two)), size)
        for text in ("[" + one + "]", "[" + two + "]")
    ]
    path = write(tmp_path / "t.json", "".join(parts).encode())
    events, found = read(path)
    assert 60 < len(events) < 80
    assert found.events == len(events)
    assert 0 < found.bad_events < 20
    done = powerkit("trace", "validate", path)
    assert done.code == 1
    assert f"error V006 {path}" in done.out
    assert f"corrupt at byte {found.corrupt_at[0]}" in done.out
    assert f"{found.salvaged} salvaged of {found.events} that are used" in done.out
