"""Clocks of several traces are put on one, exact to the nanosecond."""

from __future__ import annotations

import random
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.documents.findings import RegistryError
from tests.simulators.chrome_traces import read, rows, slice_, write
from tools.traces.alignment import Align, duration_ns
from tools.traces.combination import Combination, Combined
from tools.traces.combining import combine
from tools.traces.ignoring import Clock
from tools.traces.shapes import raw_number
from tools.traces.wall_clocks import wall_ns
from tools.traces.writing import microseconds, microseconds_text

PLAIN = Combination()


def joined(folder: Path, how: Combination, *traces: Any) -> Combined:
    """Combine arrays of events, or pairs of events and other keys."""
    sources = []
    for number, one in enumerate(traces):
        events, others = one if isinstance(one, tuple) else (one, {})
        path = write(folder / f"{number}.json", events, **others)
        sources.append((path, str(number)))
    return combine(sources, folder / "out.json", how)


def times(done: Combined) -> list[float]:
    return [ts for (ts,) in rows(done.output, "ts")]


def test_none_leaves_times_as_they_are(tmp_path: Path) -> None:
    done = joined(tmp_path, PLAIN, [slice_("x", -1.25, 1)], [slice_("y", 1e15, 1)])
    assert times(done) == [-1.25, 1e15]


def test_zero_begins_each_file_at_zero(tmp_path: Path) -> None:
    how = replace(PLAIN, align=Align.ZERO)
    first = [
        slice_("x", 7, 1),
        {"ph": "M", "name": "m", "ts": 1},
        {"ph": "C", "ts": "5.5"},
    ]
    second = [slice_("y", -3.001, 1), slice_("z", 1.0005, 1)]
    done = joined(tmp_path, how, first, second, [])
    assert times(done) == [1.5, 0, 0, 4.001]
    assert [part.offset_ns for part in done.parts] == [-5500, 3001, 0]
    told = read(done.output)[1].metadata["otherData"]
    assert told["align"] == "zero"
    assert [one["offset_ns"] for one in told["sources"]] == [-5500, 3001, 0]


def test_zero_is_exact_where_doubles_are_not(tmp_path: Path) -> None:
    how = replace(PLAIN, align=Align.ZERO)
    text = (
        b'[{"ph":"i","ts":1700000000000000.123,"pid":1},'
        b'{"ph":"i","ts":1700000000000001.456,"pid":1}]'
    )
    assert times(joined(tmp_path, how, text)) == [0, 1.333]


def test_all_together_may_begin_at_zero(tmp_path: Path) -> None:
    how = replace(PLAIN, zero=True)
    done = joined(tmp_path, how, [slice_("x", 10, 1)], [slice_("y", 30, 1)], [])
    assert times(done) == [0, 20]


def test_wall_clocks_that_files_tell(tmp_path: Path) -> None:
    how = replace(PLAIN, align=Align.WALL)
    base = 1_700_000_000_000_000_000
    done = joined(
        tmp_path,
        how,
        ([slice_("x", 10, 1)], {"baseTimeNanoseconds": base + 5_000_001}),
        ([slice_("y", 10, 1)], {"viztracer_metadata": {"baseTimeNanoseconds": base}}),
        ([slice_("z", 10, 1)], {"otherData": {"start_at": "2023-11-14T22:13:21.5Z"}}),
    )
    assert times(done) == [5010.001, 10, 1_500_010]
    sources = read(done.output)[1].metadata["otherData"]["sources"]
    assert sources[0]["wall_ns"] == base + 5_000_001


def test_wall_needs_a_wall_clock_of_every_file(tmp_path: Path) -> None:
    how = replace(PLAIN, align=Align.WALL)
    with_one = (
        [slice_("x", 10, 1)],
        {"baseTimeNanoseconds": 1_700_000_000_000_000_000},
    )
    with pytest.raises(RegistryError) as caught:
        joined(tmp_path, how, [slice_("y", 1, 1)], with_one, [slice_("z", 1, 1)])
    assert [
        (one.code, Path(one.path).name, one.what) for one in caught.value.findings
    ] == [
        ("V022", "0.json", "it tells no wall time"),
        ("V022", "2.json", "it tells no wall time"),
    ]


