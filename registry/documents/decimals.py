"""Decimal numbers without exponents: the one grammar of tables and documents."""

from __future__ import annotations

import math
import re
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Final

__all__ = ["GRAMMAR", "plain", "read"]

GRAMMAR: Final = r"^(?:-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,9})?|-?[1-9][0-9]{15,17})$"
"""At most 15 digits before and 9 after the point, or a whole number of 18 digits: what
a counter of cycles over all processors reaches in days. No plus, exponent or comma."""

_NUMBER: Final = re.compile(GRAMMAR)
_ZERO: Final = re.compile(r"-0(?:\.0*)?")
_BOUND: Final = 1e15
_WHOLE_BOUND: Final = 1e18
_PLACES: Final = 9


def read(text: str) -> float:
    """Read a decimal number.

    Raises:
        ValueError: The text is outside the grammar or is a negative zero.

    """
    if _NUMBER.fullmatch(text) is None or text.endswith("\n") or _ZERO.fullmatch(text):
        message = "not a plain decimal number"
        raise ValueError(message)
    return float(text)


def plain(value: float) -> str:
    """Write a number without exponent and trailing zeros, at most nine decimals.

    Raises:
        ValueError: The number is not finite, or has more than 15 digits before the
            point (18, if it is whole).

    """
    value = float(value)
    if value.is_integer() and abs(value) < _WHOLE_BOUND:
        return str(int(value))
    if not math.isfinite(value) or abs(value) >= _BOUND:
        message = f"{value!r} has no plain decimal form"
        raise ValueError(message)
    text = repr(value)
    if "e" in text or len(text.partition(".")[2]) > _PLACES:
        rounded = Decimal(text).quantize(Decimal(1).scaleb(-_PLACES), ROUND_HALF_EVEN)
        text = format(rounded, "f")
    return _trimmed(text)


def _trimmed(text: str) -> str:
    short = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if short == "-0" else short
