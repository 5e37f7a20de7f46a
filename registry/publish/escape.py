"""Foreign text in documents for people: never markup, never a link, never a mention."""

from __future__ import annotations

import re
from typing import Final

from registry.documents.findings import shown

__all__ = ["code_span", "markdown"]

_PLAIN: Final = re.compile(r"[^A-Za-z0-9 ,;%()/+.-]")
_AUTOLINK: Final = re.compile(r"(?i)\b(www|gh)([.-])")
_CODE: Final = re.compile(r"[A-Za-z0-9._/:+@=-]+")


def markdown(text: str, limit: int = 300) -> str:
    """Write a text so that Markdown shows it as it is, also inside a table.

    Every character that Markdown, HTML or GitHub could give a meaning becomes a numeric
    entity; control and other unprintable characters are shown escaped.

    Args:
        text: Any text.
        limit: The most characters of it that are shown.

    """
    plain = _PLAIN.sub(lambda match: f"&#{ord(match.group())};", shown(text, limit))
    plain = _AUTOLINK.sub(lambda m: f"{m.group(1)}&#{ord(m.group(2))};", plain)
    if plain[:1] in "+-" or re.match(r"[0-9]+[.)]", plain):  # a list, at a line's start
        plain = f"&#{ord(plain[0])};{plain[1:]}" if plain else ""
    return plain


def code_span(text: str) -> str:
    """Write a name in code font, or as escaped text if it is no plain name."""
    return f"`{text}`" if _CODE.fullmatch(text) else markdown(text)
