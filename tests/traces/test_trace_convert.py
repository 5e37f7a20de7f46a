"""Slices as tables and for speedscope, and traces made regular for Perfetto."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.documents.findings import RegistryError
from tools.traces import converting_tables
from tools.traces.converting import Converted, convert_trace
from tools.traces.forms import Form

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.simulators.commands import Done

Event = dict[str, Any]


def x(name: str, ts: float, dur: float, **more: Any) -> Event:
    return {"ph": "X", "name": name, "ts": ts, "dur": dur, "pid": 1, "tid": 1} | more


EVENTS = [
    {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "trainer"}},
    {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "main"}},
    x("outer", 0, 10.5, cat="a,b"),
    x("inner", 2, 3),
    {"ph": "B", "name": "open", "ts": 1, "pid": "Spans", "tid": "s"},
    {"ph": "i", "name": "mark", "ts": 9, "pid": "Spans", "tid": "s"},
    {"ph": "b", "name": "req", "cat": "n", "id": 1, "ts": 1, "pid": 1, "tid": 1},
    {"ph": "e", "name": "req", "cat": "n", "id": 1, "ts": 4, "pid": 1, "tid": 1},
]


def converted(folder: Path, events: list[Any], form: Form) -> tuple[Converted, Path]:
    (folder / "a.json").write_text(json.dumps(events))
    out = folder / f"out.{form.value}"
    return convert_trace(folder / "a.json", form, out), out


def test_a_table_has_a_row_a_slice(tmp_path: Path) -> None:
    done, out = converted(tmp_path, EVENTS, Form.PARQUET)

    frame = pl.read_parquet(out)
    assert frame.schema == pl.Schema(converting_tables.COLUMNS)
    rows = sorted(frame.rows(), key=lambda row: (row[4], row[6]))
    trainer = ("1", "trainer", "1", "main")
    assert rows == [
        (*trainer, "inner", "", 2000, 3000, 3000, 1, False, False),
        ("Spans", None, "s", None, "open", "", 1000, 0, 0, 0, False, True),
        (*trainer, "outer", "a,b", 0, 10_500, 7500, 0, False, False),
        (*trainer, "req", "n", 1000, 3000, 3000, 0, True, False),
    ]
    assert done == Converted(8, 4, {"instants": 1})


def test_both_tables_are_the_same(tmp_path: Path) -> None:
    _, parquet = converted(tmp_path, EVENTS, Form.PARQUET)
    _, table = converted(tmp_path, EVENTS, Form.CSV)

    with table.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    typed = pl.read_parquet(parquet).rows(named=True)
    assert rows == [{key: _text(one) for key, one in row.items()} for row in typed]


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def test_tables_are_written_part_by_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(converting_tables, "ROWS", 7)
    events = [x(f"n{n}", n * 10, 5, tid=n % 3) for n in range(100)]

    done, out = converted(tmp_path, events, Form.PARQUET)

    frame = pl.read_parquet(out)
    assert done.written == frame.height == 100
    assert sorted(frame["start_ns"]) == [n * 10_000 for n in range(100)]


@pytest.mark.parametrize("name", ["=1+1", "+cmd", "-2+3", "@SUM(A1)", "\t=1"])
def test_no_name_is_a_formula(tmp_path: Path, name: str) -> None:
    _, out = converted(tmp_path, [x(name, 0, 1, pid=-1)], Form.CSV)

    with out.open(newline="", encoding="utf-8") as file:
        row = next(csv.DictReader(file))
    assert row["name"] == f"'{name}"
    assert row["pid"] == "-1"


def test_speedscope_has_a_profile_a_thread(tmp_path: Path) -> None:
    done, out = converted(tmp_path, EVENTS, Form.SPEEDSCOPE)

    document = json.loads(out.read_bytes())
    assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = [one["name"] for one in document["shared"]["frames"]]
    profiles = {one["name"]: one for one in document["profiles"]}
    assert set(profiles) == {"trainer (1), main (1)", "Spans, s"}
    main = profiles["trainer (1), main (1)"]
    assert (main["type"], main["unit"]) == ("evented", "nanoseconds")
    assert (main["startValue"], main["endValue"]) == (0, 10_500)
    assert [
        (one["type"], frames[one["frame"]], one["at"]) for one in main["events"]
    ] == [
        ("O", "outer", 0),
        ("O", "inner", 2000),
        ("C", "inner", 5000),
        ("C", "outer", 10_500),
    ]
    assert done.written == 3


slices = st.lists(
    st.builds(
        x,
        st.sampled_from("abc"),
        st.integers(0, 30),
        st.integers(0, 20),
        tid=st.integers(1, 3),
    ),
    min_size=1,
    max_size=30,
)


@settings(max_examples=60)
@given(slices)
def test_speedscope_s_events_nest_and_come_in_order(
    tmp_path_factory: pytest.TempPathFactory, events: list[Event]
) -> None:
    done, out = converted(tmp_path_factory.mktemp("nest"), events, Form.SPEEDSCOPE)

    opened = 0
    for profile in json.loads(out.read_bytes())["profiles"]:
        stack: list[int] = []
        last = profile["startValue"]
        for event in profile["events"]:
            assert last <= event["at"] <= profile["endValue"]
            last = event["at"]
            if event["type"] == "O":
                stack.append(event["frame"])
                opened += 1
            else:
                assert stack.pop() == event["frame"]
        assert not stack
    assert opened == done.written == len(events)


def test_perfetto_gets_a_trace_that_is_regular(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(
        '[{"ph":"X","name":"a","ts":"2.5","dur":"1","pid":"Spans","tid":"x"},'
        ' {"broken":, "ph":"X"}, {"name":"no phase"},\n'
        ' {"ph":"X","name":"b","ts":-3,"dur":1,"pid":1,"tid":1},'
    )

    done = convert_trace(tmp_path / "a.json", Form.PERFETTO, tmp_path / "b.json")

    trace = json.loads((tmp_path / "b.json").read_bytes())
    first, second, *names = trace["traceEvents"]
    assert (first["ts"], first["dur"], second["ts"]) == (5.5, 1, 0)
    assert isinstance(first["pid"], int)
    assert {one["args"]["name"] for one in names} == {"Spans", "x"}
    assert done.written == 4
    assert done.left_out["damaged events"] == 2  # the one without a phase stands behind


@pytest.mark.parametrize("form", [Form.CSV, Form.PARQUET, Form.SPEEDSCOPE])
def test_a_trace_without_slices_is_refused(tmp_path: Path, form: Form) -> None:
    with pytest.raises(RegistryError) as refused:
        converted(tmp_path, EVENTS[:2], form)

    one = refused.value.findings[0]
    assert (one.code, one.what) == ("V057", "none of its 2 events is a slice")
    assert [one.name for one in tmp_path.iterdir()] == ["a.json"]


def test_perfetto_refuses_a_trace_without_events(tmp_path: Path) -> None:
    with pytest.raises(RegistryError) as refused:
        converted(tmp_path, [], Form.PERFETTO)

    assert refused.value.findings[0].code == "V057"


@pytest.mark.parametrize("form", list(Form))
def test_the_command_converts_and_tells(
    powerkit: Callable[..., Done], tmp_path: Path, form: Form
) -> None:
    (tmp_path / "a.json").write_text(json.dumps(EVENTS))
    out = tmp_path / "out"

    done = powerkit("trace", "convert", tmp_path / "a.json", "--to", form, "-o", out)

    assert (done.code, done.err) == (0, "")
    assert out.stat().st_size
    assert done.out.startswith(f"{out}: ")
    told = powerkit(
        *("trace", "convert", tmp_path / "a.json", "--to", form, "-o", out, "--json")
    )
    assert json.loads(told.out)["to"] == form.value
