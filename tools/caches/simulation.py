"""A server that keeps models in memory, simulated under a plan of requests.

There are up to three tiers: a GPU's memory, the host's, and the disk that has all. An
item that the GPU lacks is copied from the host's memory if it is kept there, and else
read from the disk first. Copies in the host's memory are made when the disk is read,
and stay when the item leaves the GPU; without them every such item is read anew. They
leave by the same policy, but `all` is `flush` there: copies are kept on purpose.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tools.caches.policies import Policy
from tools.caches.tier import TierOutcome, per_item, simulate_tier

__all__ = ["TIERS", "Demand", "Memory", "Outcome", "Tier", "TierResult", "simulate"]

Tier: TypeAlias = Literal["gpu", "cpu", "disk"]
TIERS: Final[tuple[tuple[Tier, ...], ...]] = (
    ("gpu", "cpu", "disk"),
    ("gpu", "disk"),
    ("cpu", "disk"),
)
"""The combinations that there are, fastest first."""


@dataclass(frozen=True, slots=True)
class Demand:
    """What is asked for.

    Attributes:
        requests: the item of each request, as its position among the items.
        sizes: bytes of each item, which are moved when it is loaded.
        needs: bytes of memory that each item takes where it is kept.
        concurrency: requests that run at a time; their items do not leave.

    """

    requests: Sequence[int]
    sizes: Sequence[int]
    needs: Sequence[int]
    concurrency: int = 1


@dataclass(frozen=True, slots=True)
class Memory:
    """Where items can be kept.

    Attributes:
        tiers: the tiers, fastest first; one of `TIERS`.
        capacity: bytes of the first tier.
        cpu_capacity: bytes of the host's memory behind a GPU; no limit if None.

    """

    tiers: tuple[Tier, ...]
    capacity: int
    cpu_capacity: int | None = None


@dataclass(frozen=True, slots=True)
class TierResult:
    """What a tier did.

    Attributes:
        tier: its name.
        capacity: its bytes; None without a limit.
        requests: how often it was asked.
        hits: how often it had the item.
        evictions: how often an item left.
        evicted_bytes: memory that they gave back.
        not_kept: how often an item was not kept since there was no room.
        peak_bytes: the most memory in use.
        moved_bytes: bytes of items that were copied into it.

    """

    tier: Tier
    capacity: int | None
    requests: int
    hits: int
    evictions: int
    evicted_bytes: int
    not_kept: int
    peak_bytes: int
    moved_bytes: int

    @property
    def misses(self) -> int:
        """How often it had not."""
        return self.requests - self.hits

    @property
    def hit_ratio(self) -> float | None:
        """The share of hits, or None if nobody asked."""
        return self.hits / self.requests if self.requests else None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a policy.

    Attributes:
        policy: the policy of every tier.
        tiers: results, the fastest tier first; the disk has none.
        disk_bytes: bytes that were read from the disk.
        requests: for each item, how often it was asked for.
        hits: for each item, how often the first tier had it.
        evictions: for each item, how often it left the first tier.

    """

    policy: Policy
    tiers: tuple[TierResult, ...]
    disk_bytes: int
    requests: NDArray[np.int64]
    hits: NDArray[np.int64]
    evictions: NDArray[np.int64]


def simulate(demand: Demand, memory: Memory, policy: Policy) -> Outcome:
    """Serve all requests by one policy."""
    first = simulate_tier(
        demand.requests, demand.needs, memory.capacity, policy, demand.concurrency
    )
    name = memory.tiers[0]
    missed = _missed(demand.requests, first)
    results = [_result(name, memory.capacity, demand, demand.requests, first)]
    if name == "gpu" and "cpu" in memory.tiers:
        # A copy in the host's memory is in use only while it is copied.
        rule = Policy.FLUSH if policy is Policy.ALL else policy
        copies = simulate_tier(missed, demand.sizes, memory.cpu_capacity, rule)
        results.append(_result("cpu", memory.cpu_capacity, demand, missed, copies))
        missed = _missed(missed, copies)
    return Outcome(
        policy,
        tuple(results),
        sum(demand.sizes[item] for item in missed),
        np.bincount(
            np.asarray(demand.requests, dtype=np.int64), minlength=len(demand.sizes)
        ),
        per_item(first.hits, demand.requests, len(demand.sizes)),
        np.asarray(first.evictions, dtype=np.int64),
    )


def _missed(requests: Sequence[int], outcome: TierOutcome) -> array[int]:
    return array(
        "q", (item for item, hit in zip(requests, outcome.hits, strict=True) if not hit)
    )


def _result(
    tier: Tier,
    capacity: int | None,
    demand: Demand,
    requests: Sequence[int],
    outcome: TierOutcome,
) -> TierResult:
    hits = sum(outcome.hits)
    moved = sum(
        demand.sizes[item]
        for item, hit in zip(requests, outcome.hits, strict=True)
        if not hit
    )
    return TierResult(
        tier,
        capacity,
        len(requests),
        hits,
        sum(outcome.evictions),
        outcome.evicted_bytes,
        outcome.not_kept,
        outcome.peak_bytes,
        moved,
    )
