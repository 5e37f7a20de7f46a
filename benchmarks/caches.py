"""Time the simulation of eviction: a million requests, then two, for each policy.

    python benchmarks/caches.py

Shown is processor time; twice the requests must take about twice as long, whatever the
number of items and of requests at a time.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.caches.policies import Policy
from tools.caches.tier import simulate_tier

REQUESTS = 1_000_000


def seconds(items: int, requests: int, policy: Policy, concurrency: int) -> float:
    """Processor seconds of one simulation of Zipf requests."""
    rng = np.random.default_rng(1)
    weights = 1 / np.arange(1, items + 1)
    drawn = rng.choice(items, size=requests, p=weights / weights.sum()).tolist()
    sizes = rng.integers(1, 1000, items).tolist()
    begun = time.process_time()
    simulate_tier(drawn, sizes, sum(sizes) // 3, policy, concurrency)
    return time.process_time() - begun


def main() -> None:
    """Print a line for each policy and shape."""
    for items, concurrency in ((1000, 1), (100_000, 1000)):
        for policy in Policy:
            one, two = (
                seconds(items, factor * REQUESTS, policy, concurrency)
                for factor in (1, 2)
            )
            shape = f"{items} items, {concurrency} at a time, {policy.value}"
            print(
                f"{shape}: {one:.1f} s for 1e6, {two:.1f} s for 2e6 ({two / one:.1f}x)"
            )


if __name__ == "__main__":
    main()
