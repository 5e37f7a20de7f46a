"""A ratio of two samples with a bootstrap interval, and the mean of several ratios."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats

__all__ = [
    "FEWEST",
    "TOO_FEW",
    "Method",
    "Ratio",
    "Values",
    "estimate",
    "geometric_mean",
    "statistic",
]

FEWEST: Final = 5
"""Fewer runs of a variant give no verdict: intervals of so few are too narrow."""
TOO_FEW: Final = "too few runs"
_OPEN: Final = "no difference shown"

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Method:
    """How runs are compared.

    Attributes:
        statistic: ``median`` or ``mean`` of the runs of a variant.
        interval: ``percentile`` or ``bca`` (bias-corrected and accelerated).
        confidence: The share of intervals that hold the true ratio.
        resamples: How often runs are drawn anew.
        seed: Where random numbers start.
        paired: Whether runs of one round belong together.
    """

    statistic: str = "median"
    interval: str = "percentile"
    confidence: float = 0.95
    resamples: int = 9999
    seed: int = 0
    paired: bool = False


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio with its interval.

    Attributes:
        value: The ratio.
        low: The lower end of the interval; None of a single run.
        high: The upper end, likewise.
        verdict: What that shows.
        interval: How the interval was found.
    """

    value: float
    low: float | None
    high: float | None
    verdict: str
    interval: str | None


def estimate(
    above: Sequence[float],
    below: Sequence[float],
    method: Method,
    words: tuple[str, str],
    stream: int = 0,
) -> tuple[Ratio, Values]:
    """Estimate the ratio of two samples.

    Args:
        above: positive values, of shape (n,).
        below: positive values, of shape (m,); m is n if pairs belong together.
        method: how.
        words: what a ratio above 1 and below 1 is called.
        stream: which of several independent streams of random numbers to use.

    Returns:
        The ratio, and the ratios of all resamples, of shape (resamples,).
    """
    of = statistic(method.statistic)
    x, y = np.asarray(above, float), np.asarray(below, float)
    value = float(of(x) / of(y))
    if min(len(x), len(y)) < 2:
        drawn = np.full(method.resamples, value)
        return Ratio(value, None, None, TOO_FEW, None), drawn
    if np.ptp(x) == 0 and np.ptp(y) == 0:
        low = high = value
        drawn, interval = np.full(method.resamples, value), "all runs alike"
    else:
        low, high, drawn, interval = _resampled(x, y, of, method, stream)
    few = min(len(x), len(y)) < FEWEST
    verdict = TOO_FEW if few else _verdict(low, high, words)
    return Ratio(value, low, high, verdict, interval), drawn


def _resampled(
    x: Values, y: Values, of: Callable[..., Any], method: Method, stream: int
) -> tuple[float, float, Values, str]:
    """Bootstrap a ratio, by percentiles where the wanted interval does not exist."""

    def ratio(a: Values, b: Values, axis: int = -1) -> Any:
        return of(a, axis=axis) / of(b, axis=axis)

    def bootstrapped(interval: str) -> Any:
        return stats.bootstrap(
            (x, y),
            ratio,
            n_resamples=method.resamples,
            paired=method.paired,
            vectorized=True,
            confidence_level=_level(method, len(x), len(y)),
            method="BCa" if interval == "bca" else "percentile",
            rng=np.random.default_rng([method.seed, stream]),
        )

    interval = method.interval
    with warnings.catch_warnings():
        # Where the correction is undefined scipy warns and gives NaN, which is seen.
        warnings.simplefilter("ignore")
        done = bootstrapped(interval)
        if not np.isfinite([done.confidence_interval]).all():
            interval = "percentile"
            done = bootstrapped(interval)
    ends = done.confidence_interval
    return float(ends.low), float(ends.high), done.bootstrap_distribution, interval


def _level(method: Method, n: int, m: int) -> float:
    """Widen the level of a bootstrap of means, which is too narrow for few runs.

    Resamples scatter less than samples by (n - 1) / n, and their tails are normal, not
    Student's: T. Hesterberg, "What Teachers Should Know About the Bootstrap", The
    American Statistician 69 (2015), expanded percentiles. Medians do without.
    """
    if method.statistic != "mean":
        return method.confidence
    fewest = min(n, m)
    freedom = fewest - 1 if method.paired else n + m - 2
    tail = (1 - method.confidence) / 2
    far = math.sqrt(fewest / (fewest - 1)) * stats.t.isf(tail, freedom)
    return float(1 - 2 * stats.norm.sf(far))


def statistic(name: str) -> Callable[..., Any]:
    """Return the function of a statistic, ``median`` or ``mean``."""
    of: Callable[..., Any] = np.median if name == "median" else np.mean
    return of


def _verdict(low: float, high: float, words: tuple[str, str]) -> str:
    if low > 1:
        return words[0]
    return words[1] if high < 1 else _OPEN


def geometric_mean(
    ratios: Sequence[Ratio],
    drawn: Sequence[Values],
    method: Method,
    words: tuple[str, str],
    fewest: int,
) -> Ratio:
    """Take the geometric mean of independent ratios.

    Args:
        ratios: a ratio of each workload.
        drawn: the ratios of all resamples of each.
        method: how they were found.
        words: what a mean above 1 and below 1 is called.
        fewest: runs of the side that has the fewest.
    """
    if len(ratios) == 1:
        return ratios[0]
    enough = all(one.verdict != TOO_FEW for one in ratios)
    value = float(stats.gmean([one.value for one in ratios]))
    if any(one.low is None for one in ratios):
        return Ratio(value, None, None, TOO_FEW, None)
    every = np.exp(np.mean(np.log(np.stack(drawn)), axis=0))
    tail = (1 - _level(method, fewest, fewest)) / 2
    low, high = (float(end) for end in np.quantile(every, [tail, 1 - tail]))
    verdict = _verdict(low, high, words) if enough else TOO_FEW
    return Ratio(value, low, high, verdict, "percentile")
