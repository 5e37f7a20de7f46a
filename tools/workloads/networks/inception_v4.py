"""Inception-v4 (Szegedy et al. 2016, arXiv 1602.07261, figures 3 to 9).

All of it: stem, 4 A, 7 B and 3 C modules, both reductions, batch normalisation after
each convolution. 42,679,816 parameters with the dense layer, as in timm and in Cadene's
pretrained-models; the running statistics are not counted.
"""

from __future__ import annotations

from typing import Final

from tools.workloads.networks.layers import Network, Scale, Tensor

__all__ = ["inception_v4"]

Step = tuple[int, int, int]
"""Channels, height and width of a kernel; the extent stays, so it is padded."""

SEVEN_A: Final[tuple[Step, ...]] = ((64, 1, 1), (64, 1, 7), (64, 7, 1))
B_SHORT: Final[tuple[Step, ...]] = ((192, 1, 1), (224, 1, 7), (256, 7, 1))
B_LONG: Final[tuple[Step, ...]] = (
    (192, 1, 1),
    (192, 7, 1),
    (224, 1, 7),
    (224, 7, 1),
    (256, 1, 7),
)


def inception_v4(shape: tuple[int, ...], scale: Scale) -> Network:
    """Build Inception-v4."""
    net = Network("inception-v4", shape, scale)
    x = _stem(net)
    for _ in range(4):
        x = _a(net, x)
    x = _reduction(net, x, ((384, 3, 3),), ((192, 1, 1), (224, 3, 3), (256, 3, 3)))
    for _ in range(7):
        x = _b(net, x)
    long: tuple[Step, ...] = ((256, 1, 1), (256, 1, 7), (320, 7, 1), (320, 3, 3))
    x = _reduction(net, x, ((192, 1, 1), (192, 3, 3)), long)
    for _ in range(3):
        x = _c(net, x)
    x = net.flatten(net.last_pool(x, 8))
    return net.finish(net.dense(x, scale.classes, scaled=False))


def _stem(net: Network) -> Tensor:
    x = _valid(net, net.input, 32, stride=2)
    x = _path(net, _valid(net, x, 32), ((64, 3, 3),))
    pooled = net.pool(x, "max", kernel=3, stride=2)
    x = net.concatenation((pooled, _valid(net, x, 96, stride=2)))
    short = _valid(net, _path(net, x, ((64, 1, 1),)), 96)
    long = _valid(net, _path(net, x, SEVEN_A), 96)
    x = net.concatenation((short, long))
    pooled = net.pool(x, "max", kernel=3, stride=2)
    return net.concatenation((_valid(net, x, 192, stride=2), pooled))


def _a(net: Network, x: Tensor) -> Tensor:
    return net.concatenation(
        (
            _path(net, x, ((96, 1, 1),)),
            _path(net, x, ((64, 1, 1), (96, 3, 3))),
            _path(net, x, ((64, 1, 1), (96, 3, 3), (96, 3, 3))),
            _pooled(net, x, 96),
        )
    )


def _b(net: Network, x: Tensor) -> Tensor:
    return net.concatenation(
        (
            _path(net, x, ((384, 1, 1),)),
            _path(net, x, B_SHORT),
            _path(net, x, B_LONG),
            _pooled(net, x, 128),
        )
    )


def _c(net: Network, x: Tensor) -> Tensor:
    short = _path(net, x, ((384, 1, 1),))
    long = _path(net, x, ((384, 1, 1), (448, 3, 1), (512, 1, 3)))
    return net.concatenation(
        (
            _path(net, x, ((256, 1, 1),)),
            _path(net, short, ((256, 1, 3),)),
            _path(net, short, ((256, 3, 1),)),
            _path(net, long, ((256, 1, 3),)),
            _path(net, long, ((256, 3, 1),)),
            _pooled(net, x, 256),
        )
    )


def _reduction(
    net: Network, x: Tensor, short: tuple[Step, ...], long: tuple[Step, ...]
) -> Tensor:
    """Halve the extent on three paths; the last step of each does it."""
    ends = [
        _valid(net, _path(net, x, steps[:-1]), steps[-1][0], stride=2)
        for steps in (short, long)
    ]
    return net.concatenation((*ends, net.pool(x, "max", kernel=3, stride=2)))


def _pooled(net: Network, x: Tensor, channels: int) -> Tensor:
    pooled = net.pool(x, "average", kernel=3, pad=1)
    return _path(net, pooled, ((channels, 1, 1),))


def _path(net: Network, x: Tensor, steps: tuple[Step, ...]) -> Tensor:
    for channels, high, wide in steps:
        pad = (high // 2, wide // 2)
        x = net.convolution(x, channels, kernel=(high, wide), pad=pad, normalised=True)
    return x


def _valid(net: Network, x: Tensor, channels: int, *, stride: int = 1) -> Tensor:
    return net.convolution(x, channels, kernel=3, stride=stride, normalised=True)
