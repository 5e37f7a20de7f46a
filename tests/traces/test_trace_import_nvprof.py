"""nvprof's databases become traces: calls, work, arrows, ranges, power."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from registry.documents.findings import RegistryError
from tests.simulators.profilers import (
    EPOCH,
    NVPROF,
    PID,
    TID,
    nvprof_recording,
    object_id,
    write,
)
from tools.traces.imports.cupti import call_name
from tools.traces.imports.imported import Account
from tools.traces.imports.importing import import_trace

KIND = "CUPTI_ACTIVITY_KIND_"
GPU = 1 << 24


def imported(
    folder: Path, rows: dict[str, list[dict[str, Any]]]
) -> tuple[Account, dict[str, Any]]:
    """Write a database, import it, and give the account and the trace."""
    path = write(folder / "nvprof.sqlite", NVPROF, rows)
    account = import_trace(path, folder / "trace.json")
    return account, json.loads((folder / "trace.json").read_bytes())


def named(trace: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [one for one in trace["traceEvents"] if one["name"] == name]


def test_calls_have_names_threads_and_nanoseconds(tmp_path: Path) -> None:
    _, trace = imported(tmp_path, nvprof_recording())

    copy = named(trace, "cudaMemcpy")[0]
    assert copy == {
        "name": "cudaMemcpy",
        "cat": "cuda_runtime",
        "ph": "X",
        "ts": 5,
        "dur": 900.001,
        "pid": PID,
        "tid": TID,
        "args": {"correlation": 5},
    }
    assert trace["baseTimeNanoseconds"] == EPOCH - 5000
    assert named(trace, "cuLaunchKernel")[0]["cat"] == "cuda_driver"
    unknown = named(trace, "cuda runtime call 9999")[0]
    assert unknown["args"] == {"correlation": 7, "returned": 1}


def test_kernels_have_their_launch_and_stream(tmp_path: Path) -> None:
    account, trace = imported(tmp_path, nvprof_recording())

    first, second = named(trace, "_Z6vecAddPfS_")
    assert (first["pid"], first["tid"], first["dur"]) == (GPU, 7, 100)
    assert first["args"]["grid"] == [57, 1, 1]
    assert first["args"]["block"] == [128, 1, 1]
    assert first["args"]["registers per thread"] == 32
    assert second["ts"] == first["ts"] + 100
    names = {
        (one["pid"], one["tid"]): one["args"]["name"]
        for one in trace["traceEvents"]
        if one["name"] == "thread_name"
    }
    assert names[GPU, 7] == "stream 7"
    processes = {
        one["pid"]: one["args"]["name"] for one in named(trace, "process_name")
    }
    assert processes == {GPU: "GPU 0: Tesla V100-SXM2", PID: "trainer"}
    assert account.untimed == {f"{KIND}CONCURRENT_KERNEL": 1}


def test_copies_tell_bytes_direction_and_rate(tmp_path: Path) -> None:
    _, trace = imported(tmp_path, nvprof_recording())

    assert named(trace, "Memcpy HtoD")[0]["args"] == {
        "bytes": 7_436_640,
        "memory bandwidth (GB/s)": 9.53,
        "from": "pageable",
        "to": "device",
        "how": "sync",
        "correlation": 5,
    }
    assert named(trace, "Memset")[0]["args"]["to"] == "device"


def test_arrows_lead_from_calls_to_all_they_started(tmp_path: Path) -> None:
    account, trace = imported(tmp_path, nvprof_recording())

    arrows = named(trace, "starts")
    begun = {one["id"]: (one["pid"], one["ts"]) for one in arrows if one["ph"] == "s"}
    ended = {one["id"]: (one["pid"], one["ts"]) for one in arrows if one["ph"] == "f"}
    assert account.arrows == 3
    assert begun == {1: (PID, 5), 2: (PID, 1005), 3: (PID, 1005)}
    assert ended == {1: (GPU, 6), 2: (GPU, 1015), 3: (GPU, 1115)}
    assert {one["bp"] for one in arrows if one["ph"] == "f"} == {"e"}


def test_a_call_of_the_driver_with_the_same_number_has_no_second_arrow(
    tmp_path: Path,
) -> None:
    rows = nvprof_recording()
    rows[f"{KIND}DRIVER"][0]["correlationId"] = 6

    account, trace = imported(tmp_path, rows)

    begun = [one["id"] for one in named(trace, "starts") if one["ph"] == "s"]
    assert begun == [1, 2, 3]
    assert account.arrows == 3


def test_ranges_are_pairs_and_marks_are_instants(tmp_path: Path) -> None:
    account, trace = imported(tmp_path, nvprof_recording())

    step = named(trace, "step")[0]
    assert (step["ts"], step["dur"], step["args"]["domain"]) == (0, 6005, "<domain>")
    mark, batch = named(trace, "batch")
    assert (mark["ph"], mark["ts"]) == ("i", 5.01)
    assert batch["args"] == {"payload": 42, "colour": "#00ff00", "category": 7}
    assert account.unmatched == 2
    assert account.overlapping == 0


@pytest.mark.parametrize(
    ("second", "phases"),
    [((2000, 9000), "Xbe"), ((2000, 4000), "XX"), ((5000, 9000), "XX")],
)
def test_ranges_that_cross_become_asynchronous(
    tmp_path: Path, second: tuple[int, int], phases: str
) -> None:
    marker = {"objectKind": 2, "objectId": object_id(PID, TID)}
    rows = [
        marker | {"flags": 2, "timestamp": 1000, "id": 1, "name": 1},
        marker | {"flags": 4, "timestamp": 5000, "id": 1},
        marker | {"flags": 2, "timestamp": second[0], "id": 2, "name": 1},
        marker | {"flags": 4, "timestamp": second[1], "id": 2},
    ]
    texts = [{"_id_": 1, "value": "range"}]

    account, trace = imported(tmp_path, {"StringTable": texts, f"{KIND}MARKER": rows})

    events = named(trace, "range")
    assert "".join(one["ph"] for one in events) == phases
    assert account.overlapping == phases.count("b")
    if phases == "Xbe":
        assert [one["ts"] for one in events[1:]] == [1, 8]


def test_an_end_that_comes_twice_is_used_once(tmp_path: Path) -> None:
    marker = {"objectKind": 2, "objectId": object_id(PID, TID)}
    rows = [
        marker | {"flags": 2, "timestamp": 1000, "id": 1, "name": 1},
        marker | {"flags": 4, "timestamp": 5000, "id": 1},
        marker | {"flags": 4, "timestamp": 3000, "id": 1},
    ]
    texts = [{"_id_": 1, "value": "range"}]

    account, trace = imported(tmp_path, {"StringTable": texts, f"{KIND}MARKER": rows})

    assert [one["dur"] for one in named(trace, "range")] == [4]
    assert account.unmatched == 1


def test_samples_of_power_become_counters(tmp_path: Path) -> None:
    _, trace = imported(tmp_path, nvprof_recording())

    power = named(trace, "power")[0]
    assert power["args"] == {"watts": 151.25, "limit_watts": 300.0}
    assert (power["ph"], power["pid"], power["ts"]) == ("C", GPU, 5.5)
    assert named(trace, "temperature")[0]["args"] == {"celsius": 61}


def test_overhead_lies_beside_its_thread(tmp_path: Path) -> None:
    _, trace = imported(tmp_path, nvprof_recording())

    flush = named(trace, "CUPTI buffer flush")[0]
    assert (flush["pid"], flush["dur"]) == (PID, 0.3)
    assert flush["tid"] != TID


def test_what_is_absent_and_what_is_not_imported_is_said(tmp_path: Path) -> None:
    account, trace = imported(tmp_path, nvprof_recording())

    assert account.absent == [
        f"{KIND}CDP_KERNEL",
        f"{KIND}KERNEL",
        f"{KIND}MEMCPY2",
    ]
    assert account.ignored == [f"{KIND}MODULE"]
    assert trace["imported"]["from"] == "nvprof"
    assert trace["imported"]["read"][f"{KIND}RUNTIME"] == 3


def test_streams_of_two_contexts_do_not_share_a_track(tmp_path: Path) -> None:
    rows = nvprof_recording()
    other = rows[f"{KIND}MEMSET"][0] | {"contextId": 2}
    rows[f"{KIND}MEMSET"].append(other)

    _, trace = imported(tmp_path, rows)

    first, second = named(trace, "Memset")
    assert first["tid"] == 7
    assert second["tid"] == 8


def test_a_database_without_activities_is_refused(tmp_path: Path) -> None:
    rows = {"StringTable": [{"_id_": 1, "value": "a"}]}
    path = write(tmp_path / "empty.sqlite", NVPROF, rows)

    with pytest.raises(RegistryError) as refused:
        import_trace(path, tmp_path / "trace.json")

    one = refused.value.findings[0]
    assert one.code == "V050"
    assert one.what == "it has no rows in any table of CUPTI's activities"
    assert [one.name for one in tmp_path.iterdir()] == ["empty.sqlite"]


@pytest.mark.parametrize(
    ("api", "number", "name"),
    [
        ("runtime", 13, "cudaLaunch"),
        ("runtime", 20, "cudaMalloc"),
        ("runtime", 211, "cudaLaunchKernel"),
        ("runtime", 214, "cudaLaunchKernel_ptsz"),
        ("driver", 1, "cuInit"),
        ("driver", 276, "cuMemcpyHtoD_v2"),
        ("driver", 307, "cuLaunchKernel"),
        ("driver", 1 << 40, f"cuda driver call {1 << 40}"),
        ("runtime", None, "cuda runtime call"),
    ],
)
def test_calls_are_named_by_number(api: str, number: object, name: str) -> None:
    assert call_name(api, number) == name
