"""ResNet-50 (He et al. 2015, arXiv 1512.03385, table 1): 25,557,032 parameters.

The stride of a block stands at its 3 x 3 convolution, as in torchvision, whose number
of parameters this is.
"""

from __future__ import annotations

from typing import Final

from tools.workloads.networks.layers import Network, Scale, Tensor

__all__ = ["resnet50"]

STAGES: Final = ((64, 3), (128, 4), (256, 6), (512, 3))
"""Channels inside the blocks of a stage, and how many blocks it has."""
WIDER: Final = 4
"""A block gives so many times the channels that it has inside."""


def resnet50(shape: tuple[int, ...], scale: Scale) -> Network:
    """Build ResNet-50."""
    net = Network("resnet50", shape, scale)
    x = net.convolution(net.input, 64, kernel=7, stride=2, pad=3, normalised=True)
    x = net.pool(x, "max", kernel=3, stride=2, pad=1)
    for number, (channels, blocks) in enumerate(STAGES):
        for block in range(blocks):
            stride = 2 if number and not block else 1
            x = _block(net, x, channels, stride, project=not block)
    x = net.flatten(net.last_pool(x, 7))
    return net.finish(net.dense(x, scale.classes, scaled=False))


def _block(
    net: Network, x: Tensor, channels: int, stride: int, *, project: bool
) -> Tensor:
    y = net.convolution(x, channels, kernel=1, normalised=True)
    y = net.convolution(y, channels, kernel=3, stride=stride, pad=1, normalised=True)
    y = net.convolution(y, channels * WIDER, kernel=1, normalised=True, relu=False)
    if project:
        x = net.convolution(
            x, channels * WIDER, kernel=1, stride=stride, normalised=True, relu=False
        )
    return net.relu(net.sum(y, x))