@pytest.mark.parametrize(
    ("metadata", "ns"),
    [
        ({"baseTimeNanoseconds": 1_719_853_884_000_000_001}, 1_719_853_884_000_000_001),
        ({"baseTimeNanoseconds": "1719853884000000001"}, 1_719_853_884_000_000_001),
        ({"otherData": {"ts": 1_700_000_000}}, 1_700_000_000 * 10**9),
        ({"otherData": {"ts": 1_700_000_000.5}}, 1_700_000_000_500_000_000),
        ({"otherData": {"ts": 1_700_000_000_123}}, 1_700_000_000_123_000_000),
        ({"otherData": {"ts": 1_700_000_000_123_456}}, 1_700_000_000_123_456_000),
        (
            {"otherData": {"start_at": "2018-03-01T12:00:00.123456789-06:00"}},
            1_519_927_200_123_456_789,
        ),
        ({"otherData": {"start_at": "2018-03-01 12:00:00"}}, None),  # of what zone
        ({"otherData": {"start_at": "yesterday, at noon"}}, None),
        ({"otherData": {"start_at": "2018-13-01T12:00:00Z"}}, None),
        ({"otherData": {"ts": 12.5}}, None),
        ({"otherData": {"ts": True}}, None),
        ({"otherData": [1]}, None),
        ({}, None),
    ],
)
def test_a_wall_time(metadata: dict[str, Any], ns: int | None) -> None:
    assert wall_ns(metadata) == ns


def test_a_marker_coincides(tmp_path: Path) -> None:
    how = replace(PLAIN, align=Align.MARKER, marker='sync "é"')
    mark = 'sync "é"'
    first = [slice_("x", 10, 1), slice_(mark, 12, 1)]
    second = [
        {"ph": "M", "name": mark, "ts": 1},
        slice_(mark, 100.5, 1),
        slice_(mark, 200, 1),
    ]
    done = joined(tmp_path, how, first, second)
    assert times(done) == [10, 12, 12, 111.5]
    assert [part.offset_ns for part in done.parts] == [0, -88_500]


def test_a_marker_is_needed_in_every_file(tmp_path: Path) -> None:
    how = replace(PLAIN, align=Align.MARKER, marker="sync")
    with pytest.raises(RegistryError, match="V022 it has no such marker"):
        joined(tmp_path, how, [slice_("sync", 10, 1)], [slice_("x", 10, 1)])


def test_given_offsets(tmp_path: Path) -> None:
    how = replace(PLAIN, align=Align.OFFSET, offsets_ns=(1, -2_000_000))
    done = joined(tmp_path, how, [slice_("x", 10, 1)], [slice_("y", 1.5, 1)])
    assert times(done) == [10.001, -1998.5]


def test_events_without_a_time_are_counted(tmp_path: Path) -> None:
    how = replace(PLAIN, align=Align.ZERO)
    events = [
        slice_("x", 10, 1),
        {"ph": "i", "pid": 1},
        {"ph": "i", "ts": "soon", "pid": 1},
    ]
    done = joined(tmp_path, how, events)
    assert times(done) == [0, None, "soon"]
    assert done.parts[0].untimed == 2


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("20", 20_000),
        ("-1.5ms", -1_500_000),
        ("+2s", 2 * 10**9),
        ("7ns", 7),
        (".5 us", 500),
        ("1e3", None),
        ("", None),
        ("1.5 minutes", None),
        ("9" * 50, None),
    ],
)
def test_a_time_on_the_command_line(text: str, ns: int | None) -> None:
    assert duration_ns(text) == ns


@given(ns=st.integers(-(2**70), 2**70))
def test_a_time_is_written_and_read_exactly(ns: int) -> None:
    assert raw_number(microseconds_text(ns)) == ns
    if abs(ns) < 2**53:
        assert raw_number(repr(microseconds(ns)).encode()) == ns


@given(
    value=st.decimals(allow_nan=False, allow_infinity=False, places=5, max_value=10**15)
)
def test_more_decimals_round_to_the_nearest_nanosecond(value: Decimal) -> None:
    ns = raw_number(str(value).encode()) if abs(value) < 10**15 else None
    if ns is not None:
        assert abs(Decimal(ns) - value * 1000) <= Decimal("0.5")


@pytest.mark.parametrize(
    "text", ["null", '"soon"', "[1]", "true", '"\\ud800"', "1e999", "9" * 99]
)
def test_what_is_no_time(text: str) -> None:
    assert raw_number(text.encode()) is None


SPANS = st.lists(
    st.tuples(st.integers(0, 100), st.integers(0, 20)).map(
        lambda p: (p[0], p[0] + p[1])
    ),
    max_size=8,
)


@given(spans=SPANS)
def test_a_clock_stands_still_in_its_spans_and_nowhere_else(
    spans: list[tuple[int, int]],
) -> None:
    clock = Clock(spans)
    stands = [any(start <= ns < end for start, end in spans) for ns in range(130)]
    now = 0
    for ns, still in enumerate(stands):
        assert clock(ns) == now
        now += not still
    assert clock.taken_ns == sum(stands)
    assert clock(-5) == -5


def test_a_shuffled_trace_is_aligned_as_its_order_tells(tmp_path: Path) -> None:
    values = [n * 1.001 for n in range(500)]
    random.Random(4).shuffle(values)
    how = replace(PLAIN, align=Align.ZERO)
    done = joined(tmp_path, how, [slice_("x", 100 + value, 1) for value in values])
    assert [round(ts * 1000) for ts in times(done)] == [round(v * 1000) for v in values]
