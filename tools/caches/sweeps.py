"""Many simulations over a grid of values: capacity, share of items, concurrency, rate.

`capacity=0.1:1:0.1`, `concurrency=1,5,10`; a range holds both its ends. The share of
items keeps the first ones of the plan, rounded up, and the requests for them, as the
heat map of TRIMS's experiments does with models.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from typing import Final

from tools.caches.sizes import read_capacity

__all__ = ["AXES", "Axis", "Value", "grid", "kept_items", "read_axis"]

AXES: Final = ("capacity", "share", "concurrency", "estimation-rate")
_VALUES: Final = 1000
_CELLS: Final = 10_000
_PLAIN: Final = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,9})?")

Value = int | float


@dataclass(frozen=True, slots=True)
class Axis:
    """One thing that varies.

    Attributes:
        name: one of `AXES`.
        values: its values, in their order.

    """

    name: str
    values: tuple[Value, ...]


def read_axis(text: str) -> Axis:
    """Read `NAME=VALUES`; see the module.

    Raises:
        ValueError: it is none; the message says why.
    """
    name, equals, rest = text.partition("=")
    name = name.strip().replace("_", "-")
    if not equals or name not in AXES:
        raise ValueError(f"it must be NAME=VALUES with one of {', '.join(AXES)}")
    texts = _range(rest) if ":" in rest else rest.split(",")
    if len(texts) > _VALUES:
        raise ValueError(f"at most {_VALUES} values are possible")
    return Axis(name, tuple(dict.fromkeys(_value(name, one) for one in texts)))


def grid(axes: Sequence[Axis]) -> Iterator[dict[str, Value]]:
    """All combinations, the last axis fastest.

    Raises:
        ValueError: there are too many, or an axis is there twice.
    """
    names = [axis.name for axis in axes]
    if len(set(names)) != len(names):
        raise ValueError("each thing can vary once")
    if math.prod(len(axis.values) for axis in axes) > _CELLS:
        raise ValueError(f"at most {_CELLS} combinations are possible")
    return (
        dict(zip(names, values, strict=True))
        for values in product(*(axis.values for axis in axes))
    )


def kept_items(count: int, share: float) -> int:
    """How many items a share is, rounded up as TRIMS does."""
    return min(count, math.ceil(count * share - 1e-9))


def _range(text: str) -> list[str]:
    """`first:last:step`, counted in decimals so that 0.1 ten times is 1."""
    parts = [part.strip() for part in text.split(":")]
    if len(parts) not in {2, 3} or not all(map(_PLAIN.fullmatch, parts)):
        raise ValueError("a range is FIRST:LAST or FIRST:LAST:STEP")
    first, last, step = (Decimal(part) for part in (*parts, "1")[:3])
    if step <= 0 or last < first:
        raise ValueError("a range goes upwards, by steps above 0")
    if (last - first) / step >= _VALUES:
        raise ValueError(f"at most {_VALUES} values are possible")
    values = [first + i * step for i in range(int((last - first) / step) + 1)]
    whole = all("." not in part for part in parts)
    # A share of 1 is written with a point, as one byte is not.
    return [
        f"{value:f}" if whole else f"{value + Decimal('0.0'):f}" for value in values
    ]


def _value(name: str, text: str) -> Value:
    if name == "capacity":
        return read_capacity(text)
    if name == "share":
        return _share(text.strip())
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f"no number: {text.strip()[:40]}") from None
    if name == "concurrency":
        if not (number.is_integer() and 1 <= number <= 10_000):
            raise ValueError("a concurrency is a whole number from 1 to 10000")
        return int(number)
    if not 0 < number <= 1000:
        raise ValueError("a rate is above 0 and at most 1000")
    return number


def _share(text: str) -> float:
    number = text.removesuffix("%")
    if _PLAIN.fullmatch(number):
        part = float(number) / (1 if number == text else 100)
        if 0 < part <= 1:
            return part
    raise ValueError("a share of items is above 0 and at most 1, as 0.5 or 50%")
