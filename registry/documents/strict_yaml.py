"""YAML from strangers, reduced to nested mappings, lists and texts with line numbers.

Read from parser events, so nothing is ever constructed: no anchors, aliases, tags,
merge keys, second documents or duplicate keys, and every scalar stays a text, which
the schema types. ``no`` is "no" and ``010`` is "010".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import yaml

from registry.documents import limits
from registry.documents.findings import RegistryError, Severity, code, finding, shown
from registry.documents.strict_text import decode
from registry.documents.yaml_writer import write_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.documents.findings import Finding

__all__ = ["Location", "YamlDocument", "YamlValue", "read_yaml", "write_yaml"]

YamlValue: TypeAlias = "str | list[YamlValue] | dict[str, YamlValue]"
"""What a document holds: texts, lists and mappings."""
Location: TypeAlias = tuple[str | int, ...]
"""Keys and list positions from the root to a value."""

TOO_BIG = code(
    "Y001",
    Severity.ERROR,
    "A YAML document is larger than it may be.",
    "Make the document smaller: at most 64 KiB and 10,000 values.",
    "B6",
    "B10",
)
NOT_TEXT = code(
    "Y002",
    Severity.ERROR,
    "A YAML document is not plain UTF-8 text.",
    "Write the file as UTF-8 without a byte order mark.",
    "B8",
    "B10",
)
NOT_YAML = code(
    "Y003",
    Severity.ERROR,
    "A YAML document cannot be parsed.",
    "Mend the syntax at the named line.",
    "B10",
)
TOO_DEEP = code(
    "Y004",
    Severity.ERROR,
    "A YAML document is nested too deeply.",
    "Use the documented keys only; they are a few levels deep.",
    "B10",
)
DUPLICATE = code(
    "Y005",
    Severity.ERROR,
    "A YAML mapping has the same key twice.",
    "Keep one of the two entries.",
    "B10",
)
FEATURE = code(
    "Y006",
    Severity.ERROR,
    "A YAML document uses a feature that is not allowed here.",
    "Write plain keys, texts and lists: no anchors, aliases, tags, merge keys,"
    " directives, folded texts or further documents.",
    "B10",
)
COMMENT = code(
    "Y007",
    Severity.ERROR,
    "A YAML document holds a comment, which is free text.",
    "Remove the comment: what is published must fit the named fields.",
    "B14",
)
EMPTY = code(
    "Y008",
    Severity.ERROR,
    "A YAML document is empty or is no mapping.",
    "Write the documented keys at the top level.",
    "B10",
)

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """A document and where its values stand.

    Attributes:
        value: The top mapping; every scalar in it is a text.
        lines: The line, from 1, of every value (of its key, if it has one).

    """

    value: dict[str, YamlValue]
    lines: dict[Location, int]


@dataclass(slots=True)
class _Open:
    """A mapping or list whose end has not been read yet."""

    location: Location
    items: list[YamlValue] | dict[str, YamlValue]
    key: str | None = None

    def next_location(self) -> Location:
        """Return where the next value belongs."""
        if isinstance(self.items, list):
            return (*self.location, len(self.items))
        return (*self.location, self.key or "")

    def add(self, value: YamlValue) -> None:
        """Put a finished value in its place."""
        if isinstance(self.items, list):
            self.items.append(value)
        else:
            self.items[self.key or ""] = value
            self.key = None


def read_yaml(data: bytes, path: str, *, comments: bool = False) -> YamlDocument:
    """Read a YAML document whose top level is a mapping.

    Args:
        data: The bytes of the file.
        path: The file's name in findings.
        comments: Accept comments; for files of the registry itself.

    Raises:
        RegistryError: Y001 to Y008; nothing else, whatever the bytes.

    """
    if len(data) > limits.YAML_BYTES:
        what = f"{len(data)} bytes, at most {limits.YAML_BYTES} are allowed"
        raise RegistryError(finding(TOO_BIG, path, what))
    text = decode(data, path, NOT_TEXT)
    reader = _Reader(path, text)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            reader.take(event)
    except yaml.YAMLError as error:
        raise RegistryError(_syntax(error, path)) from None
    if not comments:
        reader.refuse_comments()
    if not isinstance(reader.root, dict):
        raise RegistryError(finding(EMPTY, path, "the top level is no mapping"))
    return YamlDocument(reader.root, reader.lines)


class _Reader:
    """Builds the value from events and refuses what is not allowed."""

    def __init__(self, path: str, text: str) -> None:
        self.root: YamlValue | None = None
        self.lines: dict[Location, int] = {}
        self._path = path
        self._text = text
        self._open: list[_Open] = []
        self._nodes = 0
        self._documents = 0
        self._scalars: list[tuple[int, int]] = []

    def take(self, event: yaml.Event) -> None:
        """Use one event of the parser."""
        start, _ = _span(event)
        line = start.line + 1
        match event:
            case yaml.AliasEvent():
                raise self._refused("an alias", line)
            case yaml.DocumentStartEvent():
                self._start_document(event, line)
            case yaml.ScalarEvent():
                self._scalar(event, line)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._start(event, line)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                done = self._open.pop()
                self._place(done.items)

    def refuse_comments(self) -> None:
        """Refuse a ``#`` that stands outside every scalar."""
        for position in self._outside_scalars():
            if self._text[position] == "#":
                line = self._text.count("\n", 0, position) + 1
                what = "a comment stands in the document"
                raise RegistryError(finding(COMMENT, self._path, what, line=line))

    def _outside_scalars(self) -> Iterator[int]:
        at = 0
        for start, end in self._scalars:
            yield from range(at, start)
            at = end
        yield from range(at, len(self._text))

    def _start_document(self, event: yaml.DocumentStartEvent, line: int) -> None:
        self._documents += 1
        if self._documents > 1:
            raise self._refused("a second document", line)
        if event.version is not None or event.tags:
            raise self._refused("a directive", line)

    def _scalar(self, event: yaml.ScalarEvent, line: int) -> None:
        self._check_node(event, line)
        start, end = (mark.index for mark in _span(event))
        if event.style == ">":
            raise self._refused("a folded text", line)
        if event.style == "|" and self._text[start:end].partition("\n")[0] != "|":
            raise self._refused("a block text with a header", line)
        self._scalars.append((start, end))
        top = self._open[-1] if self._open else None
        if top is not None and isinstance(top.items, dict) and top.key is None:
            self._key(top, event.value, line)
        else:
            self._note_line(line)
            self._place(event.value)

    def _key(self, top: _Open, key: str, line: int) -> None:
        assert isinstance(top.items, dict)  # noqa: S101 - narrows the type
        if key == "<<":
            raise self._refused("a merge key", line)
        if key in top.items:
            what = f'the key "{shown(key)}" appears twice'
            raise RegistryError(finding(DUPLICATE, self._path, what, line=line))
        top.key = key
        self.lines[(*top.location, key)] = line

    def _start(
        self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent, line: int
    ) -> None:
        self._check_node(event, line)
        if len(self._open) >= limits.YAML_DEPTH:
            what = f"nested deeper than {limits.YAML_DEPTH} levels"
            raise RegistryError(finding(TOO_DEEP, self._path, what, line=line))
        top = self._open[-1] if self._open else None
        if top is not None and isinstance(top.items, dict) and top.key is None:
            raise self._refused("a key that is no text", line)
        self._note_line(line)
        location = top.next_location() if top else ()
        mapping = isinstance(event, yaml.MappingStartEvent)
        self._open.append(_Open(location, {} if mapping else []))

    def _check_node(self, event: yaml.NodeEvent, line: int) -> None:
        self._nodes += 1
        if self._nodes > limits.YAML_NODES:
            what = f"more than {limits.YAML_NODES} values"
            raise RegistryError(finding(TOO_BIG, self._path, what, line=line))
        if event.anchor is not None:
            raise self._refused("an anchor", line)
        if getattr(event, "tag", None) is not None:
            raise self._refused("a tag", line)

    def _note_line(self, line: int) -> None:
        location = self._open[-1].next_location() if self._open else ()
        self.lines.setdefault(location, line)

    def _place(self, value: YamlValue) -> None:
        if self._open:
            self._open[-1].add(value)
        else:
            self.root = value

    def _refused(self, what: str, line: int) -> RegistryError:
        return RegistryError(
            finding(FEATURE, self._path, f"{what} is not allowed", line=line)
        )


def _span(event: yaml.Event) -> tuple[Any, Any]:
    start, end = event.start_mark, event.end_mark
    assert start is not None  # noqa: S101 - parsers always set marks
    assert end is not None  # noqa: S101 - the same
    return start, end


def _syntax(error: yaml.YAMLError, path: str) -> Finding:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None)
    line = None if mark is None else mark.line + 1
    return finding(NOT_YAML, path, str(problem or "not YAML"), line=line)
