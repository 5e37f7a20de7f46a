"""A network as a list of layers and weights: shapes only, nothing is allocated.

    net = Network("small", (3, 32, 32), Scale())
    x = net.convolution(net.input, 8, kernel=3, pad=1)
    net.finish(net.dense(net.flatten(x), 10, scaled=False))
    print(net.parameters)

Layers are those of ONNX, so that a network becomes a graph without translation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, prod
from typing import Any, Final, Literal

from registry.documents.findings import RegistryError, Severity, code, finding

__all__ = ["Fill", "Layer", "Network", "Scale", "Tensor", "Weight"]

Fill = Literal["random", "zeros", "ones"]
Pair = int | tuple[int, int]

EVEN: Final = 2
"""Channels come in twos, so that both towers of AlexNet get as many."""

W020 = code(
    "W020",
    Severity.ERROR,
    "An input is too small for a network.",
    "Choose a larger one; `powerkit workload scale --list` has each network's own.",
)


@dataclass(frozen=True, slots=True)
class Tensor:
    """What flows from layer to layer.

    Attributes:
        name: its name in the graph.
        shape: its extents without the batch: channels, height, width, or features.
    """

    name: str
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Weight:
    """An array of weights.

    Attributes:
        name: its name in the graph.
        shape: its extents.
        fill: what it holds: random numbers, zeros or ones.
        fan_in: how many inputs each output sums up, which sets the spread.
        trained: whether it counts as a parameter; running statistics do not.
    """

    name: str
    shape: tuple[int, ...]
    fill: Fill = "zeros"
    fan_in: int = 1
    trained: bool = True

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return prod(self.shape)


@dataclass(frozen=True, slots=True)
class Layer:
    """One operation of ONNX.

    Attributes:
        operator: its name, such as ``Conv``.
        inputs: names of tensors and weights.
        output: the name of what it makes.
        attributes: as ONNX names them.
    """

    operator: str
    inputs: tuple[str, ...]
    output: str
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scale:
    """How a network differs from the published one.

    Attributes:
        width: what numbers of channels are multiplied by.
        classes: how many outputs it has.
    """

    width: float = 1.0
    classes: int = 1000

    def channels(self, published: int) -> int:
        """Scale a number of channels; it stays even, and at least 2."""
        if self.width == 1:
            return published
        return max(EVEN, EVEN * round(published * self.width / EVEN))


class Network:
    """A network being put together.

    Attributes:
        name: what it is called.
        input: the tensor that it takes.
        output: the tensor that it gives.
        layers: its layers, in an order in which they can run.
        weights: its weights, in the order of its layers.
        scale: how it differs from the published one.
    """

    def __init__(self, name: str, shape: tuple[int, ...], scale: Scale) -> None:
        """Begin a network that takes tensors of some shape."""
        self.name = name
        self.scale = scale
        self.input = Tensor("data", shape)
        self.output = self.input
        self.layers: list[Layer] = []
        self.weights: list[Weight] = []

    @property
    def parameters(self) -> int:
        """How many numbers training would find, as papers count them."""
        return sum(weight.size for weight in self.weights if weight.trained)

    @property
    def weight_bytes(self) -> int:
        """Size of all weights as 32-bit numbers."""
        return sum(weight.size for weight in self.weights) * 4

    def convolution(
        self,
        x: Tensor,
        channels: int,
        *,
        kernel: Pair,
        stride: int = 1,
        pad: Pair = 0,
        groups: int = 1,
        normalised: bool = False,
        relu: bool = True,
    ) -> Tensor:
        """Add a convolution, with a bias or a batch normalisation, and a ReLU.

        Args:
            x: what it takes.
            channels: how many it makes in the published network.
            kernel: height and width.
            stride: of both directions.
            pad: zeros on both sides: of height and of width.
            groups: into how many towers channels are parted.
            normalised: whether a batch normalisation stands in place of the bias.
            relu: whether negative values become zero.
        """
        (high, wide), (above, left) = _pair(kernel), _pair(pad)
        made = self.scale.channels(channels)
        inputs = x.shape[0] // groups
        name = self._name("conv")
        weight = Weight(
            f"{name}.weight",
            (made, inputs, high, wide),
            "random",
            inputs * high * wide,
        )
        names = [x.name, self._weight(weight)]
        if not normalised:
            names.append(self._weight(Weight(f"{name}.bias", (made,))))
        shape = (
            made,
            self._extent(x.shape[1], high, stride, above),
            self._extent(x.shape[2], wide, stride, left),
        )
        about = {
            "kernel_shape": [high, wide],
            "strides": [stride, stride],
            "pads": [above, left, above, left],
            "group": groups,
        }
        y = self._layer("Conv", names, name, shape, about)
        y = self._normalisation(y) if normalised else y
        return self.relu(y) if relu else y

    def _normalisation(self, x: Tensor) -> Tensor:
        """Add a batch normalisation that changes nothing yet, as before training."""
        name, shape = self._name("bn"), (x.shape[0],)
        kinds: tuple[tuple[str, Fill, bool], ...] = (
            ("scale", "ones", True),
            ("bias", "zeros", True),
            ("mean", "zeros", False),
            ("var", "ones", False),
        )
        names = [
            self._weight(Weight(f"{name}.{part}", shape, fill, trained=trained))
            for part, fill, trained in kinds
        ]
        about = {"epsilon": 0.001}
        return self._layer("BatchNormalization", [x.name, *names], name, x.shape, about)

    def relu(self, x: Tensor) -> Tensor:
        """Set negative values to zero."""
        return self._layer("Relu", [x.name], self._name("relu"), x.shape)

    def response_normalisation(self, x: Tensor) -> Tensor:
        """Add AlexNet's and GoogLeNet's normalisation over five channels."""
        about = {"size": 5, "alpha": 0.0001, "beta": 0.75, "bias": 1.0}
        return self._layer("LRN", [x.name], self._name("lrn"), x.shape, about)

    def pool(
        self,
        x: Tensor,
        kind: Literal["max", "average"],
        *,
        kernel: int,
        stride: int = 1,
        pad: int = 0,
        whole: bool = False,
    ) -> Tensor:
        """Add a pooling.

        Args:
            x: what it takes.
            kind: what is kept of a window.
            kernel: height and width of a window.
            stride: between windows.
            pad: on all sides; averages leave it out.
            whole: whether a window may reach beyond the end, as Caffe's do.
        """
        shape = (
            x.shape[0],
            *(
                self._extent(extent, kernel, stride, pad, whole=whole)
                for extent in x.shape[1:]
            ),
        )
        about = {
            "kernel_shape": [kernel, kernel],
            "strides": [stride, stride],
            "pads": [pad] * 4,
            "ceil_mode": int(whole),
        }
        operator = "MaxPool" if kind == "max" else "AveragePool"
        return self._layer(operator, [x.name], self._name("pool"), shape, about)

    def last_pool(self, x: Tensor, kernel: int) -> Tensor:
        """Average windows of the size that a published input leaves: it gives 1 x 1.

        A larger input leaves more, which makes the dense layer behind it grow, as
        in the large models of TRIMS. Of a smaller input one window takes all.
        """
        windows = [min(kernel, extent) for extent in x.shape[1:]]
        left = [n - w + 1 for n, w in zip(x.shape[1:], windows, strict=True)]
        shape = (x.shape[0], *left)
        about = {"kernel_shape": windows, "strides": [1, 1]}
        return self._layer("AveragePool", [x.name], self._name("pool"), shape, about)

    def concatenation(self, parts: Sequence[Tensor]) -> Tensor:
        """Put the channels of several tensors behind each other."""
        shape = (sum(part.shape[0] for part in parts), *parts[0].shape[1:])
        names = [part.name for part in parts]
        return self._layer("Concat", names, self._name("concat"), shape, {"axis": 1})

    def sum(self, a: Tensor, b: Tensor) -> Tensor:
        """Add two tensors of one shape."""
        return self._layer("Add", [a.name, b.name], self._name("add"), a.shape)

    def flatten(self, x: Tensor) -> Tensor:
        """Make one row of everything."""
        shape = (prod(x.shape),)
        return self._layer("Flatten", [x.name], self._name("flat"), shape, {"axis": 1})

    def dense(
        self, x: Tensor, features: int, *, scaled: bool = True, relu: bool = False
    ) -> Tensor:
        """Add a dense layer with a bias; its size follows from what it takes."""
        made = self.scale.channels(features) if scaled else features
        name = self._name("dense")
        shape = (made, x.shape[0])
        names = [
            x.name,
            self._weight(Weight(f"{name}.weight", shape, "random", x.shape[0])),
            self._weight(Weight(f"{name}.bias", (made,))),
        ]
        y = self._layer("Gemm", names, name, (made,), {"transB": 1})
        return self.relu(y) if relu else y

    def finish(self, x: Tensor) -> Network:
        """Turn a row into probabilities, which the network gives."""
        self.output = self._layer("Softmax", [x.name], "prob", x.shape, {"axis": 1})
        return self

    def _layer(
        self,
        operator: str,
        inputs: Sequence[str],
        output: str,
        shape: tuple[int, ...],
        attributes: Mapping[str, Any] | None = None,
    ) -> Tensor:
        self.layers.append(Layer(operator, tuple(inputs), output, attributes or {}))
        return Tensor(output, shape)

    def _weight(self, weight: Weight) -> str:
        self.weights.append(weight)
        return weight.name

    def _name(self, kind: str) -> str:
        return f"{kind}_{len(self.layers) + 1}"

    def _extent(
        self, extent: int, kernel: int, stride: int, pad: int, *, whole: bool = False
    ) -> int:
        """How many windows fit.

        Raises:
            RegistryError: W020, none does.
        """
        room = extent + 2 * pad - kernel
        if room < 0:
            size = "x".join(map(str, reversed(self.input.shape[1:])))
            what = f"a window of {kernel} does not fit into the {extent} left of {size}"
            raise RegistryError(finding(W020, self.name, what))
        return (ceil(room / stride) if whole else room // stride) + 1


def _pair(value: Pair) -> tuple[int, int]:
    return value if isinstance(value, tuple) else (value, value)
