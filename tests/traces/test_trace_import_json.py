"""JSON traces of torch, viztracer and py-spy become regular, and stay what they are."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.documents.findings import RegistryError
from tools.traces.forms import Source
from tools.traces.imports.detection import detected
from tools.traces.imports.imported import Account
from tools.traces.imports.importing import import_trace
from tools.traces.imports.normalising import number
from tools.traces.reading import Found, events

TORCH = "chrome_traces/pytorch_hta"
BASE = 1_719_853_884_000_000_000


def imported(
    path: Path, document: Any, source: Source = Source.AUTO
) -> tuple[Account, dict[str, Any]]:
    """Write a trace, import it, and give the account and the result."""
    path.write_text(json.dumps(document))
    out = path.with_name("trace.json")
    account = import_trace(path, out, source)
    return account, json.loads(out.read_bytes())


def torch(*given: dict[str, Any], **keys: Any) -> dict[str, Any]:
    """A trace as torch's profiler writes it."""
    return {"schemaVersion": 1, "deviceProperties": [], "traceEvents": [*given], **keys}


def op(**changes: Any) -> dict[str, Any]:
    event = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 7}
    return event | {"ts": 10.5, "dur": 3} | changes


def test_torch_keeps_its_metadata_and_times(tmp_path: Path) -> None:
    document = torch(op(), baseTimeNanoseconds=BASE, displayTimeUnit="ms")

    account, trace = imported(tmp_path / "a.json", document)

    assert account.source == "torch"
    assert trace["traceEvents"] == [op()]
    assert trace["baseTimeNanoseconds"] == BASE
    assert trace["schemaVersion"] == 1
    assert trace["displayTimeUnit"] == "ns"


def test_times_since_1970_are_counted_from_an_origin(tmp_path: Path) -> None:
    first = 1_661_203_462_598_738
    document = torch(
        op(ts=first + 7), op(ts=first), {"ph": "M", "name": "a", "pid": 1, "ts": 5}
    )

    _, trace = imported(tmp_path / "a.json", document)

    assert [one.get("ts") for one in trace["traceEvents"][:2]] == [7, 0]
    assert trace["baseTimeNanoseconds"] == first * 1000


def test_names_in_place_of_numbers_become_names(tmp_path: Path) -> None:
    spans = {"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "ts": 1}
    spans |= {"dur": 2, "pid": "Spans", "tid": "PyTorch Profiler"}
    end = {"ph": "i", "name": "Record Window End", "pid": "", "tid": "", "ts": 9}
    named = {"ph": "M", "name": "process_name", "pid": "Spans", "tid": 0, "ts": 1}
    quoted = op(pid="7", tid="8")

    _, trace = imported(
        tmp_path / "a.json",
        torch(spans, end, quoted, named | {"args": {"name": "Spans of torch"}}),
    )

    slice_, instant, numbered, name, *given = trace["traceEvents"]
    assert isinstance(slice_["pid"], int)
    assert isinstance(slice_["tid"], int)
    assert name["pid"] == slice_["pid"] != instant["pid"]
    assert (numbered["pid"], numbered["tid"]) == (7, 8)
    names = [(one["name"], one["pid"], one["args"]["name"]) for one in given]
    assert sorted(names) == [
        ("process_name", instant["pid"], "(no process)"),
        ("thread_name", slice_["pid"], "PyTorch Profiler"),
        ("thread_name", instant["pid"], "(no thread)"),
    ]


def test_memory_instants_stay(tmp_path: Path) -> None:
    memory = {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]"}
    memory |= {"pid": 7, "tid": 7, "ts": 4.25}
    memory |= {"args": {"Bytes": -512, "Addr": 139_874, "Device Id": 0}}

    account, trace = imported(tmp_path / "a.json", torch(op(), memory))

    assert trace["traceEvents"][1] == memory
    assert account.read == {"slices": 1, "instants": 1}


def test_numbers_in_quotes_and_without_use_are_mended(tmp_path: Path) -> None:
    document = torch(
        op(ts="2.5", dur="1e1"), op(ts="soon"), op(dur=None), {"name": "no phase"}
    )

    account, trace = imported(tmp_path / "a.json", document)

    assert [(one["ts"], one["dur"]) for one in trace["traceEvents"]] == [(2.5, 10)]
    assert account.untimed == {
        "events 'X' without a time": 2,
        "events without a phase": 1,
    }


def test_real_traces_of_torch_lose_nothing(shared_data: Path, tmp_path: Path) -> None:
    paths = sorted((shared_data / TORCH).glob("*/*.json.gz"))
    assert len(paths) > 4
    for path in paths:
        assert detected(path) is Source.TORCH
        out = tmp_path / "trace.json.gz"

        account = import_trace(path, out)

        before, after = list(events(path, Found())), list(events(out, Found()))
        assert not account.untimed
        kept = after[: len(before)]
        assert [one["name"] for one in kept] == [one["name"] for one in before]
        timed = [one for one in kept if one["ph"] != "M"]
        assert min(one["ts"] for one in timed) >= 0
        assert [one.get("dur") for one in kept] == [one.get("dur") for one in before]
        assert all(isinstance(one["pid"], int) for one in after)
        assert {one["ph"] for one in after[len(before) :]} <= {"M"}


def test_viztracer_s_clock_is_lifted_and_programs_stay_private(tmp_path: Path) -> None:
    call = {"ph": "X", "cat": "fee", "name": "f (/a/b.py:1)", "pid": 3, "tid": 3}
    document = {
        "traceEvents": [call | {"ts": 24_865_190_860.539, "dur": 2.615}],
        "viztracer_metadata": {"version": "1.1.1", "baseTimeNanoseconds": BASE},
        "file_info": {
            "files": {"/a/b.py": ["import secrets", 1]},
            "functions": {"f (/a/b.py:1)": ["/a/b.py", 1]},
        },
    }

    account, trace = imported(tmp_path / "a.json", document)

    assert account.source == "viztracer"
    assert trace["traceEvents"][0]["ts"] == 24_865_190_860.539
    assert trace["baseTimeNanoseconds"] == BASE
    assert trace["file_info"] == {"functions": document["file_info"]["functions"]}
    assert account.notes == ["the text of the traced programs is left out"]


def test_viztracer_without_a_base_has_no_wall_clock(tmp_path: Path) -> None:
    document = {
        "traceEvents": [op(cat="fee")],
        "viztracer_metadata": {"version": "1.1.1"},
    }

    account, trace = imported(tmp_path / "a.json", document)

    assert "baseTimeNanoseconds" not in trace
    assert account.notes == ["when its clock began is not told: no wall-clock time"]


def test_py_spy_s_threads_get_numbers_that_viewers_hold(tmp_path: Path) -> None:
    frame = {"cat": "py-spy", "name": "inner", "pid": 9240, "tid": 140_013_409_360_768}
    document = [
        frame | {"ph": "B", "ts": 63_288, "args": {"filename": "w.py", "line": 4}},
        frame | {"ph": "E", "ts": 1_023_657},
    ]

    account, trace = imported(tmp_path / "a.json", document)

    begin, end, name = trace["traceEvents"]
    assert account.source == "pyspy"
    assert begin["tid"] == end["tid"] < 1 << 31
    assert name["args"] == {"name": "thread 140013409360768"}


@pytest.mark.parametrize(
    ("document", "source"),
    [
        ([op(cat="py-spy")], Source.PYSPY),
        ({"traceEvents": [op()]}, Source.TORCH),
        ({"traceEvents": [op(cat="a")], "distributedInfo": {}}, Source.TORCH),
        ({"traceEvents": [op(cat="a")], "viztracer_metadata": {}}, Source.VIZTRACER),
        ({"traceEvents": [op(cat="a", name="IssueQuery")]}, Source.LOADGEN),
        (
            {"traceEvents": [op(cat="a")], "otherData": {"version": "MLPerf LoadGen"}},
            Source.LOADGEN,
        ),
    ],
)
def test_tools_are_told_by_what_they_write(
    tmp_path: Path, document: Any, source: Source
) -> None:
    (tmp_path / "a.json").write_text(json.dumps(document))
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(json.dumps(document).encode()))

    assert detected(tmp_path / "a.json") is source
    assert detected(tmp_path / "a.json.gz") is source


