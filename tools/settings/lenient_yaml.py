"""YAML of other programs: folded texts and comments are fine, aliases and tags not.

Every scalar stays a text, as with the strict reader, whose bounds hold here too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import yaml

from registry.documents import limits
from registry.documents.findings import Code, RegistryError, finding
from registry.documents.strict_text import decode

__all__ = ["LenientDocument", "read_lenient_yaml"]

_LOADER: Final = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


@dataclass(frozen=True, slots=True)
class LenientDocument:
    """A document: mappings, lists and texts, and where the keys stand."""

    value: dict[str, Any]
    lines: dict[tuple[str | int, ...], int]

    def line(self, *place: str | int) -> int | None:
        """The line of a place, or of the nearest one around it."""
        for end in range(len(place), 0, -1):
            if (line := self.lines.get(place[:end])) is not None:
                return line
        return None


def read_lenient_yaml(data: bytes, path: str, code: Code) -> LenientDocument:
    """Read a YAML document whose top level is a mapping.

    Args:
        data: the bytes of the file.
        path: its name in findings.
        code: the code of findings.

    Raises:
        RegistryError: with that code, whatever is wrong.

    """
    if len(data) > limits.YAML_BYTES:
        what = f"more than {limits.YAML_BYTES} bytes"
        raise RegistryError(finding(code, path, what))
    text = decode(data, path, code)
    try:
        _check(text, path, code)
        root = yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = None if mark is None else mark.line + 1
        what = str(getattr(error, "problem", None) or "it is no YAML")
        raise RegistryError(finding(code, path, what, line=line)) from None
    lines: dict[tuple[str | int, ...], int] = {}
    value = None if root is None else _value(root, (), lines, path, code)
    if not isinstance(value, dict):
        raise RegistryError(finding(code, path, "the top level is no mapping"))
    return LenientDocument(value, lines)


def _check(text: str, path: str, code: Code) -> None:
    """Bound depth and count before anything is built."""
    depth = nodes = 0
    for event in yaml.parse(text, Loader=_LOADER):
        mark: Any = event.start_mark
        what = None
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            what = "anchors and aliases are not read"
        nodes += isinstance(event, yaml.NodeEvent)
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > limits.YAML_DEPTH:
            what = f"nested deeper than {limits.YAML_DEPTH} levels"
        if nodes > limits.YAML_NODES:
            what = f"more than {limits.YAML_NODES} values"
        if what is not None:
            raise RegistryError(finding(code, path, what, line=mark.line + 1))


def _value(
    node: yaml.Node,
    place: tuple[str | int, ...],
    lines: dict[tuple[str | int, ...], int],
    path: str,
    code: Code,
) -> Any:
    mark: Any = node.start_mark
    lines.setdefault(place, mark.line + 1)
    if isinstance(node, yaml.ScalarNode):
        return node.value
    if isinstance(node, yaml.SequenceNode):
        return [
            _value(item, (*place, number), lines, path, code)
            for number, item in enumerate(node.value)
        ]
    found: dict[str, Any] = {}
    for key, item in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode) or key.value in found:
            what = "a key is no text, or is there twice"
            raise RegistryError(finding(code, path, what, line=line))
        lines[(*place, key.value)] = line
        found[key.value] = _value(item, (*place, key.value), lines, path, code)
    return found
