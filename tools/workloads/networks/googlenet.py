"""GoogLeNet: nine inception modules (Szegedy et al. 2014, arXiv 1409.4842, table 1).

As BVLC's Caffe has it for inference: biases, 5 x 5 convolutions, no auxiliary outputs,
6,998,552 parameters; torchvision's has batch normalisation and 3 x 3 in place of 5 x 5,
6,624,904.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from tools.workloads.networks.layers import Network, Scale, Tensor

__all__ = ["googlenet"]


class Module(NamedTuple):
    """Channels of an inception module, by the columns of the paper's table."""

    one: int
    three_reduced: int
    three: int
    five_reduced: int
    five: int
    pool: int


STAGES: Final = (
    (Module(64, 96, 128, 16, 32, 32), Module(128, 128, 192, 32, 96, 64)),
    (
        Module(192, 96, 208, 16, 48, 64),
        Module(160, 112, 224, 24, 64, 64),
        Module(128, 128, 256, 24, 64, 64),
        Module(112, 144, 288, 32, 64, 64),
        Module(256, 160, 320, 32, 128, 128),
    ),
    (Module(256, 160, 320, 32, 128, 128), Module(384, 192, 384, 48, 128, 128)),
)
"""The modules 3a to 5b; a pooling stands between stages."""


def googlenet(shape: tuple[int, ...], scale: Scale) -> Network:
    """Build GoogLeNet."""
    net = Network("googlenet", shape, scale)
    x = net.convolution(net.input, 64, kernel=7, stride=2, pad=3)
    x = net.pool(x, "max", kernel=3, stride=2, whole=True)
    x = net.convolution(net.response_normalisation(x), 64, kernel=1)
    x = net.response_normalisation(net.convolution(x, 192, kernel=3, pad=1))
    for stage in STAGES:
        x = net.pool(x, "max", kernel=3, stride=2, whole=True)
        for module in stage:
            x = _inception(net, x, module)
    x = net.flatten(net.last_pool(x, 7))
    return net.finish(net.dense(x, scale.classes, scaled=False))


def _inception(net: Network, x: Tensor, module: Module) -> Tensor:
    one = net.convolution(x, module.one, kernel=1)
    three = net.convolution(x, module.three_reduced, kernel=1)
    three = net.convolution(three, module.three, kernel=3, pad=1)
    five = net.convolution(x, module.five_reduced, kernel=1)
    five = net.convolution(five, module.five, kernel=5, pad=2)
    pool = net.pool(x, "max", kernel=3, pad=1)
    pool = net.convolution(pool, module.pool, kernel=1)
    return net.concatenation((one, three, five, pool))
