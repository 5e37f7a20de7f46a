"""Canonical JSON and digests: one value has exactly one sequence of bytes.

The form is RFC 8785's without floats: keys sorted, no spaces, UTF-8 in NFC, and one LF
at the end so that the file is a text file.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import unicodedata
from collections.abc import Mapping
from typing import Final, TypeAlias

from registry.documents import limits

__all__ = ["Json", "encode", "encode_numbers", "sha256"]

_SURROGATE: Final = re.compile("[\ud800-\udfff]")

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""A value as JSON knows it."""


def encode(value: object) -> bytes:
    """Encode a value that holds no floats.

    Raises:
        ValueError: It holds a float, an integer beyond 2**53 - 1, a text that is not
            NFC or not Unicode, a key that is no text, or something JSON cannot hold.

    """
    return _dump(_plain(value, numbers=False))


def encode_numbers(value: object) -> bytes:
    """Encode a value that may hold finite floats, in their shortest exact form.

    Raises:
        ValueError: As ``encode``, and for NaN and infinities.

    """
    return _dump(_plain(value, numbers=True))


def sha256(data: bytes) -> str:
    """Return the SHA-256 of bytes as 64 lower-case hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def _dump(plain: Json) -> bytes:
    text = json.dumps(
        plain,
        ensure_ascii=False,
        allow_nan=False,
        sort_keys=True,
        separators=(",", ":"),
    )
    return text.encode("utf-8") + b"\n"


def _plain(value: object, *, numbers: bool) -> Json:
    match value:
        case str():
            return _text(value)
        case None | bool():
            return value
        case int():
            if abs(value) > limits.INTEGER:
                message = "an integer is beyond 2**53 - 1"
                raise ValueError(message)
            return int(value)
        case float() if numbers and math.isfinite(value):
            return float(value) + 0.0  # turns -0.0 into 0.0
        case list() | tuple():
            return [_plain(item, numbers=numbers) for item in value]
        case dict() | Mapping():
            return {
                _key(key): _plain(item, numbers=numbers) for key, item in value.items()
            }
    message = f"canonical JSON cannot hold {type(value).__name__} {value!r:.40}"
    raise ValueError(message)


def _key(key: object) -> str:
    if not isinstance(key, str):
        message = f"a key is {type(key).__name__}, not text"
        raise ValueError(message)  # noqa: TRY004 - one error type for bad values
    return _text(key)


def _text(text: str) -> str:
    if text.isascii():
        return str(text)
    if not unicodedata.is_normalized("NFC", text):
        message = "a text is not in Unicode normal form C"
        raise ValueError(message)
    if _SURROGATE.search(text):
        message = "a text holds half of a surrogate pair"
        raise ValueError(message)
    return str(text)
