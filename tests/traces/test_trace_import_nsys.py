"""Databases of `nsys export` become traces, whatever tables and columns they have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from registry.documents.findings import RegistryError
from tests.simulators.profilers import NSYS, identity, nsys_recording, write
from tools.traces.imports.imported import Account
from tools.traces.imports.importing import import_trace

GPU = 1 << 24


def imported(
    folder: Path, rows: dict[str, list[dict[str, Any]]], schema: Any = NSYS
) -> tuple[Account, dict[str, Any]]:
    """Write a database, import it, and give the account and the trace."""
    path = write(folder / "nsys.sqlite", schema, rows)
    account = import_trace(path, folder / "trace.json")
    return account, json.loads((folder / "trace.json").read_bytes())


def named(trace: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [one for one in trace["traceEvents"] if one["name"] == name]


def test_calls_are_on_the_threads_of_their_processes(tmp_path: Path) -> None:
    _, trace = imported(tmp_path, nsys_recording())

    launches = named(trace, "cudaLaunchKernel")
    assert [(one["pid"], one["tid"]) for one in launches] == [(100, 101), (200, 201)]
    poll = named(trace, "poll")[0]
    assert (poll["cat"], poll["ts"], poll["dur"]) == ("os_runtime", 4.6, 0.1)
    assert trace["baseTimeNanoseconds"] == 1_700_000_000_123_456_789


def test_one_correlation_number_in_two_processes_is_two_arrows(tmp_path: Path) -> None:
    account, trace = imported(tmp_path, nsys_recording())

    arrows = named(trace, "starts")
    begun = {one["id"]: one["pid"] for one in arrows if one["ph"] == "s"}
    ended = {one["id"]: one["tid"] for one in arrows if one["ph"] == "f"}
    threads = {
        one["tid"]: one["args"]["name"]
        for one in named(trace, "thread_name")
        if one["pid"] == GPU
    }
    assert account.arrows == len(begun) == len(ended) == 3
    for number, pid in begun.items():
        assert threads[ended[number]] == f"stream 7, process {pid}"


def test_kernels_have_their_demangled_name(tmp_path: Path) -> None:
    _, trace = imported(tmp_path, nsys_recording())

    kernel = named(trace, "void gemm<float>(float*, int)")[0]
    assert kernel["args"]["grid"] == [8, 1, 1]
    assert kernel["args"]["shared memory static"] == 1024
    assert named(trace, "Memcpy HtoD")[0]["args"]["from"] == "pinned"


def test_ranges_nest_or_are_asynchronous(tmp_path: Path) -> None:
    account, trace = imported(tmp_path, nsys_recording())

    forward, inner = named(trace, "forward")[0], named(trace, "inner")[0]
    assert (forward["ph"], forward["args"]) == ("X", {"domain": "torch"})
    assert inner["args"] == {"domain": "torch", "payload": 3}
    assert [one["ph"] for one in named(trace, "crossing")] == ["b", "e"]
    assert [one["ph"] for one in named(trace, "request")] == ["b", "e"]
    assert account.overlapping == 2
    assert account.unmatched == 1
    assert not named(trace, "never ended")


def test_memory_is_instants_and_a_counter(tmp_path: Path) -> None:
    _, trace = imported(tmp_path, nsys_recording())

    events = named(trace, "cudaMalloc") + named(trace, "cudaFree")
    assert [one["args"]["size"] for one in events] == [1 << 20, 512, 1 << 20]
    held = [one["args"]["bytes"] for one in named(trace, "memory of process 100")]
    assert held == [1 << 20, (1 << 20) + 512, 512]


def test_sampled_metrics_are_counters_of_the_right_gpu(tmp_path: Path) -> None:
    _, trace = imported(tmp_path, nsys_recording())

    active = named(trace, "SMs Active")
    assert [(one["pid"], one["args"]["value"]) for one in active] == [
        (GPU, 12),
        (GPU, 90),
    ]


def test_no_host_user_or_folder_is_taken_over(tmp_path: Path) -> None:
    _, trace = imported(tmp_path, nsys_recording())

    text = json.dumps(trace)
    assert "secret-host" not in text
    assert "ada" not in text
    assert trace["exported"] == {"schema": "3.16.1"}


def test_any_table_but_one_of_activities_may_be_absent(tmp_path: Path) -> None:
    for table in nsys_recording():
        folder = tmp_path / table
        folder.mkdir()
        rows = nsys_recording()
        del rows[table]
        if table == "StringIds":
            with pytest.raises(RegistryError):
                imported(folder, rows)
        else:
            account, trace = imported(folder, rows)
            assert trace["traceEvents"]
            assert table not in account.read


@pytest.mark.parametrize(
    "table", ["CUPTI_ACTIVITY_KIND_MEMCPY", "NVTX_EVENTS", "GPU_METRICS"]
)
def test_any_column_may_be_absent(tmp_path: Path, table: str) -> None:
    for column in NSYS[table].split():
        folder = tmp_path / column
        folder.mkdir()
        columns = [one for one in NSYS[table].split() if one != column]
        rows = nsys_recording()
        rows[table] = [
            {key: value for key, value in row.items() if key != column}
            for row in rows[table]
        ]
        account, trace = imported(folder, rows, NSYS | {table: " ".join(columns)})
        assert trace["traceEvents"]
        there = account.read[table] + account.untimed[table] + account.unmatched
        assert there or column == "eventType"


def test_values_of_another_type_are_counted(tmp_path: Path) -> None:
    rows = nsys_recording()
    odd: list[Any] = ["text", b"blob", 1.5, None, 1 << 62, -(1 << 62)]
    rows["OSRT_API"] += [
        {"start": value, "end": 5, "globalTid": value, "nameId": value} for value in odd
    ]
    rows["CUPTI_ACTIVITY_KIND_KERNEL"] += [
        {"start": 7, "end": 9, "deviceId": value, "streamId": value}
        | {"globalPid": value, "demangledName": value, "correlationId": value}
        for value in odd
    ]

    account, _ = imported(tmp_path, rows)

    assert account.untimed["OSRT_API"] == 5
    assert account.read["CUPTI_ACTIVITY_KIND_KERNEL"] == 2 + len(odd)


def test_a_capture_without_a_date_begins_at_zero(tmp_path: Path) -> None:
    rows = nsys_recording()
    del rows["TARGET_INFO_SESSION_START_TIME"]

    account, trace = imported(tmp_path, rows)

    assert "baseTimeNanoseconds" not in trace
    assert account.notes == ["when the capture began is not known: times begin at 0"]


def test_threads_of_two_programs_stay_apart(tmp_path: Path) -> None:
    rows = {
        "StringIds": [{"id": 1, "value": "read"}],
        "OSRT_API": [
            {"start": 1, "end": 2, "globalTid": identity(pid, 7), "nameId": 1}
            for pid in (5, 6)
        ],
    }

    _, trace = imported(tmp_path, rows)

    assert [(one["pid"], one["tid"]) for one in named(trace, "read")] == [
        (5, 7),
        (6, 7),
    ]
