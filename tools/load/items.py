"""The items that load asks for, such as models or files: named, counted, chosen.

``3`` is item-1 to item-3, ``a,b,c`` are three names, and anything that is a file, or
whose ending says so, is read: text with a name a line, CSV with the columns name and
bytes, JSON or YAML with a list of names or of {name, bytes}, alone or under `items` or
`models`. The order is that of the ranks, so the first item is the most popular one.
"""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from registry.documents import limits
from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
    shown,
)
from registry.documents.patterns import Expression
from registry.documents.strict_json import read_json
from registry.documents.strict_yaml import read_yaml

__all__ = [
    "ITEMS",
    "NAME_CHARACTERS",
    "Q004",
    "Item",
    "bad_name",
    "read_items",
    "select",
]

ITEMS: Final = 100_000
"""The most items of a plan."""
NAME_CHARACTERS: Final = 256
"""The longest name of an item."""
_FILE_BYTES: Final = 32 * limits.MIB
_ENDINGS: Final = frozenset({".txt", ".csv", ".json", ".yaml", ".yml"})
_OPTION: Final = "--items"

Q004 = code(
    "Q004",
    Severity.ERROR,
    "The items of a load plan cannot be read.",
    "Give a number, names with commas between them, or a file of names; every name"
    " once, printable, at most 256 characters.",
)
Q005 = code(
    "Q005",
    Severity.ERROR,
    "A choice among the items chooses none, or is not understood.",
    "Give names or regular expressions that match items, and a share above 0: up to 1"
    " as a fraction, above 1 as percent up to 100.",
)


@dataclass(frozen=True, slots=True)
class Item:
    """Something that requests ask for.

    Attributes:
        name: what it is called.
        bytes: its size, if that is known.

    """

    name: str
    bytes: int | None = None


def read_items(text: str) -> tuple[Item, ...]:
    """The items that a text names.

    Raises:
        RegistryError: Q004, J001 to J007 or Y001 to Y008, with every problem.
    """
    text = text.strip()
    if re.fullmatch(r"[0-9]{1,9}", text):
        count = int(text)
        _refuse_count(count, _OPTION)
        return tuple(Item(f"item-{i:0{len(str(count))}}") for i in range(1, count + 1))
    path = Path(text)
    looks = path.suffix.lower() in _ENDINGS and "," not in text
    # Unlike Path.is_file, it bears texts that are too long for a name.
    if looks or os.path.isfile(text):  # noqa: PTH113
        rows, where = list(_rows(path)), str(path)
    else:
        names = [name.strip() for name in text.split(",")]
        rows, where = [(None, {"name": name}) for name in names], _OPTION
    _refuse_count(len(rows), where)
    return _checked(rows, where)


def select(
    items: Sequence[Item], models: str | None, percentage: str | None
) -> tuple[Item, ...]:
    """Choose among items.

    Args:
        items: all of them.
        models: names and regular expressions with commas between them; every item that
            one of them names or, if none has that name, matches anywhere.
        percentage: the share of the items, of which the first by name are kept, rounded
            up.

    Raises:
        RegistryError: Q005, with every problem.
    """
    problems: list[Finding] = []
    chosen = tuple(items)
    if models is not None:
        wanted: set[str] = set()
        for part in (part.strip() for part in models.split(",")):
            try:
                wanted |= _matches(part, items)
            except RegistryError as error:
                problems += error.findings
        chosen = tuple(item for item in chosen if item.name in wanted)
    if percentage is not None:
        try:
            share = _share(percentage)
        except RegistryError as error:
            problems += error.findings
        else:
            kept = sorted(item.name for item in chosen)[
                : math.ceil(share * len(chosen))
            ]
            names = set(kept)
            chosen = tuple(item for item in chosen if item.name in names)
    if problems:
        raise RegistryError(problems[: limits.SHOWN_PER_DOCUMENT])
    return chosen


def bad_name(name: object) -> str | None:
    """What is wrong with a name, or None."""
    if not isinstance(name, str):
        return f"a name is no text: {shown(name)}"
    if not name or name != name.strip():
        return f"a name is empty or has space around it: {shown(repr(name))}"
    if len(name) > NAME_CHARACTERS:
        return f"a name has {len(name)} characters, at most {NAME_CHARACTERS}"
    if not name.isprintable():
        return f"a name has characters that cannot be printed: {shown(name)}"
    return None


