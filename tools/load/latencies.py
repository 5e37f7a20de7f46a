"""Percentiles of latencies, and what so many queries prove about them.

MLPerf's early stopping asks: if really more than 1 - p of all queries were slower than
a limit, how likely would so few slow ones among n be? Only when that is at most 1 % is
the percentile proven. With no slow query the 99th percentile needs 459 queries, with
one 662; the 90th needs 64 with one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from tools.load.streams import Floats

__all__ = [
    "CONFIDENCE",
    "PERCENTILES",
    "allowed_over",
    "percentile",
    "queries_needed",
    "summary",
]

CONFIDENCE: Final = 0.99
PERCENTILES: Final[Mapping[str, float]] = {
    "p50": 0.50,
    "p90": 0.90,
    "p95": 0.95,
    "p97": 0.97,
    "p99": 0.99,
    "p99.9": 0.999,
}
_MOST: Final = 1 << 40


def percentile(ascending: Floats, share: float) -> float:
    """The smallest value that at least this share of the values does not exceed."""
    rank = int(np.ceil(share * len(ascending) - 1e-9))
    return float(ascending[max(rank, 1) - 1])


def summary(seconds: Floats) -> dict[str, float | int | None]:
    """Count, extremes, mean and percentiles of values; None where there is no value."""
    ascending = np.sort(seconds)
    some = len(ascending) > 0
    facts: dict[str, float | int | None] = {"count": len(ascending)}
    facts["min"] = float(ascending[0]) if some else None
    facts["mean"] = float(ascending.mean()) if some else None
    for name, share in PERCENTILES.items():
        facts[name] = percentile(ascending, share) if some else None
    facts["max"] = float(ascending[-1]) if some else None
    return facts


def queries_needed(over: int, share: float, confidence: float = CONFIDENCE) -> int:
    """How many queries prove a percentile if so many of them were over the limit.

    Args:
        over: queries slower than the limit.
        share: the percentile, as a fraction.
        confidence: how sure the statement is to be.
    """
    low, high = over + 1, _MOST
    while low < high:
        middle = (low + high) // 2
        if _chance(over, middle, share) <= 1 - confidence:
            high = middle
        else:
            low = middle + 1
    return low


def allowed_over(
    queries: int, share: float, confidence: float = CONFIDENCE
) -> int | None:
    """How many of the queries may be over a limit for it to be proven; None if too few.

    The value of that rank from the top is an upper bound of the true percentile.
    """
    if queries < queries_needed(0, share, confidence):
        return None
    low, high = 0, queries
    while high - low > 1:
        middle = (low + high) // 2
        if _chance(middle, queries, share) <= 1 - confidence:
            low = middle
        else:
            high = middle
    return low


def _chance(over: int, queries: int, share: float) -> float:
    """That at most so many are over, if the share that is not over were just missed."""
    from scipy.special import betainc  # noqa: PLC0415 - slow import

    # The binomial distribution function; scipy's own takes no large numbers.
    return 1.0 if over >= queries else float(betainc(queries - over, over + 1, share))
