"""The expressions of workflows: `${{ … }}`, as far as ours use them.

What is not known here is refused, never taken for empty: a workflow that this file
cannot read has to be looked at by a person.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    _Calls = Mapping[str, Callable[..., Any]]

__all__ = ["STATUS", "Unreadable", "evaluate", "fill", "holds", "inside", "truthy"]


class Unreadable(Exception):  # noqa: N818 - what a workflow is, not what went wrong
    """A workflow says what this simulator does not know."""


STATUS: Final = ("always", "success", "failure", "cancelled")
_TOKEN: Final = re.compile(
    r"\s*(?:(?P<name>[A-Za-z_][A-Za-z0-9_-]*)|(?P<text>'(?:[^']|'')*')"
    r"|(?P<number>-?[0-9]+(?:\.[0-9]+)?)|(?P<mark>\|\||&&|==|!=|[!().,\[\]]))"
)
_INSIDE: Final = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_EMPTY_BY_NATURE: Final = frozenset({"github"})
"""Contexts in which a name that is absent is null: an event lacks what others have."""


def inside(text: str) -> list[str]:
    """The expressions in a text, without their braces."""
    return [match.group(1).strip() for match in _INSIDE.finditer(text)]


def fill(text: str, contexts: Mapping[str, Any], calls: _Calls | None = None) -> str:
    """Replace each expression of a text by its value.

    Raises:
        Unreadable: an expression is not understood, or a brace stays open.
    """
    filled = _INSIDE.sub(
        lambda match: _as_text(evaluate(match.group(1), contexts, calls)), text
    )
    if "${{" in _INSIDE.sub("", text):
        raise Unreadable(f"an expression is not closed: {text}")
    return filled


def holds(condition: str, contexts: Mapping[str, Any], calls: _Calls) -> bool:
    """Whether an `if:` holds.

    Without a function of status in it, it also demands that nothing failed before.

    Raises:
        Unreadable: as `evaluate`.
    """
    text = condition.strip()
    if text.startswith("${{") and text.endswith("}}") and len(inside(text)) == 1:
        text = inside(text)[0]
    elif "${{" in text:
        raise Unreadable(f"a condition is one expression, not a text: {condition}")
    named = {token[1] for token in _tokens(text) if token[0] == "name"}
    value = truthy(evaluate(text, contexts, calls)) if text else True
    return value if named & set(STATUS) else value and bool(calls["success"]())


def truthy(value: Any) -> bool:
    """What GitHub takes for true."""
    return value not in (None, False, 0, "")


def evaluate(
    text: str, contexts: Mapping[str, Any], calls: _Calls | None = None
) -> Any:
    """Evaluate an expression without its braces.

    Args:
        text: the expression.
        contexts: by name; a context that is not there may not be used.
        calls: further functions, such as those of status.

    Raises:
        Unreadable: it is not understood, or names what is not there.
    """
    reader = _Reader(_tokens(text), contexts, {**_FUNCTIONS, **(calls or {})}, text)
    value = reader.alternatives()
    reader.finish()
    return value


def _tokens(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    at = 0
    stripped = text.rstrip()
    while at < len(stripped):
        match = _TOKEN.match(stripped, at)
        if match is None:
            raise Unreadable(f"not understood from here: {stripped[at:]!r}")
        kind = str(match.lastgroup)
        found.append((kind, match.group(kind)))
        at = match.end()
    return found


class _Reader:
    """Reads tokens by recursive descent: || over && over comparison over !."""

    def __init__(
        self,
        tokens: list[tuple[str, str]],
        contexts: Mapping[str, Any],
        functions: _Calls,
        text: str,
    ) -> None:
        self._tokens = tokens
        self._contexts = contexts
        self._functions = functions
        self._text = text
        self._at = 0

    def alternatives(self) -> Any:
        value = self._all_of()
        while self._take("||"):
            other = self._all_of()
            value = value if truthy(value) else other
        return value

    def finish(self) -> None:
        if self._at < len(self._tokens):
            raise self._refusal()

    def _all_of(self) -> Any:
        value = self._comparison()
        while self._take("&&"):
            other = self._comparison()
            value = other if truthy(value) else value
        return value

    def _comparison(self) -> Any:
        value = self._negation()
        while (mark := self._peek()) in {"==", "!="}:
            self._at += 1
            same = _equal(value, self._negation())
            value = same if mark == "==" else not same
        return value

    def _negation(self) -> Any:
        return not truthy(self._negation()) if self._take("!") else self._single()

    def _single(self) -> Any:
        if self._at >= len(self._tokens):
            raise self._refusal()
        kind, text = self._tokens[self._at]
        self._at += 1
        if kind == "text":
            return text[1:-1].replace("''", "'")
        if kind == "number":
            return float(text) if "." in text else int(text)
        if kind == "name":
            return self._named(text)
        if text == "(":
            value = self.alternatives()
            self._demand(")")
            return value
        raise self._refusal()

    def _named(self, name: str) -> Any:
        if name in {"true", "false", "null"}:
            return {"true": True, "false": False, "null": None}[name]
        if self._take("("):
            return self._call(name)
        if name not in self._contexts:
            raise Unreadable(f"{name} is not to be had here: {self._text}")
        value = self._contexts[name]
        path = name
        while (mark := self._peek()) in {".", "["}:
            self._at += 1
            key = self._key() if mark == "." else self.alternatives()
            if mark == "[":
                self._demand("]")
            path += f".{key}"
            value = self._property(value, str(key), path)
        return value

    def _property(self, value: Any, key: str, path: str) -> Any:
        if isinstance(value, Mapping) and key in value:
            return value[key]
        if path.split(".", maxsplit=1)[0] in _EMPTY_BY_NATURE and path.count(".") > 1:
            return None
        raise Unreadable(f"{path} is nothing: {self._text}")

    def _key(self) -> str:
        kind, text = self._tokens[self._at] if self._peek() else ("", "")
        if kind != "name":
            raise self._refusal()
        self._at += 1
        return text

    def _call(self, name: str) -> Any:
        if name not in self._functions:
            raise Unreadable(f"no such function here: {name}()")
        values: list[Any] = []
        while not self._take(")"):
            if values:
                self._demand(",")
            values.append(self.alternatives())
        return self._functions[name](*values)

    def _peek(self) -> str:
        return self._tokens[self._at][1] if self._at < len(self._tokens) else ""

    def _take(self, mark: str) -> bool:
        here = self._tokens[self._at : self._at + 1] == [("mark", mark)]
        self._at += here
        return here

    def _demand(self, mark: str) -> None:
        if not self._take(mark):
            raise self._refusal()

    def _refusal(self) -> Unreadable:
        return Unreadable(f"not understood: {self._text!r}")


def _equal(left: Any, right: Any) -> bool:
    """Compare as GitHub does: texts without case, other kinds as numbers."""
    if isinstance(left, str) and isinstance(right, str):
        return left.casefold() == right.casefold()
    if type(left) is type(right):
        return bool(left == right)
    return _number(left) == _number(right)


def _number(value: Any) -> float:
    if value is None or value == "":
        return 0.0
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return str(value)
    raise Unreadable("an object stands where a text is wanted")


def _format(pattern: str, *values: Any) -> str:
    return re.sub(r"\{(\d+)\}", lambda m: _as_text(values[int(m.group(1))]), pattern)


def _contains(where: Any, what: Any) -> bool:
    if isinstance(where, (list, tuple)):
        return any(_equal(one, what) for one in where)
    return _as_text(what).casefold() in _as_text(where).casefold()


_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "format": _format,
    "contains": _contains,
    "startsWith": lambda text, head: _as_text(text).lower().startswith(head.lower()),
    "endsWith": lambda text, tail: _as_text(text).lower().endswith(tail.lower()),
    "toJSON": lambda value: json.dumps(value, indent=2),
}
