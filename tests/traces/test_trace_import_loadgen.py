"""LoadGen's trace and detail log, as version 6.0.17 writes them."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from registry.documents.findings import RegistryError
from tools.traces.forms import Source
from tools.traces.imports import loadgen
from tools.traces.imports.importing import import_trace

META = (
    '"namespace": "mlperf::logging", "event_type": "POINT_IN_TIME", "metadata":'
    ' {"is_error": false, "is_warning": false, "file": "loadgen.cc", "line_no": 562,'
    ' "pid": 9177, "tid": 9178}}'
)
LOG = [
    ("loadgen_version", '"6.0.17 @ d6147c7eb7"', 0.009518),
    ("loadgen_file_sha1", '{"/README.md":"e850133bdbbfa62c84b"}', 0.009518),
    ("test_datetime", '"2026-11-30T08:30:05Z"', 0.030798),
    ("requested_scenario", '"Server"', 0.050805),
    ("generic_message", '"Starting performance mode"', 0.054092),
    ("generated_query_count", "17", 0.325928),
    ("generated_query_duration", "319578563", 0.325928),
    ("power_begin", '"11-30-2026 13:29:26.614"', 317.435274),
    ("power_end", '"11-30-2026 13:29:26.927"', 317.435274),
    ("result_validity", '"INVALID"', 317.452065),
    ("result_completed_samples_per_sec", "51.09", 317.452065),
]
TRACE = """{"traceEvents":[
{"name":"IssueQuery","ph":"X","pid":9177,"tid":9177,"ts":320.718,"dur":577.688,"args":{}},
{"name":"Sample","cat":"default","ph":"b","pid":9177,"id":0,"ts":320.407,"args":{"x":1}},
{"name":"Sample","cat":"default","ph":"e", "pid":9177,"id":0,"ts":1754.024},
{"name":"Wait","ph":"X","pid":9177,"tid":9178,"ts":-352.047,"dur":10094.409,"args":{}},
{"name":"LogDetail","ph":"X","pid":9177,"tid":9178,"ts":9789.7,"dur":12.9,"args":{"key":""v""}},
{"name":"FlushAll","ph":"X","pid":9177,"tid":9178,"ts":330711.972,"dur":58.88,"args":{}},
{"name":"LastTrace"}
],
"displayTimeUnit":"ns",
"otherData":{
"ts":1796045366614088.750,
"version":"MLPerf LoadGen v1.0"
}
}
"""


def entry(key: str, value: str, time: float, meta: str = META) -> str:
    start = f':::MLLOG {{"key": "{key}", "value": {value}, "time_ms": {time:.6f}'
    return f"{start}, {meta}"


def log(path: Path, entries: list[tuple[str, str, float]]) -> Path:
    path.write_text("".join(f"{entry(*one)}\n" for one in entries))
    return path


def trace_of(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_bytes())
    return document


def test_the_trace_that_is_no_json_is_salvaged(tmp_path: Path) -> None:
    (tmp_path / "mlperf_log_trace.json").write_text(TRACE)

    account = import_trace(tmp_path / "mlperf_log_trace.json", tmp_path / "t.json")

    trace = trace_of(tmp_path / "t.json")
    assert account.source == "loadgen"
    assert account.read == {"slices": 3, "asynchronous": 2}
    assert account.untimed == {"damaged events": 1, "events without a phase": 1}
    # nothing lies before 0, where viewers drop it, and wall time is still right
    assert [one["ts"] for one in trace["traceEvents"]] == [
        673.718,
        673.407,
        2107.024,
        0.953,
        331064.972,
    ]
    assert trace["baseTimeNanoseconds"] == 1_796_045_366_614_088_704 - 353_000


def test_the_power_window_is_placed_by_the_wall_clock(tmp_path: Path) -> None:
    path = log(tmp_path / "mlperf_log_detail.txt", LOG)

    account = import_trace(path, tmp_path / "t.json")

    trace = trace_of(tmp_path / "t.json")
    window = next(one for one in trace["traceEvents"] if one["name"] == "power window")
    assert (window["ts"], window["dur"]) == (325.928, 313_000)
    begin = 1_796_045_366_614_000_000
    assert trace["baseTimeNanoseconds"] == begin - 325_928
    assert window["args"] == {
        "power_begin": "2026-11-30T13:29:26.614Z",
        "power_end": "2026-11-30T13:29:26.927Z",
    }
    assert account.notes == ["wall-clock time is that of power_begin, good to 1 ms"]


def test_power_is_told_in_utc_wherever_the_log_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        path = log(tmp_path / "mlperf_log_detail.txt", LOG)
        import_trace(path, tmp_path / "t.json")
    finally:
        monkeypatch.undo()
        time.tzset()

    loadgen_ = trace_of(tmp_path / "t.json")["loadgen"]
    assert loadgen_["power_begin"] == "2026-11-30T13:29:26.614Z"


def test_settings_and_results_are_in_the_metadata(tmp_path: Path) -> None:
    path = log(tmp_path / "mlperf_log_detail.txt", LOG)

    import_trace(path, tmp_path / "t.json")

    trace = trace_of(tmp_path / "t.json")
    assert trace["loadgen"] == {
        "loadgen_version": "6.0.17 @ d6147c7eb7",
        "requested_scenario": "Server",
        "generated_query_count": 17,
        "generated_query_duration": 319_578_563,
        "result_validity": "INVALID",
        "result_completed_samples_per_sec": 51.09,
        "power_begin": "2026-11-30T13:29:26.614Z",
        "power_end": "2026-11-30T13:29:26.927Z",
    }
    names = [one["name"] for one in trace["traceEvents"]]
    assert "Starting performance mode" in names
    assert "loadgen_file_sha1" not in names


def test_errors_are_told_from_messages(tmp_path: Path) -> None:
    wrong = META.replace('"is_error": false', '"is_error": true')
    path = tmp_path / "mlperf_log_detail.txt"
    path.write_text(entry("error_runtime", '"late"', 5, wrong) + "\n")

    account = import_trace(path, tmp_path / "t.json")

    event = trace_of(tmp_path / "t.json")["traceEvents"][0]
    assert (event["cat"], event["pid"], event["tid"]) == ("loadgen_error", 9177, 9178)
    assert account.notes == ["no power_begin and power_end: no wall-clock time"]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (":::MLLOG {", "entries that cannot be read"),
        (":::MLLOG []", "entries that cannot be read"),
        (':::MLLOG {"key": 5, "time_ms": 1}', "entries that cannot be read"),
        (':::MLLOG {"key": "a", "time_ms": "soon"}', "entries that cannot be read"),
        (":::MLLOG " + "[" * 100_000, "entries that cannot be read"),
        ("Loading library", "other lines"),
    ],
)
def test_lines_that_cannot_be_read_are_counted(
    tmp_path: Path, line: str, kind: str
) -> None:
    path = tmp_path / "mlperf_log_detail.txt"
    path.write_text(f"{entry(*LOG[0])}\n{line}\n{entry(*LOG[3])}\n")

    account = import_trace(path, tmp_path / "t.json")

    assert account.untimed == {kind: 1}
    assert account.read == {"entries": 2}


def test_a_log_with_too_many_lines_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = log(tmp_path / "mlperf_log_detail.txt", LOG)
    monkeypatch.setattr(loadgen, "LINES", 3)

    with pytest.raises(RegistryError) as refused:
        import_trace(path, tmp_path / "t.json")

    one = refused.value.findings[0]
    assert (one.code, one.what) == ("V052", "it has more than 3 lines")
    assert not (tmp_path / "t.json").exists()


def test_a_log_without_entries_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mlperf_log_detail.txt"
    path.write_text(":::MLLOG {}\n")

    with pytest.raises(RegistryError) as refused:
        import_trace(path, tmp_path / "t.json", Source.LOADGEN)

    assert refused.value.findings[0].what == "no line of it has a time"
