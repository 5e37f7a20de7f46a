"""Workloads of numpy: products, transforms, sorting, random numbers, copies."""

from __future__ import annotations

import time
from math import log2
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tools.workloads.work import Unit, Work

__all__ = ["Copying", "Drawing", "Product", "Sleep", "Sorting", "Transform"]

Floats = NDArray[np.float64]

FFT_FLOPS: Final = 5
"""Of a transform of n numbers: 5 n log2(n), as FFTW's benchmarks count them."""
COPY_TRAFFIC: Final = 2
"""Bytes moved for each byte copied: read once, written once, as STREAM counts them."""


class Product(Work):
    """A product of two square matrices."""

    unit: Unit = "flops"

    def prepare(self) -> None:
        """Draw both matrices."""
        random, size = np.random.default_rng(self.conditions.seed), self.integer("size")
        dtype = np.float32 if self.values["type"] == "float32" else np.float64
        self.a, self.b = (random.random((size, size), dtype=dtype) for _ in range(2))
        self.holds["data"] = self.a.nbytes + self.b.nbytes

    def initialise(self) -> None:
        """Make room for the product, and have BLAS make its own."""
        size = self.integer("size")
        dtype = np.float32 if self.values["type"] == "float32" else np.float64
        self.c = np.zeros((size, size), dtype=dtype)
        np.matmul(self.c[:8, :8], self.c[:8, :8])
        self.holds["result"] = self.c.nbytes

    def iterate(self) -> float:
        """Multiply."""
        np.matmul(self.a, self.b, out=self.c)
        return 2.0 * self.integer("size") ** 3


class Transform(Work):
    """A Fourier transform of complex numbers."""

    unit: Unit = "flops"

    def prepare(self) -> None:
        """Draw the numbers."""
        random, size = np.random.default_rng(self.conditions.seed), self.integer("size")
        parts = random.standard_normal((2, size))
        self.x = parts[0] + 1j * parts[1]
        self.holds["data"] = self.x.nbytes

    def initialise(self) -> None:
        """Make room for the result."""
        self.y = np.zeros(self.integer("size"), dtype=np.complex128)
        self.holds["result"] = self.y.nbytes

    def iterate(self) -> float:
        """Transform."""
        np.fft.fft(self.x, out=self.y)
        size = self.integer("size")
        return FFT_FLOPS * size * log2(size)


class Sorting(Work):
    """Sorting of random numbers."""

    def prepare(self) -> None:
        """Draw the numbers."""
        random = np.random.default_rng(self.conditions.seed)
        self.x: Floats = random.random(self.integer("size"))
        self.holds["data"] = self.x.nbytes

    def initialise(self) -> None:
        """Make room for the sorted numbers."""
        self.y: Floats = np.zeros(self.integer("size"))
        self.holds["result"] = self.y.nbytes

    def iterate(self) -> float:
        """Copy and sort."""
        np.copyto(self.y, self.x)
        self.y.sort()
        return self.integer("size")


class Drawing(Work):
    """Random numbers of a normal distribution."""

    def prepare(self) -> None:
        """Choose the generator; the numbers are the work itself."""
        self.random = np.random.default_rng(self.conditions.seed)

    def initialise(self) -> None:
        """Make room for the numbers."""
        self.x: Floats = np.zeros(self.integer("size"))
        self.holds["result"] = self.x.nbytes

    def iterate(self) -> float:
        """Draw."""
        self.random.standard_normal(out=self.x)
        return self.integer("size")


class Copying(Work):
    """A copy from memory to memory."""

    unit: Unit = "bytes"

    def prepare(self) -> None:
        """Fill the source."""
        random = np.random.default_rng(self.conditions.seed)
        numbers = self.integer("mebibytes") << 17
        self.x: Floats = random.random(numbers)
        self.holds["data"] = self.x.nbytes

    def initialise(self) -> None:
        """Make room for the copy, and touch every page of it."""
        self.y: Floats = np.ones(self.integer("mebibytes") << 17)
        self.holds["result"] = self.y.nbytes

    def iterate(self) -> float:
        """Copy."""
        np.copyto(self.y, self.x)
        return COPY_TRAFFIC * self.x.nbytes


class Sleep(Work):
    """Nothing for a while: a dry trial of an experiment."""

    def prepare(self) -> None:
        """There is no data."""

    def initialise(self) -> None:
        """There is nothing to make ready."""

    def iterate(self) -> float:
        """Sleep."""
        time.sleep(float(self.values["seconds"]))
        return 1
