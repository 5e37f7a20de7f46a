"""Events with the few fields that sums need, decoded several times as fast as dicts.

    for events in decoded(path, found, decode): ...

A block with a field of an unforeseen type is decoded once more without types, so that
one odd event costs its block some time and loses nothing.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final, Literal

import msgspec
from msgspec import Raw

__all__ = ["Event", "arguments", "decode", "decoded_raw", "identity"]

NAN: Final = math.nan
NUMBER_CHARACTERS: Final = 64
HEXADECIMAL: Final = re.compile(r"0[xX][0-9a-fA-F]{1,16}\Z")


Phase = Literal[
    "", "B", "E", "X", "i", "I", "R", "C", "b", "n", "e", "S", "T", "p", "F", "s", "t",
    "f", "P", "N", "O", "D", "M", "V", "v", "c", "(", ")",
]  # fmt: skip
"""The phases of the format; these texts are made once, and not for every event."""


class Event(msgspec.Struct, gc=False):
    """One event of a trace.

    Attributes:
        ph: the phase; empty if there is none. A block with another one is decoded
            without types, so it may be any text after all.
        name: the name; None if there is none, or an empty one.
        cat: categories, as they stand.
        ts: microseconds; NaN if missing or no number.
        dur: microseconds; NaN if missing or no number.
        pid: the process.
        tid: the thread.
        id: the identity of an asynchronous event, flow or counter.
        args: the arguments, undecoded; empty if there are none.
        id2: an identity that says whether it is local, undecoded.
        scope: the name space of the identity.
        bind_id: the flow that a slice belongs to.
        flow_in: whether that flow ends here.
        flow_out: whether it begins here.

    """

    ph: Phase = ""
    name: str | None = None
    cat: str | None = None
    ts: float = NAN
    dur: float = NAN
    pid: int | str | None = None
    tid: int | str | None = None
    id: int | str | None = None
    args: Raw = Raw()
    id2: Raw = Raw()
    scope: str | None = None
    bind_id: int | str | None = None
    flow_in: bool | None = None
    flow_out: bool | None = None


_typed: Final = msgspec.json.Decoder(list[Event], strict=False).decode
_untyped: Final = msgspec.json.Decoder(list[dict[str, Any]]).decode


def decode(array: bytes) -> list[Event]:
    """Decode a JSON array of events.

    Raises:
        ValueError: it is no JSON array of objects.
        RecursionError: it is nested too deeply.
    """
    try:
        return _typed(array)
    except msgspec.ValidationError:
        return [_event(fields) for fields in _untyped(array)]


def arguments(event: Event) -> dict[str, Any]:
    """The decoded arguments of an event; none if they are no object or not readable."""
    value = decoded_raw(event.args)
    return value if isinstance(value, dict) else {}


def decoded_raw(raw: Raw) -> Any:
    """What was left undecoded; None if it is nothing, too deep, or out of all range."""
    if not len(raw):
        return None
    try:
        return msgspec.json.decode(raw)
    except (ValueError, RecursionError):
        return None


def identity(value: int | str | None) -> int | str | None:
    """An identity that may be a number or its text: 31, "31" or "0x1f"."""
    if isinstance(value, str):
        if HEXADECIMAL.match(value):
            return int(value, 16)
        if value.isascii() and value.isdigit() and len(value) <= NUMBER_CHARACTERS:
            return int(value)
    return value


def _event(fields: dict[str, Any]) -> Event:
    phase = fields.get("ph")
    known: dict[str, Any] = {
        "ph": phase if isinstance(phase, str) else "",
        "ts": _number(fields.get("ts")),
        "dur": _number(fields.get("dur")),
    }
    for key in ("name", "cat", "scope"):
        value = fields.get(key)
        known[key] = value if value is None or isinstance(value, str) else str(value)
    for key in ("pid", "tid", "id", "bind_id"):
        known[key] = _identity(fields.get(key))
    for key in ("flow_in", "flow_out"):
        known[key] = bool(fields.get(key))
    for key in ("args", "id2"):
        if isinstance(fields.get(key), dict):
            known[key] = Raw(json.dumps(fields[key]).encode())
    return Event(**known)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return NAN
    try:
        return float(value[:NUMBER_CHARACTERS] if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return NAN


def _identity(value: Any) -> int | str | None:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if value is None or (isinstance(value, (int, str)) and not isinstance(value, bool)):
        return value
    return json.dumps(value)
