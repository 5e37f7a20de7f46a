"""Weights that a user gives item by item: ``weights:FILE``.

The file is CSV with the columns name and weight, or a JSON object of weights by name.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from registry.documents import limits
from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
    shown,
)
from registry.documents.strict_json import read_json
from tools.load.items import Item
from tools.load.streams import Floats

__all__ = ["read_weights"]

_FILE_BYTES: Final = 32 * limits.MIB

Q008 = code(
    "Q008",
    Severity.ERROR,
    "A file of weights does not give every item one weight.",
    "Write a table with the columns name and weight, or a JSON object; a finite number"
    " of at least 0 for every item and for nothing else.",
)


def read_weights(path: Path, items: Sequence[Item]) -> Floats:
    """The weights of items, in their order.

    Raises:
        RegistryError: Q008 or J001 to J007, with every problem.
    """
    with path.open("rb") as file:
        data = file.read(_FILE_BYTES + 1)
    if len(data) > _FILE_BYTES:
        what = f"more than {_FILE_BYTES} bytes"
        raise RegistryError(finding(Q008, str(path), what))
    problems: list[Finding] = []
    found: dict[str, float] = {}
    known = {item.name for item in items}
    for line, name, weight in _entries(data, path):
        value = _number(weight)
        if name not in known:
            what = f"no item is called {shown(name)}"
        elif name in found:
            what = f"a name is there twice: {shown(name)}"
        elif value is None:
            what = f"{shown(name)} has no finite weight from 0: {shown(weight)}"
        else:
            found[name] = value
            continue
        problems.append(finding(Q008, str(path), what, line=line))
    missing = [item.name for item in items if item.name not in found]
    if missing and not problems:
        named = ", ".join(shown(name) for name in missing[:3])
        what = f"{len(missing)} items have no weight: {named}"
        problems.append(finding(Q008, str(path), what))
    if problems:
        raise RegistryError(problems[: limits.SHOWN_PER_DOCUMENT])
    return np.array([found[item.name] for item in items])


def _entries(data: bytes, path: Path) -> Iterator[tuple[int | None, str, Any]]:
    if path.suffix.lower() == ".json":
        document = read_json(data, str(path), max_bytes=_FILE_BYTES, floats=True)
        if not isinstance(document, dict):
            what = "the top level is no object of weights by name"
            raise RegistryError(finding(Q008, str(path), what))
        yield from ((None, name, weight) for name, weight in document.items())
        return
    try:
        text = data.decode("utf-8-sig")
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        if not {"name", "weight"} <= set(reader.fieldnames or ()):
            what = "the columns name and weight are not both there"
            raise RegistryError(finding(Q008, str(path), what))
        for row in reader:
            yield reader.line_num, str(row["name"]), row["weight"]
    except (UnicodeDecodeError, csv.Error) as error:
        what = f"no table in UTF-8: {error}"
        raise RegistryError(finding(Q008, str(path), what)) from None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and number >= 0 else None
