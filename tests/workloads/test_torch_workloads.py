# ruff: noqa: ARG002, D107  the stand-in has arguments that ours leave out
"""PyTorch's workloads against a stand-in with its signatures, which checks each call.

Signatures are those of PyTorch 2 (torch.randn, torch.mm, torch.Generator, Tensor.to,
torch.nn.functional.conv2d, torch.cuda.*); numbers are numpy's.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from registry.documents.findings import RegistryError
from tools.workloads.catalogue import read_workload
from tools.workloads.measuring import Course, measure
from tools.workloads.work import Conditions


class Device:
    def __init__(self, kind: str) -> None:
        self.type = kind


class Tensor:
    def __init__(self, numbers: Any, device: Device) -> None:
        self.numbers = np.asarray(numbers, "f4")
        self.device = device

    def to(self, device: Device) -> Tensor:
        return Tensor(self.numbers, device)

    def nelement(self) -> int:
        return self.numbers.size

    def element_size(self) -> int:
        return self.numbers.itemsize


class Generator:
    def __init__(self, device: str = "cpu") -> None:
        self.device = Device(device)

    def manual_seed(self, seed: int) -> Generator:
        self.random = np.random.default_rng(seed)
        return self


class Torch(ModuleType):
    """What of PyTorch is called."""

    device = Device
    Generator = Generator

    def __init__(self, *, gpu: bool) -> None:
        super().__init__("torch")
        self.calls: list[str] = []
        self.gpu = gpu
        self.cuda = self
        self.nn = self
        self.functional = self

    def set_num_threads(self, number: int, /) -> None:
        self.calls.append(f"threads {number}")

    def is_available(self) -> bool:
        return self.gpu

    def synchronize(self, device: Any = None) -> None:
        assert self.gpu, "torch.cuda.synchronize fails without a GPU"
        self.calls.append("synchronize")

    def randn(self, *size: int, generator: Generator, device: Any = None) -> Tensor:
        assert generator.device.type == "cpu"
        return Tensor(generator.random.standard_normal(size), Device("cpu"))

    def ones(self, *size: int, device: Device) -> Tensor:
        return Tensor(np.ones(size), device)

    def mm(self, input: Tensor, mat2: Tensor, *, out: Any = None) -> Tensor:  # noqa: A002
        assert input.device.type == mat2.device.type == self.expected
        self.calls.append("mm")
        return Tensor(input.numbers @ mat2.numbers, input.device)

    def conv2d(
        self,
        input: Tensor,  # noqa: A002
        weight: Tensor,
        bias: Any = None,
        stride: int = 1,
        padding: int = 0,
    ) -> Tensor:
        assert input.device.type == weight.device.type == self.expected
        assert input.numbers.shape[1] == weight.numbers.shape[1]
        assert (bias, stride) == (None, 1)
        side = input.numbers.shape[2] + 2 * padding - weight.numbers.shape[2] + 1
        self.calls.append("conv2d")
        made = (input.numbers.shape[0], weight.numbers.shape[0], side, side)
        return Tensor(np.zeros(made), input.device)

    @contextmanager
    def no_grad(self) -> Any:
        yield

    @property
    def expected(self) -> str:
        return "cuda" if self.gpu else "cpu"


@pytest.fixture(params=[False, True], ids=["processor", "gpu"])
def torch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Torch:
    made = Torch(gpu=request.param)
    monkeypatch.setitem(sys.modules, "torch", made)
    return made


@pytest.mark.parametrize("init", ["lazy", "eager", "async"])
def test_a_product_on_whatever_there_is(torch: Torch, init: Any) -> None:
    course = Course(iterations=2, init=init, conditions=Conditions(threads=3))
    done = measure(read_workload("torch:matmul:16"), course)
    assert (done.amount, done.unit) == (2 * 2 * 16**3, "flops")
    assert "threads 3" in torch.calls
    repeated = ["mm", "synchronize"] if torch.gpu else ["mm"]
    assert torch.calls[-2 * len(repeated) :] == 2 * repeated
    assert torch.calls.count("mm") == 3  # one to have libraries load
    assert [(one.name, one.bytes) for one in done.holds] == [("data", 2 * 4 * 16**2)]


def test_products_are_right_and_the_same_for_equal_seeds(torch: Torch) -> None:
    results = []
    for seed in (1, 1, 2):
        chosen = read_workload("torch:matmul:8")
        work: Any = chosen.builtin.load()(chosen.values, Conditions(seed=seed))
        work.prepare()
        work.initialise()
        work.iterate()
        a, b = (one.numbers for one in work.operands)
        assert work.result.numbers == pytest.approx(a @ b)
        results.append(work.result.numbers)
    assert (results[0] == results[1]).all()
    assert not (results[0] == results[2]).all()


def test_a_convolution(torch: Torch) -> None:
    chosen = read_workload("torch:conv:side=7:channels=4:batch=2")
    work: Any = chosen.builtin.load()(chosen.values, Conditions())
    work.prepare()
    work.initialise()
    assert work.iterate() == 2 * 2 * 4 * 4 * 9 * 7 * 7
    assert work.result.numbers.shape == (2, 4, 7, 7)
    assert torch.calls.count("conv2d") == 1


def test_without_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(RegistryError) as error:
        measure(read_workload("torch:matmul"), Course())
    (found,) = error.value.findings
    assert (found.code, found.path) == ("W001", "torch")
    assert "pip install torch" in found.fix
