"""Read one JSON value at a place of a text that may be broken, cut or not UTF-8.

The standard library's scanner is slow beside others, but tells where a value ends, so
that reading can go on behind one that it cannot read. It is used for what is not a long
row of sound events.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

from tools.traces.found import Found

__all__ = [
    "Broken",
    "plain_bytes",
    "read_value",
    "scannable",
    "sound_bytes",
    "sound_value",
    "text_bytes",
]

_TAIL: Final = 12
"""A number, literal or escape that the end of a text cuts is shorter than this."""
_DEEP: Final = 8192
"""What an event that nests too deeply counts as; it takes as long to refuse."""
_LONE: Final = range(0xD800, 0xE000)
_HALVES: Final = re.compile("[\ud800-\udfff]")


class Broken(Exception):  # noqa: N818  it is part of reading, not an error of it
    """No value can be read here.

    Attributes:
        cut: whether more text might mend it.
        scanned: how many characters were looked at.
        deep: whether it is nested too deeply.

    """

    def __init__(self, *, cut: bool, scanned: int, deep: bool = False) -> None:
        """Keep what is known of it."""
        super().__init__()
        self.cut = cut
        self.deep = deep
        self.scanned = scanned


class _Infinite:
    """Whether a value held a number that JSON does not have."""

    seen = False

    def constant(self, _: str) -> None:
        self.seen = True

    def number(self, text: str) -> float | None:
        value = float(text)
        if math.isfinite(value):
            return value
        self.seen = True
        return None


_odd = _Infinite()
_DECODER: Final = json.JSONDecoder(
    parse_constant=_odd.constant, parse_float=_odd.number, strict=False
)


def scannable(data: bytes) -> str:
    """Bytes as text; those that are no UTF-8 stay in it, one surrogate each."""
    return data.decode("utf-8", "surrogateescape")


def text_bytes(text: str) -> bytes:
    """The bytes that a text was made of by `scannable`."""
    return text.encode("utf-8", "surrogateescape")


def read_value(text: str, at: int) -> tuple[Any, int, bool]:
    """Read the JSON value that begins at a place.

    Returns:
        The value, where it ends, and whether NaN or Infinity in it became None.

    Raises:
        Broken: there is none.
    """
    _odd.seen = False
    try:
        value, end = _DECODER.raw_decode(text, at)
    except RecursionError:
        raise Broken(cut=False, scanned=_DEEP, deep=True) from None
    except json.JSONDecodeError as error:
        unended = error.msg.startswith("Unterminated string")
        cut = unended or error.pos >= len(text) - _TAIL
        scanned = (len(text) if unended else error.pos) - at
        raise Broken(cut=cut, scanned=scanned) from None
    except ValueError:  # an integer of thousands of digits
        raise Broken(cut=False, scanned=0) from None
    return value, end, _odd.seen


def sound_bytes(text: str, found: Found) -> bytes:
    """A value's own text as UTF-8, bytes that are none replaced and counted."""
    if text.isascii():
        return text.encode("ascii")
    bad = sum(ord(char) in _LONE for char in text)
    if not bad:
        return text.encode("utf-8")
    found.bad_utf8 += bad
    return text_bytes(text).decode("utf-8", "replace").encode("utf-8")


def sound_value(value: Any, text: str, found: Found) -> Any:
    """A value that was read of a text, without halves of surrogate pairs in it."""
    if text.isascii() and "\\ud" not in text.lower():
        return value
    return json.loads(plain_bytes(value, found))


def plain_bytes(value: Any, found: Found) -> bytes:
    """Write a value anew, such that every JSON reader takes it.

    Half surrogate pairs, which JSON can write but UTF-8 cannot, become U+FFFD.

    Raises:
        Broken: it nests too deeply.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (RecursionError, ValueError):
        raise Broken(cut=False, scanned=0) from None
    found.bad_utf8 += sum(ord(char) in _LONE for char in text)
    return _HALVES.sub("\ufffd", text).encode("utf-8")
