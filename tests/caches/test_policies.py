"""Every policy on sequences that were worked out by hand, and laws that all keep."""

from __future__ import annotations

from collections import OrderedDict
from functools import cache
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.caches.policies import Policy, read_policies
from tools.caches.tier import TierOutcome, per_item, simulate_tier
from tools.services.evictions import Eviction

NAMES = "abcdefgh"


def run(
    text: str, sizes: dict[str, int], capacity: int, policy: str, concurrency: int = 1
) -> tuple[str, str, TierOutcome]:
    """Requests as letters; hits as `+`, misses as `-`, and what left how often."""
    names = sorted(sizes)
    done = simulate_tier(
        [names.index(letter) for letter in text],
        [sizes[name] for name in names],
        capacity,
        Policy(policy),
        concurrency,
    )
    hits = "".join("+" if hit else "-" for hit in done.hits)
    left = "".join(
        name * count for name, count in zip(names, done.evictions, strict=True)
    )
    return hits, left, done


ONE = dict.fromkeys("abcd", 1)
SIZED = {"a": 1, "b": 2, "c": 3, "d": 5}


@pytest.mark.parametrize(
    ("policy", "text", "sizes", "capacity", "hits", "left"),
    [
        # Two places; c never gets one.
        ("never", "abcabc", ONE, 2, "---++-", ""),
        # c throws out a, which throws out b, and so on: never a hit.
        ("lru", "abcabc", ONE, 2, "------", "aabc"),
        # a was used again, so b is the one that leaves for c.
        ("lru", "abacab", ONE, 2, "--+-+-", "bc"),
        # a came first, so it leaves for c though it was used again; then b for a.
        ("fifo", "abacab", ONE, 2, "--+---", "abc"),
        # a has been asked for three times: b leaves for c, c for b.
        ("lcu", "aaabcba", ONE, 2, "-++---+", "bc"),
        # What left keeps its count: back, b has two and c one, so c leaves; then all
        # have two, and a is the one that was used longest ago.
        ("lcu", "aabcbcb", ONE, 2, "-+----+", "abc"),
        # Equal counts: the one that was used longest ago leaves.
        ("lcu", "abcb", ONE, 2, "---+", "a"),
        # c does not fit, so both leave; then there is room for a beside it.
        ("flush", "abcab", ONE, 2, "-----", "aabc"),
        ("flush", "abcac", ONE, 2, "----+", "ab"),
        # Each miss empties all, though there is room.
        ("all", "abaab", ONE, 3, "---+-", "aab"),
        # Furthest next use leaves; c is not kept, since it is never needed again.
        ("optimal", "abcabd", ONE, 2, "---++-", ""),
        ("optimal", "abcbca", ONE, 2, "---++-", "a"),
        # d needs all five: whatever is in its way leaves, oldest first.
        ("lru", "abd", SIZED, 5, "---", "ab"),
        ("lru", "abcb", SIZED, 5, "---+", "a"),
        # c needs three of five; b leaves after a, which alone is not enough.
        ("lru", "abac", SIZED, 4, "--+-", "b"),
        ("fifo", "bac", SIZED, 4, "---", "b"),
        # What is larger than all memory throws nothing out.
        *[
            (policy, "abdab", SIZED, 4, "---++", "")
            for policy in ("lru", "fifo", "lcu")
        ],
        ("flush", "abdab", SIZED, 4, "---++", ""),
        ("never", "abdab", SIZED, 4, "---++", ""),
        ("all", "abdab", SIZED, 4, "-----", "aab"),
    ],
)
def test_sequences_by_hand(
    policy: str, text: str, sizes: dict[str, int], capacity: int, hits: str, left: str
) -> None:
    assert run(text, sizes, capacity, policy)[:2] == (hits, left)


