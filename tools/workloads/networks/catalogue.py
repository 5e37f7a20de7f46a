"""Which networks there are, the inputs that they were published with, and sizes to try.

Sizes of TRIMS are those of its large_models/*.py: multiples of an input, and screens.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from registry.documents.findings import RegistryError, Severity, code, finding, shown
from tools.workloads.networks.convolutional import (
    alexnet,
    alexnet_one_tower,
    mlp,
    vgg16,
)
from tools.workloads.networks.googlenet import googlenet
from tools.workloads.networks.inception_v4 import inception_v4
from tools.workloads.networks.layers import Network, Scale
from tools.workloads.networks.resnet import resnet50

__all__ = [
    "ARCHITECTURES",
    "SCREENS",
    "Architecture",
    "architecture",
    "read_input",
    "trims_inputs",
]

COLOURS: Final = 3
LARGEST: Final = 65_536
"""The longest side of an input, and the most features of a row."""
SCREENS: Final = (
    (640, 480),
    (800, 600),
    (960, 720),
    (1024, 768),
    (1280, 768),
    (1920, 1080),
    (2560, 1440),
)
"""Width and height of screens, as TRIMS's large AlexNets have them."""

_MULTIPLE: Final = re.compile(r"(?:([0-9]{1,6})[x*]|x)([1-9])")
_SIZE: Final = re.compile(r"([0-9]{1,6})(?:x([0-9]{1,6}))?")

W021 = code(
    "W021",
    Severity.ERROR,
    "There is no network of a name.",
    "Choose one that `powerkit workload scale --list` names.",
)
W022 = code(
    "W022",
    Severity.ERROR,
    "An input's size cannot be read.",
    "Write 640x480 (width and height), 454 for a square, 227x2 or x2 for a multiple.",
)


@dataclass(frozen=True, slots=True)
class Architecture:
    """A published network.

    Attributes:
        name: what it is called here.
        build: puts it together for the shape of an input.
        side: the published input's side in pixels, or how many features a row has.
        parameters: how many it has then, with 1000 classes.
        source: where that number is from.
        multiples: up to which multiple of `trims_side` TRIMS goes; 0 if it lacks it.
        trims_side: TRIMS's own side.
        row: whether it takes a row of features rather than an image.
        screens: whether TRIMS has it for screens too.
    """

    name: str
    build: Callable[[tuple[int, ...], Scale], Network]
    side: int
    parameters: int
    source: str
    multiples: int = 0
    trims_side: int = 0
    row: bool = False
    screens: bool = False


_ENTRIES: Final = (
    Architecture(
        "alexnet", alexnet, 227, 60_965_224, "BVLC Caffe", 6, 227, screens=True
    ),
    Architecture(
        "alexnet-one-tower", alexnet_one_tower, 227, 62_378_344, "MXNet", 6, 227
    ),
    Architecture("vgg16", vgg16, 224, 138_357_544, "torchvision", 5, 224),
    Architecture("googlenet", googlenet, 224, 6_998_552, "BVLC Caffe", 5, 227),
    Architecture("inception-v4", inception_v4, 299, 42_679_816, "timm", 5, 224),
    Architecture("resnet50", resnet50, 224, 25_557_032, "torchvision"),
    Architecture("mlp", mlp, 1024, 25_076_712, "1024-4096-4096-1000", row=True),
)
ARCHITECTURES: Final = {one.name: one for one in _ENTRIES}
"""Every network by its name."""


def architecture(name: str) -> Architecture:
    """Find a network.

    Raises:
        RegistryError: W021.
    """
    if (found := ARCHITECTURES.get(name)) is None:
        what = f"there are {', '.join(ARCHITECTURES)}"
        raise RegistryError(finding(W021, shown(name), what))
    return found


def read_input(text: str, network: Architecture) -> tuple[int, ...]:
    """Read the size of an input, and return its shape without the batch.

    Args:
        text: ``640x480``, ``454``, ``227x2``, ``x2``, or "" for the published one.
        network: what multiples and single numbers refer to.

    Raises:
        RegistryError: W022.
    """
    if not text:
        return _shape(network, network.side, None)
    if match := _MULTIPLE.fullmatch(text):
        side = int(match[1] or network.side) * int(match[2])
        return _bounded(network, text, side, None)
    if match := _SIZE.fullmatch(text):
        high = None if match[2] is None else int(match[2])
        return _bounded(network, text, int(match[1]), high)
    raise RegistryError(finding(W022, network.name, f"'{shown(text)}' is no size"))


def trims_inputs(network: Architecture, *, screens: bool) -> list[str]:
    """Name the sizes that TRIMS makes a network for, or those of screens."""
    if screens:
        return [f"{wide}x{high}" for wide, high in SCREENS]
    return [f"{network.trims_side}x{k}" for k in range(1, network.multiples + 1)]


def _bounded(
    network: Architecture, text: str, wide: int, high: int | None
) -> tuple[int, ...]:
    sides = [wide] if high is None else [wide, high]
    if not all(1 <= side <= LARGEST for side in sides):
        what = f"{shown(text)}: a side is 1 to {LARGEST}"
        raise RegistryError(finding(W022, network.name, what))
    return _shape(network, wide, high)


def _shape(network: Architecture, wide: int, high: int | None) -> tuple[int, ...]:
    if network.row:
        return (wide,) if high is None else (COLOURS * wide * high,)
    return (COLOURS, wide if high is None else high, wide)
