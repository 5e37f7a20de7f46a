"""What the commands write opens in Perfetto, which loses nothing of it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.simulators.perfetto import COUNTERS, FLOWS, LOST, SLICES, ask
from tests.simulators.profilers import (
    NSYS,
    NVPROF,
    nsys_recording,
    nvprof_recording,
    write,
)
from tools.traces.converting import convert_trace
from tools.traces.filtering import filter_trace
from tools.traces.filtering_conditions import Conditions
from tools.traces.forms import Form
from tools.traces.imports.importing import import_trace

ODD = (
    '[{"ph":"X","name":"a","ts":"2.5","dur":1,"pid":"Spans","tid":"x"},\n'
    '{"ph":"X","name":"a","ts":-7,"dur":2,"pid":"Spans","tid":"y"},\n'
    '{"ph":"X","name":"c","ts":1,"dur":1,"pid":1,"tid":140013409360768},\n'
    '{"ph":"X","name":"lost","ts":,"dur":1},\n'
)


def test_perfetto_loses_nothing_of_what_is_written(tmp_path: Path) -> None:
    nvprof = write(tmp_path / "nvprof.sqlite", NVPROF, nvprof_recording())
    nsys = write(tmp_path / "nsys.sqlite", NSYS, nsys_recording())
    (tmp_path / "odd.json").write_text(ODD)
    traces = [tmp_path / f"{name}.json" for name in ("nv", "ns", "some", "regular")]
    import_trace(nvprof, traces[0])
    import_trace(nsys, traces[1])
    filter_trace(traces[1], traces[2], Conditions(names=("cuda*", "void*", "req*")))
    convert_trace(tmp_path / "odd.json", Form.PERFETTO, traces[3])

    queries = {"lost": LOST, "slices": SLICES, "flows": FLOWS, "counters": COUNTERS}
    nv, ns, some, regular = ask(traces, queries)

    assert [one.rows("lost") for one in (nv, ns, some, regular)] == [[]] * 4
    assert [one.rows("flows") for one in (nv, ns, some)] == [[(3,)], [(3,)], [(2,)]]
    assert dict(_durations(nv.rows("slices")))["cudaMemcpy"] == 900_001
    assert _durations(ns.rows("slices")) == [
        *(("CUPTI buffer flush", 3450), ("Memcpy HtoD", 1000), ("crossing", 2500)),
        *(("cudaFree", 0), ("cudaLaunchKernel", 2000), ("cudaMalloc", 0)),
        *(("cudaMemcpyAsync", 500), ("forward", 3100), ("inner", 1700), ("mark", 0)),
        *(("poll", 100), ("request", 8900), ("synchronization", 4000)),
        ("void gemm<float>(float*, int)", 6123),
    ]
    assert ("power watts", 1, 151.25, 151.25) in nv.rows("counters")
    assert ("SMs Active value", 2, 12, 90) in ns.rows("counters")
    assert _durations(regular.rows("slices")) == [("a", 3000), ("c", 1000)]


def _durations(rows: list[tuple[object, ...]]) -> list[tuple[str, int]]:
    return [(str(row[0]), int(str(row[2]))) for row in rows]


def test_the_command_says_what_it_imported(powerkit: object, tmp_path: Path) -> None:
    assert callable(powerkit)
    path = write(tmp_path / "nvprof.sqlite", NVPROF, nvprof_recording())
    out = tmp_path / "trace.json.gz"

    done = powerkit("trace", "import", "--from", "nvprof", path, "-o", out)

    assert (done.code, done.err) == (0, "")
    assert "CUPTI_ACTIVITY_KIND_RUNTIME" in done.out
    assert "not in it: CUPTI_ACTIVITY_KIND_MEMCPY2" in done.out
    assert "not imported: CUPTI_ACTIVITY_KIND_MODULE" in done.out
    assert out.read_bytes()[:2] == b"\x1f\x8b"
    told = json.loads(powerkit("trace", "import", path, "-o", out, "--json").out)
    assert (told["schema"], told["from"]) == ("trace-import/1", "nvprof")
    assert (told["arrows"], told["unmatched"]) == (3, 2)
    done = powerkit("trace", "import", "--from", "nsys", path, "-o", tmp_path / "b")
    assert done.code == 1
    assert "V050" in done.out + done.err
    assert "its tables are those of nvprof" in done.out + done.err
    assert not (tmp_path / "b").exists()
