"""Draws as TRIMS makes them, for whoever repeats its experiments.

What is the same: one random weight an item, in the order of the items, normalised;
independent draws through an alias table (Vose); a draw of an item that has had its
share is skipped and yet consumes an iteration; and the share is off by one, so that a
limit of 1 or 0 runs nothing, 2 and more run so many times, and a negative one is none.

What is not: the random numbers themselves. TRIMS takes them from Go's generators with
fixed seeds; here they come from the plan's. A plan is another sample of the same law.
TRIMS also replaces parameters that it cannot read by its defaults; here they are
findings.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tools.load.streams import Floats, Integers, Stream

__all__ = ["alias_draws", "alias_table", "kept_at_limit"]


def alias_table(shares: Floats) -> tuple[Floats, Integers]:
    """Vose's table: the chance to keep each column, and the item else.

    Args:
        shares: normalised weights.
    """
    count = len(shares)
    scaled = (shares * count).tolist()
    keep = np.ones(count)
    other = np.arange(count, dtype=np.int64)
    small = [item for item, share in enumerate(scaled) if share < 1.0]
    large = [item for item, share in enumerate(scaled) if share >= 1.0]
    while small and large:
        low, high = small.pop(), large.pop()
        keep[low], other[low] = scaled[low], high
        scaled[high] = scaled[high] + scaled[low] - 1.0
        (small if scaled[high] < 1.0 else large).append(high)
    return keep, other


def alias_draws(shares: Floats, count: int, stream: Stream) -> Integers:
    """So many independent draws of items; each takes two words of the stream."""
    keep, other = alias_table(shares)
    values = stream.uniforms(2 * count)
    columns = (values[0::2] * len(shares)).astype(np.int64)
    drawn: Integers = np.where(values[1::2] < keep[columns], columns, other[columns])
    return drawn


def kept_at_limit(drawn: Integers, items: int, limit: int | None) -> NDArray[np.bool_]:
    """Which draws are left when those of items that had their share are skipped.

    Args:
        drawn: the items' indices in the order of draws.
        items: how many items there are.
        limit: TRIMS's `model_iterations`; none or a negative number is no limit.
    """
    if limit is None or limit < 0:
        return np.ones(len(drawn), dtype=np.bool_)
    counts = [0] * items
    kept = np.zeros(len(drawn), dtype=np.bool_)
    for place, item in enumerate(drawn.tolist()):
        counts[item] += 1
        kept[place] = limit > 1 and counts[item] <= limit
    return kept
