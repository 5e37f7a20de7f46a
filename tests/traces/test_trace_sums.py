"""Statistics, counters, flows and the tree of calls, against slow definitions."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tools.traces.flows as flows_module
from tools.traces.columns import Packed, Table, batches
from tools.traces.counters import Counters, Series, watts_factor
from tools.traces.flows import FlowCounts, Flows
from tools.traces.naming import FOLDED, Pairs, Places
from tools.traces.statistics import Statistics
from tools.traces.tree import Tree
from tools.traces.typed import Event, arguments, decode, identity

LONG = 10**18


def known(events: list[dict[str, Any]]) -> list[Event]:
    return decode(json.dumps(events).encode())


@settings(max_examples=50)
@given(
    st.lists(
        st.lists(
            st.tuples(
                st.integers(0, 4),
                st.integers(0, 1000) | st.integers(0, LONG),
                st.booleans(),
            ),
            max_size=12,
        ),
        max_size=4,
    )
)
def test_statistics_are_those_of_numpy(
    added: list[list[tuple[int, int, bool]]],
) -> None:
    statistics = Statistics()
    for some in added:
        groups, durations, open_ = np.array(some, "q").reshape(-1, 3).T
        statistics.add(groups, durations, durations // 2, open_.astype(bool))
    rows = {int(row.name): row for row in statistics.rows(list("01234"))}
    everything = [one for some in added for one in some]
    assert rows.keys() == {group for group, _, _ in everything}
    for group, row in rows.items():
        mine = [(dur, open_) for which, dur, open_ in everything if which == group]
        whole = [dur for dur, open_ in mine if not open_]
        assert (row.count, row.incomplete) == (len(mine), len(mine) - len(whole))
        assert row.total == sum(dur for dur, _ in mine)
        assert row.self == sum(dur // 2 for dur, _ in mine)
        if not whole:
            assert row.least is row.mean is row.median is row.p99 is None
            continue
        assert (row.least, row.greatest) == (min(whole), max(whole))
        assert row.mean == pytest.approx(np.mean(np.array(whole, float)))
        shape = np.percentile(whole, [50, 95, 99])
        assert [row.median, row.p95, row.p99] == pytest.approx(shape)


def test_sums_of_many_long_slices_are_exact() -> None:
    statistics = Statistics()
    zero, none = np.zeros(100, "q"), np.zeros(100, bool)
    for _ in range(20):
        statistics.add(zero, zero + LONG + 1, zero + LONG + 1, none)
    (row,) = statistics.rows(["a"])
    assert row.total == row.self == 2000 * (LONG + 1) > 2**63


@settings(max_examples=50)
@given(
    st.lists(
        st.tuples(
            st.integers(-3, 3),
            st.integers(-(2**62), 2**62 - 1) | st.integers(0, 9),
            st.floats(allow_nan=False),
        )
    ),
    st.integers(1, 9),
)
def test_a_table_gives_back_what_it_got(
    rows: list[tuple[int, int, float]], at_once: int
) -> None:
    import tools.traces.columns as module

    before, module.CHUNK_ROWS = module.CHUNK_ROWS, 5  # type: ignore[misc]
    try:
        table = Table("q", "d")
        for low in range(0, len(rows), 3):
            part = rows[low : low + 3]
            table.add(*([one[column] for one in part] for column in range(3)))
        found = []
        for first, last in batches([table, Table("q", "d")], at_once):
            tracks, *columns = table.rows(first, last)
            assert len(tracks) <= at_once or len(set(tracks.tolist())) == 1
            both = zip(tracks.tolist(), *(one.tolist() for one in columns), strict=True)
            found += sorted(both, key=lambda row: row[0])  # stable
            table.drop(last)
    finally:
        module.CHUNK_ROWS = before  # type: ignore[misc]
    assert found == sorted(rows, key=lambda row: row[0])


@pytest.mark.parametrize(
    ("width", "bytes_"), [(255, 1), (256, 2), (65_536, 4), (2**31, 4), (2**62, 8)]
)
def test_columns_are_as_narrow_as_they_can_be(width: int, bytes_: int) -> None:
    packed = Packed.of(np.array([-5, width - 5], "q"))
    assert packed.values.itemsize == bytes_
    assert packed[:].tolist() == [-5, width - 5]
    assert packed[1:2].tolist() == [packed.most()] == [width - 5]


def test_a_counter_is_weighted_by_time() -> None:
    counters = Counters()
    at = {"ph": "C", "name": "gpu_0_watts", "pid": "7"}
    counters.add(
        known(
            [
                at | {"ts": 2_000_000, "args": {"": 50}},  # not in order
                at | {"ts": 1_000_000, "args": {"": 100}},
                at | {"ts": 4_000_000, "args": {"": 8.0}, "pid": 7},
                at | {"ts": 5, "args": {"": 1}, "name": "other", "id": 3},
            ]
        )
    )
    first, second = counters.close()
    assert first == Series(7, "gpu_0_watts", "", 3, 8, 200 / 3, 100, 8, 200, 200)
    assert second == Series(7, "other[3]", "", 1, 1, 1, 1, 1, 0, None)


def test_values_that_are_no_numbers_are_counted() -> None:
    counters = Counters()
    odd = {"a": "x", "b": True, "c": None, "d": 2, "e": 10**400, "f": [1]}
    counters.add(known([{"ph": "C", "name": "n", "ts": 1, "args": odd}]))
    counters.add(known([{"ph": "C", "name": "n", "args": {"d": 1}}]))
    counters.add(known([{"ph": "C", "name": "n", "ts": 1}]))
    counters.add(known([{"ph": "C", "name": "n", "ts": 1, "args": [1]}]))
    assert [(one.series, one.count) for one in counters.close()] == [("d", 1)]
    far = b'[{"ph": "C", "name": "n", "ts": 1, "args": {"d": 1e999}}]'
    counters.add(decode(far))
    assert (counters.not_numbers, counters.without_time) == (7, 1)


@pytest.mark.parametrize(
    ("counter", "series", "factor"),
    [
        ("gpu_0_watts", "value", 1),
        ("Power (mW)", "gpu", 1e-3),
        ("package", "kW", 1e3),
        ("power", "W", 1),
        ("host", "milliwatts", 1e-3),
        ("weights", "now", None),
        ("window", "view", None),
        ("gpu", "kwh", None),
        ("Total Allocated", "bytes", None),
    ],
)
def test_power_is_known_by_its_unit(
    counter: str, series: str, factor: float | None
) -> None:
    assert watts_factor(counter, series) == factor


@settings(max_examples=50)
@given(st.lists(st.tuples(st.sampled_from("stf"), st.integers(0, 5))))
def test_flows_are_counted_in_any_order(found: list[tuple[str, int]]) -> None:
    before, flows_module.ROWS = flows_module.ROWS, 4  # type: ignore[misc]
    try:
        flows = Flows()
        for phase, number in found:
            event = {"ph": phase, "cat": "c", "name": "n", "id": number}
            flows.add(known([event | {"id": hex(number)} if number % 2 else event]))
        counts = flows.close()
    finally:
        flows_module.ROWS = before  # type: ignore[misc]
    phases = Counter(phase for phase, _ in found)
    ids = {number for _, number in found}
    started = {number for phase, number in found if phase == "s"}
    ended = {number for phase, number in found if phase == "f"}
    assert counts == FlowCounts(
        phases["s"],
        phases["t"],
        phases["f"],
        len(ids),
        len(ids - started),
        len(started - ended),
    )


def test_flows_of_slices_are_counted() -> None:
    flows = Flows()
    slices = [
        {"ph": "X", "bind_id": "0x10", "flow_out": True},
        {"ph": "X", "bind_id": 16, "flow_in": True, "flow_out": True},
        {"ph": "X", "bind_id": "16", "flow_in": True},
        {"ph": "X", "bind_id": 17, "flow_in": True},
        {"ph": "X", "bind_id": 18},
    ]
    flows.add_bound(known(slices))
    assert flows.close() == FlowCounts(1, 1, 2, 2, 1, 0)


def test_equal_paths_are_one() -> None:
    tree = Tree()
    names, durations = np.array([1, 2, 2, 1]), np.array([10, 4, 5, 7])
    parents, depths = np.array([-1, 0, 0, -1]), np.array([0, 1, 1, 0])
    selves = np.array([1, 4, 5, 7])
    for asynchronous in (False, False, True):
        tree.add(names, parents, depths, durations, selves, asynchronous=asynchronous)
    found = [
        (node.depth, node.parent, node.name, node.asynchronous, node.count, node.total)
        for node in tree.nodes(["", "a", "b"], "total")
    ]
    assert found == [
        (0, None, "a", False, 4, 34),
        (1, 0, "b", False, 4, 18),
        (0, None, "a", True, 2, 17),
        (1, 2, "b", True, 2, 9),
    ]


def test_paths_that_are_too_deep_or_too_many_are_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tools.traces.tree.DEPTH", 3)
    monkeypatch.setattr("tools.traces.tree.NODES", 4)
    tree = Tree()
    chain = np.arange(6)
    ones = np.ones(6, "q")
    tree.add(chain, chain - 1, chain, ones, ones, asynchronous=False)
    others = np.arange(3)
    roots = np.full(3, -1)
    tree.add(others, roots, np.zeros(3, "q"), ones[:3], ones[:3], asynchronous=True)
    nodes = tree.nodes(["", "a", "b", "c", "d", "e"], "count")
    assert [(node.name, node.count) for node in nodes] == [
        ("", 1),
        ("a", 1),
        ("b", 1),
        ("", 1),
        (FOLDED, 5),
    ]
    assert sum(node.count for node in nodes) == 9


def test_names_beyond_those_told_apart_are_folded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tools.traces.naming.NAMES", 2)
    monkeypatch.setattr("tools.traces.naming.NAME_CHARACTERS", 5)
    pairs = Pairs()
    a, nothing = pairs["aaaaaaaaa", "c"], pairs[None, None]
    assert pairs["aaaaabbbb", "c"] == a  # the same in what is kept
    assert pairs["", None] == nothing
    rest = pairs["b", None]
    assert pairs["c", "x"] == rest
    assert pairs.names[pairs.name_of[rest]] == FOLDED
    assert pairs.folded == 2
    assert not [key for key in pairs if len(key[0] or "") > len(FOLDED)]


def test_threads_that_are_not_named_are_their_process() -> None:
    places = Places()
    for key in [(None, None), (5, None), ("5", "5"), (None, 7), ("a", "0x10")]:
        _ = places[key]
    assert places.places == [(0, 0), (5, 5), (0, 7), ("a", 16)]


@pytest.mark.parametrize(
    ("given_", "number"),
    [
        ("31", 31),
        ("0x1f", 31),
        ("0X1F", 31),
        (31, 31),
        (None, None),
        *((text, text) for text in ("", "1f", "-1", "1" * 65, "0x" + "f" * 17, "٣")),
    ],
)
def test_identities_are_numbers_if_they_can_be(given_: Any, number: Any) -> None:
    assert identity(given_) == number


def test_odd_types_cost_a_block_nothing_but_time() -> None:
    odd = {
        "ph": "zz",
        "name": 5,
        "cat": ["a"],
        "pid": 1.0,
        "tid": {"a": 1},
        "id": True,
        "ts": True,
        "dur": "1e400",
        "args": {"big": 2**70},
        "flow_in": "yes",
    }
    event, usual = known([odd, {"ph": "X", "name": "n", "ts": 1, "args": {"a": 1}}])
    assert (event.ph, event.name, event.cat) == ("zz", "5", "['a']")
    assert (event.pid, event.tid, event.id) == (1, '{"a": 1}', "true")
    assert str(event.ts) == "nan"
    assert event.dur == float("inf")
    assert arguments(event) == {"big": 2**70}
    assert arguments(usual) == {"a": 1}
    assert usual.ts == 1


@pytest.mark.parametrize("array", [b"[1]", b"{}", b"[{]", b"", b'["a", {}]'])
def test_what_is_no_array_of_objects_is_an_error_of_value(array: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  any: the reader salvages
        decode(array)