@pytest.mark.parametrize(
    ("policy", "text", "hits", "left"),
    [
        # With two at a time, a is in use when b comes: nothing can leave for b.
        ("lru", "abab", "--+-", ""),
        ("fifo", "abb", "---", "a"),
        ("lcu", "abb", "---", "a"),
        ("flush", "abb", "---", "a"),
        ("all", "abb", "---", "a"),
        ("optimal", "abb", "---", ""),
        ("never", "abb", "---", ""),
    ],
)
def test_what_is_in_use_does_not_leave(
    policy: str, text: str, hits: str, left: str
) -> None:
    assert run(text, ONE, 1, policy, 2)[:2] == (hits, left)


def test_fifo_has_belady_s_anomaly() -> None:
    """Belady, Nelson, Shedler 1969: more memory, more misses."""
    sizes = dict.fromkeys("abcde", 1)
    misses = [
        run("abcdabeabcde", sizes, places, "fifo")[0].count("-") for places in (3, 4)
    ]
    assert misses == [9, 10]


def test_room_is_counted() -> None:
    _, _, done = run("abcd", SIZED, 6, "lru")
    assert (done.peak_bytes, done.used_bytes) == (6, 5)
    assert (done.kept_bytes, done.evicted_bytes) == (11, 6)
    assert run("dd", SIZED, 4, "lru")[2].not_kept == 2
    assert run("abcd", SIZED, 0, "lru")[2].not_kept == 4


def test_without_a_limit_everything_is_missed_once() -> None:
    done = simulate_tier([0, 1, 0, 1, 2], [5, 6, 7], None, Policy.LRU)
    assert list(done.hits) == [0, 0, 1, 1, 0]
    assert list(per_item(done.hits, [0, 1, 0, 1, 2], 3)) == [1, 1, 0]


def test_nothing_asked_for() -> None:
    for policy in Policy:
        assert simulate_tier([], [1, 2], 1, policy).peak_bytes == 0
        assert simulate_tier([], [], 1, policy).peak_bytes == 0


def test_names_of_policies() -> None:
    assert read_policies("lru, LFU,lcu") == (Policy.LRU, Policy.LCU)
    assert len(read_policies("never,lru,lcu,fifo,flush,all,optimal")) == 7
    for text in ("", "lru,", "mru"):
        with pytest.raises(ValueError, match="is none of never, lru"):
            read_policies(text)


LETTERS = st.lists(st.integers(0, 5), max_size=60)
SIZES = st.lists(st.integers(0, 9), min_size=6, max_size=6)
POLICIES = st.sampled_from(Policy)
FEW = settings(max_examples=40)


@given(LETTERS, SIZES, st.integers(0, 30), POLICIES, st.integers(1, 5))
def test_bytes_are_conserved_and_memory_is_never_overfull(
    requests: list[int], sizes: list[int], capacity: int, policy: Policy, at_a_time: int
) -> None:
    done = simulate_tier(requests, sizes, capacity, policy, at_a_time)
    assert done.kept_bytes - done.evicted_bytes == done.used_bytes
    assert 0 <= done.used_bytes <= done.peak_bytes <= capacity
    missed = [item for item, hit in zip(requests, done.hits, strict=True) if not hit]
    assert len(missed) >= len(set(requests))
    assert sum(done.evictions) <= len(missed) - done.not_kept
    evicted = zip(sizes, done.evictions, strict=True)
    assert sum(size * count for size, count in evicted) == done.evicted_bytes


@FEW
@given(LETTERS, st.integers(9, 30), st.integers(0, 30), SIZES)
def test_more_memory_never_costs_lru_a_hit(
    requests: list[int], capacity: int, more: int, sizes: list[int]
) -> None:
    """The stack property (Mattson 1970); nothing is larger than the smaller memory."""
    small = simulate_tier(requests, sizes, capacity, Policy.LRU)
    large = simulate_tier(requests, sizes, capacity + more, Policy.LRU)
    assert all(one <= other for one, other in zip(small.hits, large.hits, strict=True))


@FEW
@given(LETTERS, st.integers(1, 5))
def test_no_policy_beats_the_optimum(requests: list[int], places: int) -> None:
    ones = [1] * 6
    best = sum(simulate_tier(requests, ones, places, Policy.OPTIMAL).hits)
    for policy in Policy:
        assert sum(simulate_tier(requests, ones, places, policy).hits) <= best