def test_a_trace_of_nobody_known_is_refused_unless_it_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([op(cat="mine")]))

    with pytest.raises(RegistryError) as refused:
        import_trace(path, tmp_path / "trace.json")

    one = refused.value.findings[0]
    assert one.code == "V050"
    assert one.what.startswith("it is a Chrome trace, but of none of the tools")
    assert import_trace(path, tmp_path / "trace.json", Source.TORCH).events == 1


def test_a_trace_without_events_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RegistryError) as refused:
        imported(tmp_path / "a.json", torch(), Source.TORCH)

    assert refused.value.findings[0].what == "nothing in it is an event of torch"
    assert not (tmp_path / "trace.json").exists()


def test_a_trace_is_never_written_over_itself(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(torch(op())))
    (tmp_path / "b.json").symlink_to(path)

    with pytest.raises(RegistryError) as refused:
        import_trace(path, tmp_path / "b.json")

    assert refused.value.findings[0].code == "V054"
    assert json.loads(path.read_text()) == torch(op())


@given(st.text(max_size=30) | st.floats() | st.integers() | st.none() | st.booleans())
def test_numbers_are_finite_or_none(value: object) -> None:
    found = number(value)

    assert found is None or abs(found) < float("inf")
    if isinstance(value, int) and not isinstance(value, bool):
        assert found == value


@settings(max_examples=50)
@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["ph", "ts", "dur", "pid", "tid", "name", "cat", "args"]),
            st.sampled_from(["X", "B", "M", "C", "process_name", "9", "", "x"])
            | st.integers(-5, 1 << 70)
            | st.floats()
            | st.none()
            | st.lists(st.integers(), max_size=2),
            max_size=8,
        ),
        min_size=1,
        max_size=8,
    )
)
def test_any_events_are_made_regular_or_counted(
    tmp_path_factory: pytest.TempPathFactory, given_: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "a.json").write_text(json.dumps({"traceEvents": given_}))
    try:
        account = import_trace(folder / "a.json", folder / "b.json", Source.TORCH)
    except RegistryError as error:
        assert {one.code for one in error.findings} <= {"V003", "V050"}  # noqa: PT017
        return
    trace = json.loads((folder / "b.json").read_bytes())
    assert account.events == len(trace["traceEvents"])
    for event in trace["traceEvents"]:
        assert isinstance(event["pid"], int)
        assert isinstance(event["ph"], str)
