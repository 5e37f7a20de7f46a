"""One memory of limited size under a sequence of requests, by one policy of eviction.

The cost is n log n in the number of requests, whatever the number of items: what may
leave stands in a heap, where entries that no longer hold are passed over.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tools.caches.policies import Policy

__all__ = ["TierOutcome", "per_item", "simulate_tier"]


@dataclass(frozen=True, slots=True)
class TierOutcome:
    """What became of every request.

    Attributes:
        hits: for each request, 1 if its item was there.
        evictions: for each item, how often it left.
        not_kept: how many requests were served without their item being kept.
        peak_bytes: the most that was in use.
        used_bytes: what is in use at the end.
        kept_bytes: all that was ever taken in.
        evicted_bytes: all that left.

    """

    hits: bytearray
    evictions: list[int]
    not_kept: int
    peak_bytes: int
    used_bytes: int
    kept_bytes: int
    evicted_bytes: int


def simulate_tier(
    requests: Sequence[int],
    sizes: Sequence[int],
    capacity: int | None,
    policy: Policy,
    concurrency: int = 1,
) -> TierOutcome:
    """Serve requests in their order.

    All requests are taken to last equally long, so the items of the last `concurrency`
    requests, the present one included, are in use and do not leave.

    Args:
        requests: the item of each request, as its position in `sizes`.
        sizes: bytes that each item takes.
        capacity: bytes of the memory; no limit if None.
        policy: which items leave.
        concurrency: requests that run at a time.
    """
    tier = _Tier(requests, sizes, capacity, policy)
    for number, item in enumerate(requests):
        if number >= concurrency:
            tier.release(requests[number - concurrency])
        tier.ask(number, item)
    return TierOutcome(
        tier.hits,
        tier.evictions,
        tier.not_kept,
        tier.peak,
        tier.used,
        tier.kept,
        tier.evicted,
    )


class _Tier:
    """The memory while requests are served."""

    __slots__ = (
        "_capacity",
        "_counts",
        "_entries",
        "_heap",
        "_idle",
        "_items",
        "_last",
        "_loaded",
        "_next",
        "_pins",
        "_policy",
        "_resident",
        "_sizes",
        "_total",
        "evicted",
        "evictions",
        "hits",
        "kept",
        "not_kept",
        "peak",
        "used",
    )

    def __init__(
        self,
        requests: Sequence[int],
        sizes: Sequence[int],
        capacity: int | None,
        policy: Policy,
    ) -> None:
        count = len(sizes)
        self._items = max(count, 1)
        self._total = len(requests) + 1
        self._sizes = sizes
        self._capacity = sum(sizes) if capacity is None else capacity
        self._policy = policy
        self._resident = bytearray(count)
        self._pins = [0] * count
        self._last = [0] * count
        self._loaded = [0] * count
        self._counts = [0] * count
        self._entries = [-1] * count
        self._heap: list[int] = []
        self._idle = 0
        optimal = policy is Policy.OPTIMAL
        self._next = _next_uses(requests, count) if optimal else []
        self.hits = bytearray(len(requests))
        self.evictions = [0] * count
        self.not_kept = self.peak = self.used = self.kept = self.evicted = 0

    def ask(self, number: int, item: int) -> None:
        """Serve a request."""
        size = self._sizes[item]
        if self._resident[item]:
            self.hits[number] = 1
            if not self._pins[item]:
                self._idle -= size
        self._pins[item] += 1
        self._last[item] = number
        self._counts[item] += 1
        if self._resident[item]:
            return
        if self._policy is Policy.ALL:
            self._evict_idle()
        if size > self._capacity - self.used and not self._make_room(number, size):
            self.not_kept += 1
            return
        self._resident[item] = 1
        self._loaded[item] = number
        self.used += size
        self.kept += size
        self.peak = max(self.peak, self.used)

    def release(self, item: int) -> None:
        """A request ended, and needs its item no longer."""
        self._pins[item] -= 1
        if self._pins[item] or not self._resident[item]:
            return
        self._idle += self._sizes[item]
        if self._policy is Policy.NEVER:
            return
        entry = self._rank(item) * self._items + item
        if entry != self._entries[item]:
            self._entries[item] = entry
            heapq.heappush(self._heap, entry)
        if len(self._heap) > 4 * self._items + 1024:
            self._tidy()

    def _rank(self, item: int) -> int:
        """Whose is lowest leaves first."""
        match self._policy:
            case Policy.FIFO:
                return self._loaded[item]
            case Policy.LCU:
                return self._counts[item] * self._total + self._last[item]
            case Policy.OPTIMAL:
                return self._total - self._next[self._last[item]]
        return self._last[item]

    def _make_room(self, number: int, size: int) -> bool:
        """Have items leave until there is room; false if there cannot be."""
        lacking = size - (self._capacity - self.used)
        if lacking > self._idle or self._policy in {Policy.NEVER, Policy.ALL}:
            return False
        if self._policy is Policy.FLUSH:
            self._evict_idle()
            return True
        leaving: list[tuple[int, int]] = []
        own = self._total - self._next[number] if self._next else self._total**2
        while lacking > 0:
            entry = heapq.heappop(self._heap)
            item = entry % self._items
            if not self._may_leave(item, entry):
                continue
            if entry // self._items >= own:
                for back, one in ((entry, item), *leaving):
                    self._entries[one] = back
                    heapq.heappush(self._heap, back)
                return False
            leaving.append((entry, item))
            lacking -= self._sizes[item]
        for _, item in leaving:
            self._evict(item)
        return True

    def _may_leave(self, item: int, entry: int) -> bool:
        """Whether an entry that was taken from the heap holds still."""
        if self._entries[item] != entry:
            return False
        self._entries[item] = -1  # once its item is released, it comes back
        return not self._pins[item]

    def _evict(self, item: int) -> None:
        size = self._sizes[item]
        self._resident[item] = 0
        self._idle -= size
        self.used -= size
        self.evicted += size
        self.evictions[item] += 1

    def _evict_idle(self) -> None:
        for entry in self._heap:
            item = entry % self._items
            if self._may_leave(item, entry):
                self._evict(item)
        self._heap.clear()

    def _tidy(self) -> None:
        """Drop entries that no longer hold, so that memory stays bounded."""
        self._heap = [
            entry for entry in self._heap if self._entries[entry % self._items] == entry
        ]
        heapq.heapify(self._heap)


def _next_uses(requests: Sequence[int], items: int) -> list[int]:
    """For each request, when its item is asked for next; their number if never."""
    ahead = [len(requests)] * items
    uses = [0] * len(requests)
    for number in range(len(requests) - 1, -1, -1):
        item = requests[number]
        uses[number] = ahead[item]
        ahead[item] = number
    return uses


def per_item(
    marks: bytearray, requests: Sequence[int], items: int
) -> NDArray[np.int64]:
    """How often each item's requests are marked."""
    where = np.asarray(requests, dtype=np.int64)
    weights = np.frombuffer(marks, dtype=np.uint8)
    return np.bincount(where, weights=weights, minlength=items).astype(np.int64)
