"""Begins stay with their ends, arrows with the slices at both of theirs."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.simulators.small_traces import Event, at, filtered, names, x


def test_begins_are_kept_with_their_ends(tmp_path: Path) -> None:
    events = [
        at("B", 0, name="outer"),
        at("B", 1, name="inner"),
        at("E", 2, name="inner"),
        at("E", 9),
        at("E", 10, name="nobody's"),
        at("B", 11, name="inner"),
    ]

    done, kept = filtered(tmp_path, events, names=("outer",))
    assert [one["ts"] for one in kept] == [0, 9]
    assert (done.unmatched_ends, done.unclosed) == (1, 1)

    _, kept = filtered(tmp_path, events, names=("inner",))
    assert [one["ts"] for one in kept] == [1, 2, 11]


def test_pairs_are_found_in_time_and_not_in_the_order_of_the_file(
    tmp_path: Path,
) -> None:
    events = [at("E", 9), at("B", 0, name="a"), at("E", 3), at("B", 2, name="b")]

    _, kept = filtered(tmp_path, events, names=("b",))

    assert [one["ts"] for one in kept] == [3, 2]


def test_asynchronous_events_are_kept_with_their_sequence(tmp_path: Path) -> None:
    events = [
        at("b", 0, name="request", cat="n", id=1),
        at("n", 1, name="step", cat="n", id=1),
        at("e", 5, name="request", cat="n", id=1),
        at("b", 0, name="other", cat="n", id=2),
        at("e", 5, name="other", cat="n", id=2),
        at("b", 0, name="request", cat="n", id2={"local": "0x1"}),
        at("e", 2, name="request", cat="n", id2={"local": "0x1"}),
        at("b", 1, name="other", cat="n", id2={"local": "0x1"}, pid=2),
        at("e", 3, name="other", cat="n", id2={"local": "0x1"}, pid=2),
    ]

    _, kept = filtered(tmp_path, events, names=("request", "step"))
    assert [(one["ph"], one["ts"], one["pid"]) for one in kept] == [
        ("b", 0, 1),
        ("n", 1, 1),
        ("e", 5, 1),
        ("b", 0, 1),
        ("e", 2, 1),
    ]
    _, kept = filtered(tmp_path, events, names=("step",))
    assert kept == []


def test_local_sequences_are_those_of_their_process(tmp_path: Path) -> None:
    events = [
        at(phase, ts, name="r", cat="n", id2={"local": "0x1"}, pid=pid)
        for phase, ts, pid in (("b", 0, 1), ("b", 1, 2), ("e", 2, 1), ("e", 3, 2))
    ]

    _, kept = filtered(tmp_path, events, processes=frozenset({"1"}))

    assert [(one["ph"], one["ts"]) for one in kept] == [("b", 0), ("e", 2)]


FLOW = [
    x("call", 0, 5),
    at("s", 1, name="flow", cat="f", id=1),
    x("kernel", 10, 5, tid=2),
    at("f", 10, name="flow", cat="f", id=1, tid=2, bp="e"),
]


def test_arrows_stay_with_the_slices_at_both_ends(tmp_path: Path) -> None:
    done, kept = filtered(tmp_path, FLOW, names=("call", "kernel"))
    assert names(kept) == ["call", "flow", "kernel", "flow"]
    assert done.arrows_dropped == 0

    for one in ("call", "kernel"):
        done, kept = filtered(tmp_path, FLOW, names=(one,))
        assert names(kept) == [one]
        assert done.arrows_dropped == 1


def test_arrows_belong_to_the_innermost_slice(tmp_path: Path) -> None:
    around = [x("step", 0, 100), x("late", 2, 1)]

    done, kept = filtered(tmp_path, around + FLOW, names=("step", "kernel"))

    assert names(kept) == ["step", "kernel"]
    assert done.arrows_dropped == 1


def test_arrows_after_an_inner_slice_belong_to_the_outer_one(tmp_path: Path) -> None:
    events = [
        x("step", 0, 100),
        x("inner", 1, 50),
        x("innermost", 2, 3),
        at("s", 40, name="flow", cat="f", id=1),
        at("s", 60, name="flow", cat="f", id=2),
        x("kernel", 100, 5, tid=2),
        at("f", 100, name="flow", cat="f", id=1, tid=2, bp="e"),
        at("f", 101, name="flow", cat="f", id=2, tid=2, bp="e"),
    ]

    def arrows(*kept: str) -> list[int]:
        left = filtered(tmp_path, events, names=(*kept, "kernel"))[1]
        return [one["id"] for one in left if one["ph"] == "s"]

    assert arrows("step") == [2]
    assert arrows("inner") == [1]
    assert arrows("innermost") == []


def test_an_arrow_without_bp_ends_at_the_next_slice(tmp_path: Path) -> None:
    events = [
        x("call", 0, 5),
        at("s", 1, name="flow", cat="f", id=1),
        x("around", 8, 50, tid=2),
        at("f", 9, name="flow", cat="f", id=1, tid=2),
        x("next", 10, 5, tid=2),
    ]

    _, kept = filtered(tmp_path, events, names=("call", "next"))
    assert names(kept) == ["call", "flow", "flow", "next"]

    done, kept = filtered(tmp_path, events, names=("call", "around"))
    assert names(kept) == ["call", "around"]
    assert done.arrows_dropped == 1


def test_arrows_find_slices_of_begins_and_ends(tmp_path: Path) -> None:
    events = [
        at("B", 0, name="call"),
        at("s", 1, name="flow", cat="f", id=1),
        at("E", 5),
        *FLOW[2:],
    ]

    _, kept = filtered(tmp_path, events, names=("call", "kernel"))

    assert len(kept) == len(events)


events_ = st.lists(
    st.builds(
        lambda ph, name, ts, tid, id_: at(
            ph, ts, name="flow" if ph in "sf" else name, tid=tid, id=id_, cat="c"
        ),
        st.sampled_from("BBEEXbesfi"),
        st.sampled_from(["a", "b"]),
        st.integers(0, 20),
        st.integers(1, 2),
        st.integers(1, 2),
    ),
    max_size=25,
)


@settings(max_examples=50)
@given(events_)
def test_what_is_left_is_whole(
    tmp_path_factory: pytest.TempPathFactory, given_: list[Event]
) -> None:
    folder = tmp_path_factory.mktemp("whole")
    done, kept = filtered(folder, given_, names=("a",))

    again, same = filtered(folder, kept, names=("a",))
    assert same == kept
    assert again.unmatched_ends == 0
    assert again.unclosed <= done.unclosed
    starts = {one["id"] for one in kept if one["ph"] == "s"}
    ends = {one["id"] for one in kept if one["ph"] == "f"}
    either = {one["id"] for one in given_ if one["ph"] in "sf"}
    whole = {
        number
        for number in either
        if {one["ph"] for one in given_ if one["ph"] in "sf" and one["id"] == number}
        == {"s", "f"}
    }
    assert starts & whole == ends & whole
