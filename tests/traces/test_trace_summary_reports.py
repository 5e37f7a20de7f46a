"""Public bug reports on summing up traces, each by its number in our list."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tools.traces.records import Records
from tools.traces.summaries import Input, Summary

AT = {"pid": 1, "tid": 1}


def summed(
    tmp_path: Path, events: Any
) -> tuple[dict[str, tuple[int, int, int]], Input]:
    """Count, total and self nanoseconds by name, and what was odd."""
    file = tmp_path / "trace.json"
    text = events if isinstance(events, str) else json.dumps(events)
    file.write_text(text)
    summary = Summary()
    one = summary.add(file)
    rows = summary.statistics()
    return {row.name: (row.count, row.total, row.self) for row in rows}, one


def recorded(tmp_path: Path, events: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    file = tmp_path / "trace.json"
    file.write_text(json.dumps(events))
    records = Records()
    Summary(records=records).add(file)
    keys = ("name", "depth", "start_ns", "duration_ns", "self_ns")
    found = sorted(tuple(one[key] for key in keys) for one in records)
    records.close()
    return found


def x(name: str, ts: float, dur: float) -> dict[str, Any]:
    return AT | {"ph": "X", "name": name, "ts": ts, "dur": dur}


def test_report_01_an_overlapping_complete_event_counts(tmp_path: Path) -> None:
    """google/perfetto #4280, #928, #6277; pytorch/pytorch #174555."""
    rows, one = summed(tmp_path, [x("A", 3, 3.776), x("B", 5, 2)])
    assert rows == {"A": (1, 3776, 2000), "B": (1, 2000, 2000)}
    assert one.troubles.overlapping == 1


@pytest.mark.parametrize("turned", [False, True])
def test_report_03_equal_times_do_not_depend_on_order(
    tmp_path: Path, turned: bool
) -> None:
    """jlfwong/speedscope #251, #223 (PR 322); hrydgard/minitrace #39."""
    events = [x("inner", 0, 10), x("outer", 0, 20), x("next", 20, 5)]
    events += [
        AT | {"ph": "B", "name": "first", "ts": 30},
        AT | {"ph": "E", "name": "first", "ts": 40},
        AT | {"ph": "B", "name": "second", "ts": 40},
        AT | {"ph": "E", "name": "second", "ts": 50},
    ]
    if turned:
        events.reverse()
    assert recorded(tmp_path, events) == [
        ("first", 0, 30_000, 10_000, 10_000),
        ("inner", 1, 0, 10_000, 10_000),
        ("next", 0, 20_000, 5_000, 5_000),
        ("outer", 0, 0, 20_000, 10_000),
        ("second", 0, 40_000, 10_000, 10_000),
    ]


def test_report_04_ends_without_a_name_close_the_innermost(tmp_path: Path) -> None:
    """google/perfetto #432; jlfwong/speedscope #345."""
    events = [
        AT | {"ph": "B", "name": "a", "ts": 0},
        AT | {"ph": "B", "name": "b", "ts": 2},
        AT | {"ph": "E", "ts": 5},
        AT | {"ph": "E", "ts": 9},
    ]
    rows, one = summed(tmp_path, events)
    assert rows == {"a": (1, 9000, 6000), "b": (1, 3000, 3000)}
    assert one.troubles.interleaved_ends == one.troubles.unclosed == 0


def test_report_04_interleaved_ends_give_no_negative_self(tmp_path: Path) -> None:
    events = [
        AT | {"ph": "B", "name": "a", "ts": 0},
        AT | {"ph": "B", "name": "b", "ts": 2},
        AT | {"ph": "E", "name": "a", "ts": 5},
        AT | {"ph": "E", "ts": 9},
        AT | {"ph": "E", "name": "a", "ts": 10},
    ]
    rows, one = summed(tmp_path, events)
    assert rows == {"a": (1, 5000, 2000), "b": (1, 7000, 7000)}
    assert one.troubles.interleaved_ends == 1
    assert one.troubles.unmatched_ends == 1
    assert one.troubles.overlapping == 1


