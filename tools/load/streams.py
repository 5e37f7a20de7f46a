"""Independent streams of random bits, one for every purpose of a plan.

They are children of one `SeedSequence`, so that another schedule leaves the draws as
they are. Only the raw 64-bit outputs of PCG64 are used, which NumPy keeps the same in
every version and on every platform (NEP 19); its `Generator` methods may change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Integers", "Stream", "Streams", "open_streams"]

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]


class Stream:
    """Random values that depend on the seed, the purpose and their order alone."""

    def __init__(self, sequence: np.random.SeedSequence) -> None:
        """Start a stream at its beginning."""
        self._bits = np.random.PCG64(sequence)

    def raw(self, count: int) -> NDArray[np.uint64]:
        """So many words of 64 random bits."""
        return np.asarray(self._bits.random_raw(count), dtype=np.uint64)

    def uniforms(self, count: int) -> Floats:
        """So many values between 0 and 1, neither of which occurs; 52 bits each."""
        high = (self.raw(count) >> np.uint64(12)).astype(np.float64)
        values: Floats = (high + 0.5) * 2.0**-52
        return values

    def below(self, bound: int) -> int:
        """A whole number from 0 to `bound` - 1; takes one word.

        A number's chance differs from 1/`bound` by less than 2**-63.
        """
        return (int(self._bits.random_raw()) * bound) >> 64

    def permutation(self, count: int) -> list[int]:
        """The numbers from 0 to `count` - 1 in random order (Fisher and Yates)."""
        order = list(range(count))
        for last in range(count - 1, 0, -1):
            other = self.below(last + 1)
            order[last], order[other] = order[other], order[last]
        return order


@dataclass(frozen=True, slots=True)
class Streams:
    """The streams of a plan.

    Attributes:
        ranks: shuffles which item has which rank.
        weights: draws weights, where they are drawn.
        draws: chooses the item of every request.
        cover: chooses the requests that are given to items that nobody asked for.
        schedule: the gaps between arrivals.

    """

    ranks: Stream
    weights: Stream
    draws: Stream
    cover: Stream
    schedule: Stream


def open_streams(seed: int) -> Streams:
    """The streams of a seed, each at its beginning."""
    children = np.random.SeedSequence(seed).spawn(5)
    return Streams(*(Stream(child) for child in children))
