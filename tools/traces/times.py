"""Microseconds of traces as whole nanoseconds, rounded once."""

from __future__ import annotations

from array import array
from typing import Final

import numpy as np

from tools.traces.columns import Numbers

__all__ = ["LONGEST_US", "TIME_US", "nanoseconds"]

TIME_US: Final = 4e15
"""Times beyond are none: 1970 and 126 years. Sums of nanoseconds stay below 2**63."""
LONGEST_US: Final = 1e15
"""Durations beyond are none: 31 years."""


def nanoseconds(
    values: array[float], limit: float = TIME_US
) -> tuple[Numbers, Numbers]:
    """Convert microseconds.

    The whole part is converted exactly, so that times since 1970 keep their nanoseconds
    as far as the double of the file has them.

    Args:
        values: microseconds; NaN where there is no number.
        limit: the largest magnitude.

    Returns:
        Nanoseconds, and which of them are good; 0 where they are not.
    """
    given = np.frombuffer(values, "d")
    good = np.abs(given) <= limit  # not so for NaN
    known = np.where(good, given, 0.0)
    whole = np.floor(known)
    return whole.astype("q") * 1000 + np.rint((known - whole) * 1000).astype("q"), good
