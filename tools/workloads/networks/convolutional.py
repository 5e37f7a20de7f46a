"""Networks of one path: AlexNet, VGG16, and perceptrons without convolutions.

AlexNet: Krizhevsky, Sutskever, Hinton 2012, as BVLC's Caffe has it: two towers,
60,965,224 parameters; MXNet and TRIMS (large_models/alexnet.py) have one tower,
62,378,344. VGG16: configuration D of Simonyan and Zisserman 2014, 138,357,544.
"""

from __future__ import annotations

from typing import Final

from tools.workloads.networks.layers import Network, Scale

__all__ = ["alexnet", "alexnet_one_tower", "mlp", "vgg16"]

VGG16: Final = ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3))
"""Channels of each block, and how many convolutions it has."""


def alexnet(shape: tuple[int, ...], scale: Scale) -> Network:
    """Build AlexNet in two towers, as it was published."""
    return _alexnet(Network("alexnet", shape, scale), 2)


def alexnet_one_tower(shape: tuple[int, ...], scale: Scale) -> Network:
    """Build AlexNet in one tower, as in TRIMS."""
    return _alexnet(Network("alexnet-one-tower", shape, scale), 1)


def _alexnet(net: Network, towers: int) -> Network:
    x = net.convolution(net.input, 96, kernel=11, stride=4)
    x = net.pool(net.response_normalisation(x), "max", kernel=3, stride=2, whole=True)
    x = net.convolution(x, 256, kernel=5, pad=2, groups=towers)
    x = net.pool(net.response_normalisation(x), "max", kernel=3, stride=2, whole=True)
    x = net.convolution(x, 384, kernel=3, pad=1)
    x = net.convolution(x, 384, kernel=3, pad=1, groups=towers)
    x = net.convolution(x, 256, kernel=3, pad=1, groups=towers)
    x = net.flatten(net.pool(x, "max", kernel=3, stride=2, whole=True))
    for _ in range(2):
        x = net.dense(x, 4096, relu=True)
    return net.finish(net.dense(x, net.scale.classes, scaled=False))


def vgg16(shape: tuple[int, ...], scale: Scale) -> Network:
    """Build VGG16."""
    net = Network("vgg16", shape, scale)
    x = net.input
    for channels, convolutions in VGG16:
        for _ in range(convolutions):
            x = net.convolution(x, channels, kernel=3, pad=1)
        x = net.pool(x, "max", kernel=2, stride=2)
    x = net.flatten(x)
    for _ in range(2):
        x = net.dense(x, 4096, relu=True)
    return net.finish(net.dense(x, scale.classes, scaled=False))


def mlp(shape: tuple[int, ...], scale: Scale) -> Network:
    """Build a perceptron: what stands behind AlexNet's convolutions, and no more."""
    net = Network("mlp", shape, scale)
    x = net.flatten(net.input) if len(shape) > 1 else net.input
    for _ in range(2):
        x = net.dense(x, 4096, relu=True)
    return net.finish(net.dense(x, scale.classes, scaled=False))
