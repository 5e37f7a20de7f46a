"""What is simulated, and how it looks at other values of what varies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tools.caches.simulation import Demand, Memory, Tier
from tools.caches.sizes import Capacity, estimates
from tools.caches.sweeps import Value, kept_items

__all__ = ["Scenario"]


@dataclass(frozen=True, slots=True)
class Scenario:
    """A plan's requests and a machine.

    Attributes:
        names: the items, in the order of ranks.
        sizes: bytes of each.
        internal: bytes that a framework takes beside an item; None if they do not
            count.
        requests: the item of each request, as its position.
        concurrency: requests at a time.
        rate: what sizes are multiplied by to get the memory that items need.
        tiers: where items are kept.
        capacity: of the first tier: bytes, or a share of `memory_bytes`.
        memory_bytes: the memory that a share is of; what all items need if None.
        cpu_capacity: of the host's memory: bytes, or a share of all sizes; no limit if
            None.

    """

    names: Sequence[str]
    sizes: Sequence[int]
    internal: Mapping[str, int] | None
    requests: Sequence[int]
    concurrency: int
    rate: float
    tiers: tuple[Tier, ...]
    capacity: Capacity
    memory_bytes: int | None
    cpu_capacity: Capacity | None

    def at(self, values: Mapping[str, Value]) -> tuple[Demand, Memory]:
        """The demand and the memory at some values of a sweep.

        A share as capacity is that of the memory that all items need at the scenario's
        own rate, so that it stays the same amount while other things vary.

        Args:
            values: by the names of axes; what is not there is the scenario's own.
        """
        share = values.get("share", 1.0)
        rate = values.get("estimation-rate", self.rate)
        kept = kept_items(len(self.names), share)
        requests = self.requests
        if kept < len(self.names):
            requests = [item for item in requests if item < kept]
        demand = Demand(
            requests,
            self.sizes,
            estimates(self.sizes, rate, self.names, self.internal),
            int(values.get("concurrency", self.concurrency)),
        )
        whole = self.memory_bytes
        if whole is None:
            whole = sum(estimates(self.sizes, self.rate, self.names, self.internal))
        cpu = self.cpu_capacity
        memory = Memory(
            self.tiers,
            _bytes(values.get("capacity", self.capacity), whole),
            None if cpu is None else _bytes(cpu, sum(self.sizes)),
        )
        return demand, memory


def _bytes(capacity: Capacity, whole: int) -> int:
    return capacity if isinstance(capacity, int) else round(capacity * whole)
