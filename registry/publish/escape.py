"""Foreign text in documents for people: never markup, never a link, never a mention."""

from __future__ import annotations

import html as standard
import json
import re
from typing import Any, Final

from registry.documents.findings import shown

__all__ = ["code_span", "drawn", "fenced", "html", "json_text", "markdown"]

_PLAIN: Final = re.compile(r"[^A-Za-z0-9 ,;%()/+.-]")
_AUTOLINK: Final = re.compile(r"(?i)\b(www|gh)([.-])")
_CODE: Final = re.compile(r"[A-Za-z0-9._/:+@=-]+")
_JSON: Final = {ord(char): f"\\u{ord(char):04x}" for char in "<>&"}


def markdown(text: str, limit: int = 300, *, start: bool = True) -> str:
    """Write a text so that Markdown shows it as it is, also inside a table.

    Every character that Markdown, HTML or GitHub could give a meaning becomes a numeric
    entity; control and other unprintable characters are shown escaped.

    Args:
        text: Any text.
        limit: The most characters of it that are shown.
        start: Whether it may begin a line, where a number or a dash makes a list.

    """
    plain = _PLAIN.sub(lambda match: f"&#{ord(match.group())};", shown(text, limit))
    plain = _AUTOLINK.sub(lambda m: f"{m.group(1)}&#{ord(m.group(2))};", plain)
    if start and (plain[:1] in "+-" or re.match(r"[0-9]+[.)]", plain)):
        plain = f"&#{ord(plain[0])};{plain[1:]}" if plain else ""
    return plain


def code_span(text: str) -> str:
    """Write a name in code font, or as escaped text if it is no plain name."""
    return f"`{text}`" if _CODE.fullmatch(text) else markdown(text)


def fenced(text: str, limit: int = 300) -> str:
    """Write one line of a fenced code block, which it cannot end."""
    return shown(text, limit).replace("`", "'")


def html(text: str, limit: int = 2_000) -> str:
    """Write a text into HTML or XML, between tags or as an attribute in quotes."""
    return standard.escape(shown(text, limit), quote=True)


def drawn(text: str, limit: int = 80) -> str:
    """Write a text into a drawing, where a dollar would begin a formula."""
    return shown(text, limit).replace("\\", "/").replace("$", "\\$")


def json_text(value: Any) -> str:
    """Write a value as JSON for people and programs.

    It is plain ASCII without angle brackets, so that it may stand in a page or a log,
    and the same for equal values.
    """
    text = json.dumps(
        value, indent=2, sort_keys=True, ensure_ascii=True, allow_nan=False
    )
    return text.translate(_JSON) + "\n"
