"""Matching and nesting against slow definitions of the same, on random events."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.traces.matching import OPEN, match
from tools.traces.naming import Pairs, Places
from tools.traces.nesting import nest, parts
from tools.traces.slices import Batch, Slices, Troubles
from tools.traces.typed import Event, decode

Interval = tuple[int, int]

intervals = st.lists(
    st.tuples(st.integers(-20, 20), st.integers(0, 15)).map(
        lambda pair: (pair[0], pair[0] + pair[1])
    ),
    max_size=25,
)


def ordered(found: list[Interval]) -> list[Interval]:
    return sorted(found, key=lambda one: (one[0], -one[1]))


def innermost(found: list[Interval]) -> list[int]:
    """Self times by definition: each unit belongs to the slice that began last."""
    selves = [0] * len(found)
    for now in range(-20, 40):
        owners = [row for row, one in enumerate(found) if one[0] <= now < one[1]]
        if owners:
            selves[owners[-1]] += 1
    return selves


def covered(found: list[Interval]) -> int:
    return sum(
        any(start <= now < end for start, end in found) for now in range(-20, 40)
    )


@settings(max_examples=60)
@given(intervals)
def test_self_is_the_time_in_which_a_slice_is_the_one_that_began_last(
    found: list[Interval],
) -> None:
    found = ordered(found)
    starts, ends = np.array(found, "q").reshape(-1, 2).T
    done = nest(starts, ends)
    assert done.selves.tolist() == innermost(found)
    assert done.selves.sum() == covered(found)


@settings(max_examples=60)
@given(intervals)
def test_children_begin_inside_and_overlapping_ones_outlive(
    found: list[Interval],
) -> None:
    found = ordered(found)
    starts, ends = np.array(found, "q").reshape(-1, 2).T
    done = nest(starts, ends)
    outliving = 0
    for row, (start, end) in enumerate(found):
        around = [at for at in range(row) if found[at][1] > start]
        parent = int(done.parents[row])
        assert parent == (around[-1] if around else -1)
        assert done.depths[row] == (done.depths[parent] + 1 if around else 0)
        outliving += bool(around) and end > found[around[-1]][1]
    assert done.overlapping == outliving


@settings(max_examples=60)
@given(intervals)
def test_nothing_crosses_the_bounds_of_parts(found: list[Interval]) -> None:
    import tools.traces.nesting as module

    found = ordered(found)
    starts, ends = np.array(found, "q").reshape(-1, 2).T
    before, module.PART_ROWS = module.PART_ROWS, 3  # type: ignore[misc]
    try:
        bounds = parts(starts, ends)
    finally:
        module.PART_ROWS = before  # type: ignore[misc]
    assert bounds[0] == 0
    assert bounds[-1] == len(found)
    for at in bounds[1:-1]:
        assert max(end for _, end in found[:at]) <= found[at][0]
    assert all(low < high for low, high in pairwise(bounds)) or not found


def slow_match(events: list[tuple[bool, int]]) -> tuple[dict[int, int], list[int]]:
    """Matching by definition: a list of what is open, searched from its end."""
    ends: dict[int, int] = {}
    opened: list[int] = []
    odd = [0, 0, 0]  # unmatched, mismatched, interleaved
    for row, (begins, name) in enumerate(events):
        if begins:
            opened.append(row)
            ends[row] = OPEN
            continue
        same = [at for at in opened if events[at][1] == name]
        if not opened:
            odd[0] += 1
            continue
        if name == 0 or (not same and events[opened[-1]][1] == 0):
            closed = opened[-1]
        elif same:
            closed = same[-1]
        else:
            odd[1] += 1
            continue
        odd[2] += closed != opened[-1]
        opened.remove(closed)
        ends[closed] = row
    return ends, odd


@settings(max_examples=60)
@given(st.lists(st.lists(st.tuples(st.booleans(), st.integers(0, 3)), max_size=14)))
def test_ends_close_what_they_should(threads: list[list[tuple[bool, int]]]) -> None:
    tracks, pairs, want = [], [], {}
    odd = np.zeros(3, int)
    for track, events in enumerate(threads):
        ends, counts = slow_match(events)
        low = len(pairs)
        want |= {
            at + low: end if end == OPEN else end + low for at, end in ends.items()
        }
        odd += counts
        tracks += [track] * len(events)
        pairs += [name if begins else ~name for begins, name in events]
    names = np.array([-1, 0, 1, 2])  # the first name is none
    done = match(np.array(tracks, "q"), np.array(pairs, "i"), names)
    assert dict(zip(done.begins.tolist(), done.ends.tolist(), strict=True)) == want
    assert [done.unmatched, done.mismatched, done.interleaved] == odd.tolist()


def slices_of(events: list[dict[str, Any]]) -> tuple[set[Any], Troubles]:
    """All slices of a file, by their thread, name, start, duration and self."""
    pairs, places = Pairs(), Places()
    slices = Slices(pairs, places)
    known: list[Event] = decode(json.dumps(events).encode())
    slices.add_complete([event for event in known if event.ph == "X"])
    slices.add_nested([event for event in known if event.ph in "BE"])
    found = [row for batch in slices.close() for row in _rows(batch, pairs, places)]
    assert len(found) == len(set(found)), "names of a test must differ"
    return set(found), slices.troubles


def _rows(batch: Batch, pairs: Pairs, places: Places) -> list[Any]:
    columns = (batch.starts, batch.durations, batch.selves, batch.incomplete)
    numbers = zip(*(one.tolist() for one in columns), strict=True)
    return [
        (places.places[place], pairs.names[pairs.name_of[pair]], *row)
        for place, pair, row in zip(batch.places, batch.pairs, numbers, strict=True)
    ]


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 30), st.integers(0, 9))),
    st.randoms(use_true_random=False),
)
def test_the_order_of_complete_events_does_not_matter(
    calls: list[tuple[int, int, int]], chance: Any
) -> None:
    events = [
        {"ph": "X", "name": f"n{n}", "ts": ts, "dur": dur + n / 1000, "tid": tid}
        for n, (tid, ts, dur) in enumerate(calls)
    ]
    before = slices_of(events)
    chance.shuffle(events)
    assert slices_of(events) == before


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9)), max_size=9))
def test_complete_events_and_pairs_are_the_same(calls: list[Interval]) -> None:
    """A call may be written as X, or as B and E anywhere in the file."""
    whole, paired = [], []
    for n, (ts, dur) in enumerate(calls):
        at = {"name": f"n{n}", "pid": 1, "tid": 1}
        start, length = ts + n / 1000, dur + n / 100
        whole.append(at | {"ph": "X", "ts": start, "dur": length})
        paired.append(at | {"ph": "B", "ts": start})
        paired.append(at | {"ph": "E", "ts": start + length})
    assert slices_of(paired)[0] == slices_of(whole)[0]


def test_threads_that_meet_in_time_do_not_meet_in_nesting() -> None:
    """Time lines are put behind each other; a slice of no length ends the first."""
    events = [
        {"ph": "X", "name": "a", "ts": 0, "dur": 5, "tid": 1},
        {"ph": "X", "name": "b", "ts": 5, "dur": 0, "tid": 1},
        {"ph": "X", "name": "c", "ts": 0, "dur": 5, "tid": 2},
        {"ph": "X", "name": "d", "ts": 0, "dur": 0, "tid": 2},
    ]
    found, troubles = slices_of(events)
    assert {row[1]: row[4] for row in found} == {"a": 5000, "b": 0, "c": 5000, "d": 0}
    assert troubles == Troubles()


def test_times_as_far_apart_as_they_can_be() -> None:
    far = [
        {"ph": "X", "name": f"{sign}{tid}", "ts": sign * 4e15, "dur": 1e15, "tid": tid}
        for sign in (1, -1)
        for tid in (1, 2, 3)
    ]
    found, troubles = slices_of(far)
    assert {row[3] for row in found} == {row[4] for row in found} == {10**18}
    assert troubles == Troubles()


def test_nanoseconds_since_1970_are_exact() -> None:
    event = {"ph": "X", "name": "a", "ts": 1_700_000_000_000_000.25, "dur": 1.001}
    found, _ = slices_of([event])
    assert {row[2:5] for row in found} == {(1_700_000_000_000_000_250, 1001, 1001)}


def test_what_cannot_be_placed_is_counted() -> None:
    at = {"ph": "X", "name": "a", "pid": 1}
    events = [
        at | {"ts": 1},
        at | {"ts": 1, "dur": "soon"},
        at | {"ts": 1, "dur": -1},
        at | {"ts": None, "dur": 1},
        at | {"ts": 1e300, "dur": 1},
        at | {"ts": "2.5", "dur": "1.5"},
        {"ph": "B", "name": "a", "ts": [1]},
    ]
    found, troubles = slices_of(events)
    assert found == {((1, 1), "a", 2500, 1500, 1500, False)}
    assert troubles == Troubles(3, 2, 1)


def test_duplicates_are_counted_and_kept() -> None:
    pairs, places = Pairs(), Places()
    slices = Slices(pairs, places)
    one = {"ph": "X", "name": "a", "ts": 1, "dur": 2}
    other = one | {"name": "b"}
    events = [one, other, one, one, other, one | {"tid": 5}, one | {"dur": 3}]
    slices.add_complete(decode(json.dumps(events).encode()))
    assert sum(len(batch.pairs) for batch in slices.close()) == 7
    assert slices.troubles.duplicates == 3
