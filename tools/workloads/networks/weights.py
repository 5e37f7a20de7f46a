"""Random weights as bytes: the same on every machine, chunk by chunk.

Numbers are uniform with the spread of He et al. 2015 (arXiv 1502.01852), so that values
neither grow nor vanish from layer to layer. They are made of the raw bits of Philox,
which numpy never changes (NEP 19), by exact steps only.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import Final

import numpy as np

from tools.workloads.networks.layers import Weight

__all__ = ["weight_chunks"]

CHUNK: Final = 1 << 20
"""How many numbers are held at once; even, since bits come for two at a time."""
MANTISSA: Final = 24
"""Bits of a 32-bit float that can be random without rounding."""
KEY_BITS: Final = 64


def weight_chunks(weight: Weight, seed: int, number: int) -> Iterator[bytes]:
    """Return an array's bytes, little-endian 32-bit floats.

    Args:
        weight: the array.
        seed: where random numbers start, below 2**64.
        number: which array of its network it is; each has a stream of its own.
    """
    if weight.fill != "random":
        value = 1.0 if weight.fill == "ones" else 0.0
        for count in _counts(weight.size):
            yield np.full(count, value, "<f4").tobytes()
        return
    bits = np.random.Philox(key=seed | number << KEY_BITS)
    spread = np.float32(sqrt(6 / weight.fan_in))
    for count in _counts(weight.size):
        raw = np.asarray(bits.random_raw((count + 1) // 2), "<u8").view("<u4")[:count]
        values = (raw >> (32 - MANTISSA)).astype("<f4")
        values *= np.float32(2.0 ** (1 - MANTISSA))
        values -= np.float32(1)
        values *= spread
        yield values.tobytes()


def _counts(size: int) -> Iterator[int]:
    for start in range(0, size, CHUNK):
        yield min(CHUNK, size - start)
