"""Events for rewriting: every key is kept, and what is not rewritten stays as it was.

A decoder of known fields is several times as fast as one of dicts, but drops what it
does not know. So the known fields grow by the keys that a file's events have.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw

from tools.traces.limits import EVENT_KEYS

__all__ = ["RARE", "Shape", "raw_number", "raw_text"]

_TEXTS: Final = ("name", "cat", "tid", "ts", "dur", "args")
"""Keys that keep their JSON text."""
_VALUES: Final = ("pid", "id")
"""Keys that are decoded, since they are rewritten in most events."""
RARE: Final = frozenset({"bind_id", "id2", "sf", "esf"})
"""Keys that are looked at too, but are fields only if an event has had them."""
_DIGITS: Final = 30
"""The most digits of a time; 2**64 ns have 20."""
_SCALE: Final = (1000, 100, 10, 1)
_RAW: Final = Raw | msgspec.UnsetType

_dicts: Final = msgspec.json.Decoder(list[dict[str, Raw]]).decode
_text: Final = msgspec.json.Decoder(str).decode


class Shape:
    """A decoder of events that learns the keys of a file as they come.

    The events are msgspec structs: `ph`, `pid` and `id` are values, all others `Raw`
    JSON texts, and a key that an event lacks is `UNSET`.

    Attributes:
        rare: those of `RARE` that events have had so far, which are their fields.

    """

    __slots__ = ("_decode", "_keys", "rare")

    def __init__(self) -> None:
        """Begin with the keys that most events have."""
        self._keys: list[str] = []
        self.rare: frozenset[str] = frozenset()
        self._decode: Callable[[bytes], list[Any]] = self._decoder()

    def decode(self, array: bytes) -> list[Any]:
        """Decode a JSON array of events.

        Raises:
            ValueError: it is none, `ph` is no text, or the events of the file have more
                keys than they may.
            RecursionError: it is nested too deeply.
        """
        try:
            return self._decode(array)
        except msgspec.ValidationError:
            if not self._learnt(array):
                raise
        return self._decode(array)

    def _learnt(self, array: bytes) -> bool:
        """Whether an array had keys that were not known."""
        known = {"ph", *_TEXTS, *_VALUES, *self._keys}
        new = sorted({key for event in _dicts(array) for key in event} - known)
        if not new or len(known) + len(new) > EVENT_KEYS:
            return False
        self._keys += new
        self.rare = RARE.intersection(self._keys)
        self._decode = self._decoder()
        return True

    def _decoder(self) -> Callable[[bytes], list[Any]]:
        # A key may be any text, so a field has a name of its own.
        others = [
            key if key in RARE else f"other_{number}"
            for number, key in enumerate(self._keys)
        ]
        fields: list[tuple[str, Any, Any]] = [
            ("ph", str | msgspec.UnsetType, UNSET),
            *((name, _RAW, UNSET) for name in _TEXTS),
            *((name, Any, UNSET) for name in _VALUES),
            *((name, _RAW, UNSET) for name in others),
        ]
        event = msgspec.defstruct(
            "Event",
            fields,
            rename=dict(zip(others, self._keys, strict=True)),
            forbid_unknown_fields=True,
            gc=False,
        )
        return msgspec.json.Decoder(list[event]).decode  # type: ignore[valid-type]


def raw_text(raw: Any) -> str | None:
    """The text of a JSON string; None for any other value and for none."""
    if raw is UNSET:
        return None
    try:
        return _text(raw)
    except msgspec.DecodeError:
        return None


def raw_number(raw: Any) -> int | None:
    """Thousandths of a JSON number, or of a text that is one: ns of microseconds.

    Exact for integers and decimals of any length; a fourth decimal rounds, half to
    even. None for any other value.
    """
    if raw is UNSET:
        return None
    text = bytes(raw)
    if text[-4:-3] == b".":  # what most tools write
        try:
            return int(text[:-4] + text[-3:])
        except ValueError:
            return _thousandths(text)
    return _thousandths(text)


def _thousandths(text: bytes) -> int | None:
    head, _, tail = text.partition(b".")
    digits = head + tail
    if digits.isdigit() and len(tail) < len(_SCALE) and len(digits) < _DIGITS:
        return int(digits) * _SCALE[len(tail)]
    if text.startswith(b"-"):
        value = _thousandths(text[1:])
        return None if value is None else -value
    return _slow_number(text)


def _slow_number(text: bytes) -> int | None:
    """A number with an exponent, with many decimals, or in quotes."""
    if len(text) > 2 * _DIGITS:
        return None
    try:
        value = Decimal(text.decode().strip('"').strip())
        if not value.is_finite() or value.adjusted() > _DIGITS:
            return None
        return int((value * 1000).to_integral_value(ROUND_HALF_EVEN))
    except (InvalidOperation, UnicodeDecodeError):
        return None
