"""Watts from energy counters, one series a zone, aware of wraps, resets and gaps."""

from __future__ import annotations

from typing import Final

import numpy as np

from registry.documents.spec import RAPL_RANGE_JOULES
from registry.modelling.table import Floats

# A counter that starts again at its range shows a step like all others; one that was
# reset (driver reloaded, machine restarted) shows whatever it pleases.
_PLAUSIBLE: Final = 4.0
_PLAUSIBLE_WATTS: Final = 2_000.0


def counter_rate(readings: Floats, seconds: Floats) -> Floats:
    """Give the mean rate of a counter over each interval.

    Args:
        readings: Counter values, shape (n,); NaN where missing.
        seconds: Monotonic time of each reading in s, shape (n,), strictly rising.

    Returns:
        Units per second over the interval that ends at each reading, with the
        interval's own length, shape (n,). NaN for the first reading, beside missing
        ones, and where the counter fell (it was reset: what it counted is unknown).
    """
    steps = np.diff(readings)
    steps[steps < 0] = np.nan
    return _after_first(steps / np.diff(seconds))


def zone_watts(
    joules: Floats, seconds: Floats, modulus: float = RAPL_RANGE_JOULES
) -> Floats:
    """Give the mean power of one zone over each interval.

    Args:
        joules: Energy counter of the zone in J, shape (n,); NaN where missing.
        seconds: Monotonic time of each reading in s, shape (n,), strictly rising.
        modulus: Energy in J at which this zone's counter starts again at 0.

    Returns:
        Watts over the interval that ends at each reading, shape (n,). NaN for the
        first reading, beside missing ones, after a reset (a fall that a wrap cannot
        explain), and where an interval is so long that the counter may have gone
        round unseen.
    """
    length = np.diff(seconds)
    steps = np.diff(joules)
    fell = steps < 0
    usual = steps[~fell & ~np.isnan(steps)] / length[~fell & ~np.isnan(steps)]
    limit = _PLAUSIBLE_WATTS
    if len(usual) > 1:
        limit = max(_PLAUSIBLE * float(np.quantile(usual, 0.99)), 1.0)
    wrapped = steps + modulus
    explained = fell & (joules[:-1] <= modulus) & (wrapped / length <= limit)
    steps = np.where(explained, wrapped, np.where(fell, np.nan, steps))
    if len(usual):
        # More than half the range in one interval: a whole turn could hide in it.
        steps[length * float(np.median(usual)) > modulus / 2] = np.nan
    return _after_first(steps / length)


def _after_first(rates: Floats) -> Floats:
    return np.concatenate([[np.nan], rates]) if len(rates) else np.full(1, np.nan)