@FEW
@given(st.lists(st.integers(0, 3), max_size=9), st.integers(1, 3))
def test_the_optimum_is_the_best_of_all_ways(requests: list[int], places: int) -> None:
    """Every subset that could stay after each request is tried."""

    @cache
    def most(number: int, inside: frozenset[int]) -> int:
        if number == len(requests):
            return 0
        item = requests[number]
        hit = item in inside
        after = inside | {item}
        ways = [
            frozenset(way)
            for count in range(min(places, len(after)) + 1)
            for way in combinations(sorted(after), count)
        ]
        return hit + max(most(number + 1, way) for way in ways)

    done = simulate_tier(requests, [1] * 4, places, Policy.OPTIMAL)
    assert sum(done.hits) == most(0, frozenset())


@FEW
@given(LETTERS, SIZES, st.integers(0, 30))
def test_lru_is_that_of_an_ordered_dictionary(
    requests: list[int], sizes: list[int], capacity: int
) -> None:
    assert simulate_tier(requests, sizes, capacity, Policy.LRU).hits == recency(
        requests, sizes, capacity
    )


def test_a_long_run_forgets_nothing() -> None:
    """Entries of the heap that no longer hold are dropped on the way."""
    sizes = [3, 1, 4, 1, 5, 9]
    requests = [(number * number + number // 7) % 6 for number in range(6000)]
    for capacity in (9, 14, 22):
        done = simulate_tier(requests, sizes, capacity, Policy.LRU)
        assert done.hits == recency(requests, sizes, capacity)
        done = simulate_tier(requests[:2500], sizes, capacity, Policy.FIFO, 2)
        assert done.hits == plain(requests[:2500], sizes, capacity, Policy.FIFO, 2)


def recency(requests: list[int], sizes: list[int], capacity: int) -> bytearray:
    """Hits of LRU, one request at a time."""
    kept: OrderedDict[int, int] = OrderedDict()
    hits = bytearray()
    for item in requests:
        hits.append(item in kept)
        if item in kept:
            kept.move_to_end(item)
        elif sizes[item] <= capacity:
            while sum(kept.values()) + sizes[item] > capacity:
                kept.popitem(last=False)
            kept[item] = sizes[item]
    return hits


@FEW
@given(LETTERS, SIZES, st.integers(0, 30), st.integers(1, 4))
def test_fifo_and_lcu_are_those_of_a_plain_list(
    requests: list[int], sizes: list[int], capacity: int, at_a_time: int
) -> None:
    for policy in (Policy.FIFO, Policy.LCU):
        hits = plain(requests, sizes, capacity, policy, at_a_time)
        done = simulate_tier(requests, sizes, capacity, policy, at_a_time)
        assert done.hits == hits


def plain(
    requests: list[int], sizes: list[int], capacity: int, policy: Policy, width: int
) -> bytearray:
    """The same rules without a heap: look at all that is kept, every time."""
    kept: dict[int, int] = {}
    hits = bytearray()
    for number, item in enumerate(requests):
        used = set(requests[max(0, number - width + 1) : number + 1])
        hits.append(item in kept)
        if item in kept:
            continue

        def rank(one: int, before: int = number) -> tuple[int, int]:
            seen = [at for at in range(before) if requests[at] == one]
            return (len(seen), seen[-1]) if policy is Policy.LCU else (kept[one], 0)

        leaving = sorted((one for one in kept if one not in used), key=rank)
        free = capacity - sum(sizes[one] for one in kept)
        if free + sum(sizes[one] for one in leaving) < sizes[item]:
            continue
        while free < sizes[item]:
            gone = leaving.pop(0)
            free += sizes[gone]
            del kept[gone]
        kept[item] = number
    return hits


def test_all_that_the_server_can_be_told_is_simulated() -> None:
    assert set(Policy) - {Policy.OPTIMAL} == set(Eviction)
