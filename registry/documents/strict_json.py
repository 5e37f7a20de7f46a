"""JSON from strangers: bounded, no duplicate keys, no floats unless asked for."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from registry.documents import limits
from registry.documents.canonical import Json
from registry.documents.findings import RegistryError, Severity, code, finding, shown
from registry.documents.strict_text import decode

if TYPE_CHECKING:
    from registry.documents.findings import Code

__all__ = ["read_json"]

TOO_BIG = code(
    "J001",
    Severity.ERROR,
    "A JSON document is larger than it may be.",
    "Make the document smaller; recorded data belongs into the CSV tables.",
    "B6",
    "B11",
)
NOT_TEXT = code(
    "J002",
    Severity.ERROR,
    "A JSON document is not plain UTF-8 text.",
    "Write the file as UTF-8 without a byte order mark.",
    "B8",
    "B11",
)
NOT_JSON = code(
    "J003",
    Severity.ERROR,
    "A JSON document cannot be parsed.",
    "Write it with `powerkit pack`, not by hand.",
    "B11",
)
TOO_DEEP = code(
    "J004",
    Severity.ERROR,
    "A JSON document is nested too deeply.",
    "Write it with `powerkit pack`, not by hand.",
    "B11",
)
DUPLICATE = code(
    "J005",
    Severity.ERROR,
    "A JSON object has the same key twice.",
    "Keep one of the two entries.",
    "B11",
)
NUMBER = code(
    "J006",
    Severity.ERROR,
    "A JSON number is not one that every reader understands alike.",
    "Use integers of at most 2**53 - 1; no fractions, exponents, NaN or infinities.",
    "B11",
)
STRING = code(
    "J007",
    Severity.ERROR,
    "A JSON string holds half of a surrogate pair or a zero character.",
    "Remove the character.",
    "B11",
)

# A string that has begun always matches to its end or to the end of the text, so the
# scan is linear on any input.
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_FORBIDDEN: Final = re.compile("[\x00\ud800-\udfff]")


class _RefusedError(Exception):
    """Carries a refusal out of the hooks of the JSON parser."""

    def __init__(self, kind: Code, what: str) -> None:
        super().__init__(what)
        self.kind = kind
        self.what = what


def read_json(
    data: bytes,
    path: str,
    *,
    max_bytes: int = limits.JSON_BYTES,
    floats: bool = False,
) -> Json:
    """Read a JSON document.

    Args:
        data: The bytes of the file.
        path: The file's name in findings.
        max_bytes: The bound for the size.
        floats: Accept finite numbers with a fraction or exponent.

    Raises:
        RegistryError: J001 to J007; nothing else, whatever the bytes.

    """
    if len(data) > max_bytes:
        what = f"{len(data)} bytes, at most {max_bytes} are allowed"
        raise RegistryError(finding(TOO_BIG, path, what))
    text = decode(data, path, NOT_TEXT)
    _check_depth(text, path)

    try:
        value: Json = json.loads(
            text,
            parse_int=_integer,
            parse_float=_fraction if floats else _no_number,
            parse_constant=_no_number,
            object_pairs_hook=_members,
        )
    except _RefusedError as refused:
        raise RegistryError(finding(refused.kind, path, refused.what)) from None
    except json.JSONDecodeError as error:
        what = f"{error.msg} in column {error.colno}"
        raise RegistryError(finding(NOT_JSON, path, what, line=error.lineno)) from None
    if "\\u" in text:  # without escapes there is no way to write these characters
        _check_strings(value, path)
    return value


def _integer(digits: str) -> int:
    if len(digits) > len("-9007199254740991") or abs(int(digits)) > limits.INTEGER:
        raise _RefusedError(NUMBER, f"the integer {shown(digits, 24)} is too large")
    return int(digits)


def _fraction(digits: str) -> float:
    if len(digits) > limits.NUMBER_CHARACTERS or not math.isfinite(
        number := float(digits)
    ):
        return _no_number(digits)
    return number


def _no_number(digits: str) -> float:
    raise _RefusedError(NUMBER, f"{shown(digits, 24)} is not an allowed number")


def _members(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) != len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = next(key for key, count in counts.items() if count > 1)
        raise _RefusedError(DUPLICATE, f'the key "{shown(twice)}" appears twice')
    return members


def _check_depth(text: str, path: str) -> None:
    depth, line = 0, 1
    for character in _STRING.sub("", text):
        if character in "[{":
            depth += 1
            if depth > limits.JSON_DEPTH:
                what = f"nested deeper than {limits.JSON_DEPTH} levels"
                raise RegistryError(finding(TOO_DEEP, path, what, line=line))
        elif character in "]}":
            depth -= 1
        elif character == "\n":
            line += 1


def _check_strings(value: Json, path: str) -> None:
    pending: list[Json] = [value]
    while pending:
        match pending.pop():
            case str() as text if _FORBIDDEN.search(text):
                what = f'the text "{shown(text)}" holds a forbidden character'
                raise RegistryError(finding(STRING, path, what))
            case list() as items:
                pending.extend(items)
            case dict() as members:
                pending.extend(members)
                pending.extend(members.values())