def _matches(part: str, items: Sequence[Item]) -> set[str]:
    named = {item.name for item in items if item.name == part}
    if named:
        return named
    try:
        pattern = Expression(part)
    except ValueError as error:
        what = f"{shown(part)} is no regular expression: {error}"
        raise RegistryError(finding(Q005, "--models", what)) from None
    found = {item.name for item in items if part and pattern.found_in(item.name)}
    if not found:
        what = f"no item is called or matches {shown(part) or 'nothing'}"
        raise RegistryError(finding(Q005, "--models", what))
    return found


def _share(text: str) -> Fraction:
    plain = re.fullmatch(r"\s*[0-9]{0,9}(\.[0-9]{0,18})?\s*", text)
    value = Fraction(text) if plain and re.search("[0-9]", text) else Fraction(0)
    if value > 1:
        value /= 100
    if not 0 < value <= 1:
        what = f"no share of the items: {shown(text) or 'nothing'}"
        raise RegistryError(finding(Q005, "--models-percentage", what))
    return value


def _refuse_count(count: int, where: str) -> None:
    if not 1 <= count <= ITEMS:
        what = f"{count} items, from 1 to {ITEMS} are possible"
        raise RegistryError(finding(Q004, where, what))


def _rows(path: Path) -> Iterator[tuple[int | None, Any]]:
    """The items of a file, each with its line if it has one."""
    with path.open("rb") as file:
        data = file.read(_FILE_BYTES + 1)
    if len(data) > _FILE_BYTES:
        what = f"more than {_FILE_BYTES} bytes"
        raise RegistryError(finding(Q004, str(path), what))
    ending = path.suffix.lower()
    if ending in {".yaml", ".yml"}:
        document: Any = read_yaml(data, str(path), comments=True).value
    elif ending == ".json":
        document = read_json(data, str(path), max_bytes=_FILE_BYTES)
    else:
        yield from _lines(data, path, table=ending == ".csv")
        return
    if isinstance(document, dict):
        document = document.get("items", document.get("models"))
    if not isinstance(document, list):
        what = "no list of items, neither alone nor under items or models"
        raise RegistryError(finding(Q004, str(path), what))
    for entry in document:
        yield None, {"name": entry} if isinstance(entry, str) else entry


def _lines(
    data: bytes, path: Path, *, table: bool
) -> Iterator[tuple[int | None, dict[str, Any]]]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"no UTF-8 text at byte {error.start}"
        raise RegistryError(finding(Q004, str(path), what)) from None
    if not table:
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip() and not line.lstrip().startswith("#"):
                yield number, {"name": line.strip()}
        return
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        if "name" not in (reader.fieldnames or ()):
            raise RegistryError(finding(Q004, str(path), "no column is called name"))
        for row in reader:
            size = row.get("bytes")
            yield reader.line_num, {"name": row["name"], "bytes": size or None}
    except csv.Error as error:
        where = reader.reader.line_num
        raise RegistryError(finding(Q004, str(path), str(error), line=where)) from None


def _checked(rows: Sequence[tuple[int | None, Any]], where: str) -> tuple[Item, ...]:
    items: dict[str, Item] = {}
    problems: list[Finding] = []
    for line, row in rows:
        if not isinstance(row, dict) or not row.keys() <= {"name", "bytes"}:
            what = f"no name and no mapping of name and bytes: {shown(row)}"
            problems.append(finding(Q004, where, what, line=line))
            continue
        name: Any = row.get("name")
        size = row.get("bytes")
        wrong = bad_name(name)
        if wrong is None and name in items:
            wrong = f"a name is there twice: {shown(name)}"
        if size is not None and not _is_size(size):
            wrong = f"bytes is no whole number from 0: {shown(size)}"
        if wrong is not None:
            problems.append(finding(Q004, where, wrong, line=line))
        else:
            items[name] = Item(name, None if size is None else int(size))
    if problems:
        raise RegistryError(problems[: limits.SHOWN_PER_DOCUMENT])
    return tuple(items.values())


def _is_size(size: object) -> bool:
    if isinstance(size, str):
        return re.fullmatch("[0-9]{1,15}", size) is not None
    return isinstance(size, int) and not isinstance(size, bool) and 0 <= size < 2**53
