"""Workloads of PyTorch: products and convolutions, on a GPU if there is one."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Final

from tools.workloads.requirements import required
from tools.workloads.work import Unit, Work

__all__ = ["Convolution", "TorchProduct"]

KERNEL: Final = 3
"""Height and width of the kernels."""


class _TorchWork(Work):
    """What both share: the device, its random numbers, and waiting until it is done."""

    unit: Unit = "flops"

    def choose(self) -> None:
        """Choose the device, and make its random numbers start anew."""
        self.torch: Any = required("torch")
        self.torch.set_num_threads(self.conditions.threads)
        self.on_gpu = bool(self.torch.cuda.is_available())
        self.device = self.torch.device("cuda" if self.on_gpu else "cpu")

    def drawn(self, *shape: int) -> Any:
        """Return random numbers, made on the host so that devices get the same."""
        return self.torch.randn(*shape, generator=self.random).to(self.device)

    def prepare(self) -> None:
        """Draw the operands; copying them to a GPU belongs to it."""
        self.choose()
        self.random = self.torch.Generator().manual_seed(self.conditions.seed)
        self.operands = self.draw()
        self.holds["data"] = sum(
            one.element_size() * one.nelement() for one in self.operands
        )

    @abstractmethod
    def draw(self) -> tuple[Any, ...]:
        """Return the operands."""

    def initialise(self) -> None:
        """Have the libraries of the device load: the first call does."""
        torch: Any = required("torch")
        kind = "cuda" if torch.cuda.is_available() else "cpu"
        small = torch.ones(8, 8, device=torch.device(kind))
        torch.mm(small, small)
        if kind == "cuda":
            torch.cuda.synchronize()

    def finished(self, work: float) -> float:
        """Wait for a GPU, whose calls return before they are done."""
        if self.on_gpu:
            self.torch.cuda.synchronize()
        return work


class TorchProduct(_TorchWork):
    """A product of two square matrices."""

    def draw(self) -> tuple[Any, ...]:
        """Return both matrices."""
        size = self.integer("size")
        return self.drawn(size, size), self.drawn(size, size)

    def iterate(self) -> float:
        """Multiply."""
        with self.torch.no_grad():
            self.result = self.torch.mm(*self.operands)
        return self.finished(2.0 * self.integer("size") ** 3)


class Convolution(_TorchWork):
    """A convolution of images with 3 x 3 kernels; channels stay as many."""

    def draw(self) -> tuple[Any, ...]:
        """Return images and kernels."""
        side, channels = self.integer("side"), self.integer("channels")
        images = self.drawn(self.integer("batch"), channels, side, side)
        return images, self.drawn(channels, channels, KERNEL, KERNEL)

    def iterate(self) -> float:
        """Convolve."""
        with self.torch.no_grad():
            self.result = self.torch.nn.functional.conv2d(*self.operands, padding=1)
        sums = self.integer("channels") ** 2 * KERNEL**2 * self.integer("side") ** 2
        return self.finished(2.0 * self.integer("batch") * sums)
