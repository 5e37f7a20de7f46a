"""What an answer of GitHub says at a path, and whether that is what is wanted.

    values({"branch_policies": [{"name": "main"}]}, steps("branch_policies[].name"))

gives ``("main",)``. Nothing here asks GitHub.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, get_args

from registry.documents.findings import shown

__all__ = ["Step", "Want", "hidden", "met", "said", "steps", "values", "want"]

Kind: TypeAlias = Literal[
    "is", "at_least", "at_most", "one_of", "lacks", "holds", "exactly", "present"
]

_ORDERED: Final = frozenset({"at_least", "at_most"})
_WORDS: Final[Mapping[Kind, str]] = {
    "is": "",
    "at_least": "at least ",
    "at_most": "at most ",
    "one_of": "",
    "lacks": "without ",
    "holds": "with ",
    "exactly": "exactly ",
}
_STEP: Final = re.compile(
    r"\.?(?P<name>[a-z_]+)|\[(?P<key>[a-z_]+)=(?P<value>[^\]]+)\]|(?P<all>\[\])"
)


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a path.

    Attributes:
        name: A field of an object, or of the items that are picked.
        value: The value of the field in the items that are picked, or None.

    Both are None for all items of a list.
    """

    name: str | None = None
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Want:
    """One condition.

    Attributes:
        at: The path as written.
        steps: The same, parsed.
        kind: What is asked of the value.
        value: A number, truth value, text, or texts for ``one_of`` and ``exactly``.
    """

    at: str
    steps: tuple[Step, ...]
    kind: Kind
    value: Any

    @property
    def words(self) -> str:
        """What should be, for people."""
        if isinstance(self.value, list):
            joined = (" or " if self.kind == "one_of" else ", ").join(
                f"`{one}`" for one in self.value
            )
            return f"{_WORDS[self.kind]}{joined}"
        if self.kind == "present":
            return "there" if self.value else "none"
        quoted = f"{self.value}" if self.kind in _ORDERED else f"`{_text(self.value)}`"
        return f"{_WORDS[self.kind]}{quoted}"


def want(item: Mapping[str, str]) -> Want:
    """Read a condition: ``at`` and one kind with its value.

    Raises:
        ValueError: It is none.
    """
    (kind,) = (one for one in get_args(Kind) if one in item)
    if set(item) != {"at", kind}:
        message = f"a condition has unknown fields: {sorted(item)}"
        raise ValueError(message)
    raw = item[kind]
    value: Any = raw.split() if kind in {"one_of", "exactly"} else _scalar(raw)
    return Want(item["at"], steps(item["at"]), kind, value)


def steps(path: str) -> tuple[Step, ...]:
    """Parse a path.

    Raises:
        ValueError: It is none.
    """
    found: list[Step] = []
    at = 0
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None:
            message = f"{path} is no path at position {at}"
            raise ValueError(message)
        found.append(Step(match["name"] or match["key"], match["value"]))
        at = match.end()
    return tuple(found)


def values(answer: Any, path: Iterable[Step]) -> tuple[Any, ...]:
    """All that an answer has at a path; nothing where a field is missing or null."""
    found = [answer]
    for step in path:
        found = [below for one in found for below in _below(one, step)]
    return tuple(one for one in found if one is not None)


def hidden(answer: Any, path: Iterable[Step]) -> bool:
    """Whether a field of the path is missing in an object that is there."""
    found = [answer]
    for step in path:
        if step.value is None and step.name is not None:
            objects = [one for one in found if isinstance(one, dict)]
            if any(step.name not in one for one in objects):
                return True
        found = [below for one in found for below in _below(one, step)]
    return False


def met(condition: Want, answer: Any) -> bool:
    """Whether a condition holds.

    Where rules of several rulesets meet at one path, GitHub applies the strictest, so
    that one of them is enough.
    """
    found = values(answer, condition.steps)
    if condition.kind == "present":
        return bool(found) is condition.value
    holds = _HOLDS[condition.kind]
    gathered = any(step == Step() for step in condition.steps)
    if gathered and condition.kind in {"lacks", "holds", "exactly"}:
        return holds(list(found), condition.value)
    return any(holds(one, condition.value) for one in found)


def said(condition: Want, answer: Any) -> str:
    """What is at a path, for people."""
    found = values(answer, condition.steps)
    if condition.kind == "present":
        return "there" if found else "none"
    if not found:
        return "not set"
    return ", ".join(shown(_text(one), 60) for one in found[:4])


def _below(one: Any, step: Step) -> list[Any]:
    if step.name is None:
        return list(one) if isinstance(one, list) else []
    if step.value is not None:
        items = one if isinstance(one, list) else []
        return [
            item
            for item in items
            if isinstance(item, dict) and str(item.get(step.name)) == step.value
        ]
    return [one[step.name]] if isinstance(one, dict) and step.name in one else []


def _same(value: Any, wanted: Any) -> bool:
    return type(value) is type(wanted) and value == wanted


def _counts(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_HOLDS: Final[Mapping[Kind, Callable[[Any, Any], bool]]] = {
    "is": _same,
    "at_least": lambda value, wanted: _counts(value) and value >= wanted,
    "at_most": lambda value, wanted: _counts(value) and value <= wanted,
    "one_of": lambda value, wanted: value in wanted,
    "lacks": lambda value, wanted: isinstance(value, list) and wanted not in value,
    "holds": lambda value, wanted: isinstance(value, list) and wanted in value,
    "exactly": lambda value, wanted: (
        isinstance(value, list) and sorted(map(str, value)) == sorted(wanted)
    ),
}


def _scalar(text: str) -> bool | int | str:
    if text in {"true", "false"}:
        return text == "true"
    return int(text) if text.isdigit() else text


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=True, sort_keys=True)
