"""The one canonical way to write a YAML document of this registry."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from registry.documents import decimals

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["write_yaml"]

_BARE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_./()+@-]*(?: [A-Za-z0-9_./()+@-]+)*")
_WORDS: Final = frozenset(
    ("y", "n", "yes", "no", "on", "off", "true", "false", "null", "none", "nan", "inf")
)
_BLOCK: Final = re.compile(r"(?:[!-~][ -~]*\n)+")
_PRINTABLE: Final = re.compile(r"[ -~]*")


def write_yaml(value: object) -> bytes:
    """Write mappings, lists, texts, integers, decimals and booleans in block style.

    Keys keep their order. A text that YAML readers could take for a number, a date, a
    truth value or nothing is quoted; a text of several lines becomes a literal block.
    ``read_yaml`` gives the same document back, with every scalar as its text.

    Args:
        value: A mapping with text keys; None is not allowed, absent keys are.

    Raises:
        ValueError: Something in it has no canonical form.

    """
    if not isinstance(value, dict) or not value:
        message = "a YAML document is a mapping with at least one key"
        raise ValueError(message)
    return ("\n".join(_mapping(value, 0)) + "\n").encode("ascii")


def _mapping(mapping: dict[object, object], indent: int) -> Iterator[str]:
    for key, item in mapping.items():
        if not isinstance(key, str):
            message = f"the key {key!r} is no text"
            raise ValueError(message)  # noqa: TRY004 - one error type for bad values
        yield from _entry(f"{' ' * indent}{_text(key)}:", item, indent)


def _sequence(items: list[object] | tuple[object, ...], indent: int) -> Iterator[str]:
    pad = " " * indent
    for item in items:
        match item:
            case dict() if item:
                first, *rest = _mapping(item, indent + 2)
                yield f"{pad}- {first.lstrip(' ')}"
                yield from rest
            case list() | tuple() if item:
                first, *rest = _sequence(item, indent + 2)
                yield f"{pad}- {first.lstrip(' ')}"
                yield from rest
            case _:
                yield from _entry(f"{pad}-", item, indent)


def _entry(head: str, item: object, indent: int) -> Iterator[str]:
    match item:
        case dict() if item:
            yield head
            yield from _mapping(item, indent + 2)
        case list() | tuple() if item:
            yield head
            yield from _sequence(item, indent)
        case dict():
            yield f"{head} {{}}"
        case list() | tuple():
            yield f"{head} []"
        case str() if "\n" in item:
            yield f"{head} |"
            yield from _block(item, " " * (indent + 2))
        case _:
            yield f"{head} {_scalar(item)}"


def _block(text: str, pad: str) -> Iterator[str]:
    if _BLOCK.fullmatch(text) is None:
        message = "a text of several lines must be printable ASCII and end with a LF"
        raise ValueError(message)
    for line in text.splitlines():
        yield pad + line


def _scalar(item: object) -> str:
    match item:
        case bool():
            return "true" if item else "false"
        case int():
            return str(item)
        case float():
            return decimals.plain(item)
        case str():
            return _text(item)
    message = f"no canonical YAML for {type(item).__name__}"
    raise ValueError(message)


def _text(text: str) -> str:
    if _PRINTABLE.fullmatch(text) is None:
        message = f"the text {text!r:.40} is not printable ASCII"
        raise ValueError(message)
    if _BARE.fullmatch(text) and text.lower() not in _WORDS:
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
