"""Values of features put into ranges, and sums over the rows of each range.

Trees only ask on which side of the end of a range a value lies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from registry.modelling.table import Codes, Floats

Singles = NDArray[np.float32]

RANGES: Final = 256
"""Most ranges of one feature, as in XGBoost; more values are put together by weight."""


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """Values by ranges.

    Attributes:
        codes: Number of the range of each value, shape (features, n).
        cuts: Where the ranges of each feature end, shape (features, width), infinite
            where a feature has fewer.
        weight: Weight of each row, shape (n,).
        mass: Weight of all rows up to the end of each range, shape
            (1, features, width).
    """

    codes: Codes
    cuts: Singles
    weight: Floats
    mass: Floats


def binned(values: Singles, weight: Floats) -> Bins:
    """Put each feature's values into ranges: one for each, or at most `RANGES`.

    Args:
        values: Shape (n, features), none missing.
        weight: Weight of each row, shape (n,).
    """
    codes = np.zeros(values.T.shape, np.int64)
    cuts: list[Singles] = []
    for at, column in enumerate(values.T):
        seen, code = np.unique(column, return_inverse=True)
        middle = ((seen[:-1].astype(np.float64) + seen[1:]) / 2).astype(np.float32)
        ends = np.where(middle > seen[:-1], middle, seen[1:])
        if len(seen) > RANGES:
            ends = seen[_even(np.bincount(code, weight).cumsum())]
            code = np.searchsorted(ends, column, side="right")
        codes[at] = code
        cuts.append(ends)
    width = max((len(ends) + 1 for ends in cuts), default=1)
    table = np.full((len(cuts), width), np.inf, np.float32)
    for at, ends in enumerate(cuts):
        table[at, : len(ends)] = ends
    mass = sums_of(codes, width, np.zeros(len(weight), np.int64), weight, 1)
    return Bins(codes, table, weight, mass)


def _even(below: Floats) -> Codes:
    """Choose values at even steps of weight, where XGBoost's own quantiles lie.

    Args:
        below: Weight of all rows up to each of the different values.

    Returns:
        Numbers of fewer than `RANGES` values, neither the first nor the last.
    """
    reach = below[-2] - below[0]
    rank = below[0] + reach * np.arange(1, RANGES) / RANGES
    picked = np.searchsorted(below, rank, side="right")
    return np.unique(picked)


def sums_of(codes: Codes, width: int, slot: Codes, what: Floats, nodes: int) -> Floats:
    """Sum over the rows of each node up to the end of each range.

    Args:
        codes: Range of each value, shape (features, rows).
        width: Ranges of the feature that has most.
        slot: Node of each row; rows of no node have the number ``nodes``.
        what: What is summed, shape (rows,).
        nodes: Number of nodes.

    Returns:
        Shape (nodes, features, width).
    """
    total = np.empty((nodes, len(codes), width))
    place = slot * width
    for at, code in enumerate(codes):
        sums = np.bincount(place + code, what, (nodes + 1) * width)
        total[:, at] = sums[: nodes * width].reshape(nodes, width)
    return total.cumsum(axis=2)