def test_report_10_flows_without_an_end_and_texts_among_events(tmp_path: Path) -> None:
    """catapult-project/catapult #3455, #2497."""
    flow = AT | {"cat": "c", "name": "n"}
    events = [
        flow | {"ph": "f", "id": 1, "ts": 3},
        "a text",
        flow | {"ph": "s", "id": 2, "ts": 3},
        flow | {"ph": "t", "id": 2, "ts": 4},
        x("a", 1, 5),
        flow | {"ph": "s", "id": "0x3", "ts": 3},
        flow | {"ph": "f", "id": 3, "ts": 4},
        17,
        flow | {"ph": "f", "ts": 4},
    ]
    rows, one = summed(tmp_path, events)
    assert rows == {"a": (1, 5000, 5000)}
    assert one.found.not_objects == 2
    assert (one.flows.starts, one.flows.steps, one.flows.ends) == (2, 1, 3)
    assert (one.flows.without_start, one.flows.without_end) == (2, 1)


def test_a_begin_that_nothing_ends_is_incomplete(tmp_path: Path) -> None:
    events = [
        AT | {"ph": "B", "name": "a", "ts": 0},
        AT | {"ph": "B", "name": "a", "ts": 5},
        AT | {"ph": "E", "name": "a", "ts": 8},
        x("b", 20, 5),
        AT | {"ph": "B", "name": "c", "ts": 25},
    ]
    file = tmp_path / "trace.json"
    file.write_text(json.dumps(events))
    summary = Summary()
    assert summary.add(file).troubles.unclosed == 2
    a, b, c = sorted(summary.statistics(), key=lambda row: row.name)
    assert (a.count, a.incomplete, a.total, a.self) == (2, 1, 28_000, 20_000)
    assert a.least == a.median == a.p99 == a.greatest == 3000
    assert (b.count, b.incomplete, b.self) == (1, 0, 5000)
    assert (c.count, c.incomplete, c.total, c.mean) == (1, 1, 0, None)


@pytest.mark.parametrize("spaces", [0, 1, 100])
def test_async_events_nest_by_their_identity(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spaces: int
) -> None:
    monkeypatch.setattr("tools.traces.gathering.SPACES", spaces)
    key = {"cat": "c", "id": 1, "tid": 1}
    local = {"cat": "c", "id2": {"local": "0x1"}, "tid": 1, "name": "l"}
    events = [
        key | {"ph": "b", "name": "out", "pid": 1, "ts": 0},
        key | {"ph": "b", "name": "in", "pid": 1, "ts": 2},
        key | {"ph": "e", "name": "in", "pid": 1, "ts": 5},
        key | {"ph": "e", "name": "out", "pid": 2, "ts": 9},  # ends elsewhere
        {"cat": "c", "id2": {"global": "1"}, "ph": "b", "name": "in", "ts": 20},
        key | {"ph": "e", "name": "in", "id": "0x1", "ts": 21},
        local | {"ph": "b", "pid": 1, "ts": 0},
        local | {"ph": "b", "pid": 2, "ts": 1},
        local | {"ph": "e", "pid": 1, "ts": 10},
        local | {"ph": "e", "pid": 2, "ts": 21},
        key | {"ph": "b", "name": "text", "id": "x1", "pid": 1, "ts": 0},
        key | {"ph": "b", "name": "text", "id": "x2", "pid": 1, "ts": 1},
        key | {"ph": "e", "name": "text", "id": "x1", "pid": 1, "ts": 2},
        key | {"ph": "e", "name": "text", "id": "x2", "pid": 1, "ts": 5},
        key | {"ph": "S", "name": "old", "pid": 1, "ts": 0},
        key | {"ph": "T", "name": "old", "pid": 1, "ts": 1},
        key | {"ph": "F", "name": "old", "pid": 1, "ts": 3},
    ]
    file = tmp_path / "trace.json"
    file.write_text(json.dumps(events))
    summary = Summary()
    one = summary.add(file)
    rows = summary.statistics(asynchronous=True)
    assert {row.name: (row.count, row.total, row.self) for row in rows} == {
        "out": (1, 9000, 6000),
        "in": (2, 4000, 4000),
        "l": (2, 30_000, 30_000),
        "text": (2, 6000, 6000),
        "old": (1, 3000, 3000),
    }
    assert summary.statistics() == []
    assert one.troubles.unmatched_ends == one.troubles.unclosed == 0
    assert one.phases == {"b": 7, "e": 7, "S": 1, "T": 1, "F": 1}
