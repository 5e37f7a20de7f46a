"""What a plan really holds: counts against weights, entropy, rate and gaps."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from tools.load.popularity import effective_items, entropy
from tools.load.requests import Plan
from tools.load.streams import Floats, Integers

__all__ = ["BINS", "nominal_rate", "statistics"]

BINS: Final = 20
"""Into how many parts the histogram of arrivals divides the load."""
_SECOND: Final = 1e9


def statistics(plan: Plan) -> dict[str, Any]:
    """The numbers of a plan, as a document of the schema load-statistics/1.

    Entropy is in nats; `effective_items` is its exponential, the number of equally
    popular items with the same entropy. Rates are requests a second; `cv` is the
    standard deviation of the gaps over their mean: 1 for Poisson, 0 for constant.
    """
    header = plan.header
    weights = np.array([item.weight for item in plan.items])
    drawn = np.array(plan.requests.drawn, dtype=np.int64)
    counts = np.bincount(drawn, minlength=len(weights))
    return {
        "schema": "load-statistics/1",
        "seed": header.seed,
        "popularity": {"kind": header.popularity.kind, **header.popularity.values},
        "weights": header.popularity.weights,
        "arrivals": {"kind": header.arrivals.kind, **header.arrivals.values},
        "requests": len(drawn),
        "covered": header.covered,
        "skipped": header.skipped,
        "items": len(weights),
        "items_asked_for": int(np.count_nonzero(counts)),
        "entropy_nats": _rounded(entropy(weights)),
        "effective_items": _rounded(effective_items(weights)),
        "realised_entropy_nats": _rounded(entropy(counts.astype(np.float64))),
        "realised_effective_items": _rounded(
            effective_items(counts.astype(np.float64))
        ),
        "top_share": _rounded(float(weights.max())),
        "counts": _counts(plan, counts),
        "schedule": _schedule(plan),
    }


def _counts(plan: Plan, counts: Integers) -> list[dict[str, Any]]:
    total = max(1, len(plan.requests))
    return [
        {
            "name": item.name,
            "weight": item.weight,
            "count": count,
            "share": _rounded(count / total),
        }
        for item, count in zip(plan.items, counts.tolist(), strict=True)
    ]


def _schedule(plan: Plan) -> dict[str, Any] | None:
    """Rates and gaps, or None if there are no times."""
    times = plan.requests.times
    if not times:
        return None
    at = np.array(times, dtype=np.int64)
    span = plan.span_ns / _SECOND
    facts: dict[str, Any] = {
        "span_seconds": span,
        "nominal_rate": nominal_rate(plan),
        "realised_rate": _rounded(len(at) / span) if span else None,
        # A Poisson count's square root is its standard deviation.
        "realised_rate_error": _rounded(math.sqrt(len(at)) / span) if span else None,
        "gap_mean_seconds": None,
        "gap_cv": None,
        "histogram": _histogram(at, plan.span_ns),
    }
    if len(at) > 1:
        gaps: Floats = np.diff(at) / _SECOND
        mean = float(gaps.mean())
        facts["gap_mean_seconds"] = _rounded(mean)
        facts["gap_cv"] = _rounded(float(gaps.std()) / mean) if mean else None
    return facts


def nominal_rate(plan: Plan) -> float | None:
    """The arrivals a second that were asked for, if any were."""
    values = plan.header.arrivals.values
    rate = values.get("rate")
    if not isinstance(rate, float):
        return None
    on, off = values.get("on", 1.0), values.get("off", 0.0)
    if isinstance(on, float) and isinstance(off, float) and on + off > 0:
        return rate * on / (on + off)
    return rate


def _histogram(times: Integers, span_ns: int) -> list[int]:
    bins = times * BINS // (span_ns + 1)
    return [int(count) for count in np.bincount(bins, minlength=BINS)[:BINS]]


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")
