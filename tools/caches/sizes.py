"""How large items are, and how much memory there is for them.

A size's file is CSV or TSV with a header line (`name` and `bytes`; `item`, `model` and
`model_name` also name the item), or a JSON object of sizes by name. That of memory
which a framework takes beside an item's own has the same form.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Final

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
from registry.documents.strict_text import decode

__all__ = ["Capacity", "estimates", "known_sizes", "read_capacity", "read_sizes"]

MOST_BYTES: Final = 1 << 60
_FILE_BYTES: Final = 32 * limits.MIB
_NAMES: Final = ("name", "item", "model", "model_name")
_UNITS: Final = {
    "": 1,
    "b": 1,
    **{f"{unit}b": 1000**power for power, unit in enumerate("kmgt", 1)},
    **{f"{unit}ib": 1024**power for power, unit in enumerate("kmgt", 1)},
}
_AMOUNT: Final = re.compile(
    r"([0-9]{1,20}(?:\.[0-9]{1,20})?(?:e[0-9]{1,2})?) ?([a-z%]*)"
)

F050 = code(
    "F050",
    Severity.ERROR,
    "A file of sizes cannot be read.",
    "Write CSV with the columns name and bytes, or a JSON object of bytes by name.",
)
F051 = code(
    "F051",
    Severity.ERROR,
    "The size of an item is not known.",
    "Give --sizes FILE, or make the plan of items with bytes.",
)

Capacity = int | float
"""Bytes, or a share above 0 and up to 1 of something that is said beside it."""


def read_capacity(text: str) -> Capacity:
    """Read an amount of memory: bytes such as `2GiB`, a share such as `0.8` or `80%`.

    A number without unit is a share if it has a point and is at most 1; bytes else.

    Raises:
        ValueError: it is none; the message says why.
    """
    match = _AMOUNT.fullmatch(text.strip().lower())
    unit = "" if match is None else match[2]
    if match is None or unit not in (*_UNITS, "%"):
        raise ValueError("it must be bytes, as 2GiB, or a share, as 0.8 or 80%")
    number = Decimal(match[1])
    share = unit == "%" or (unit == "" and "." in match[1] and number <= 1)
    if share:
        part = float(number) / (100 if unit == "%" else 1)
        if not 0 < part <= 1:
            raise ValueError("a share is above 0 and at most 1")
        return part
    amount = number * _UNITS[unit]
    if unit == "" and amount != int(amount):
        raise ValueError("a share is at most 1, and bytes are whole")
    if amount > MOST_BYTES:
        raise ValueError("so much memory does not exist")
    return int(amount)


def read_sizes(path: Path) -> dict[str, int]:
    """Read bytes by name.

    Raises:
        RegistryError: F050, all problems with their lines; J codes for JSON.
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        data = file.read(_FILE_BYTES + 1)
    if len(data) > _FILE_BYTES:
        raise RegistryError([finding(F050, str(path), "it is larger than 32 MiB")])
    if data.lstrip()[:1] == b"{":
        return _checked(path, _json_rows(data, path))
    text = decode(data, str(path), F050)
    return _checked(path, _csv_rows(text, path))


def known_sizes(
    names: Sequence[str], planned: Sequence[int | None], told: Mapping[str, int]
) -> list[int]:
    """Bytes of each item: as a file tells, else as the plan says.

    Raises:
        RegistryError: F051, with up to a hundred items whose size nobody tells.
    """
    sizes = [told.get(name, size) for name, size in zip(names, planned, strict=True)]
    lacking = [name for name, size in zip(names, sizes, strict=True) if size is None]
    if lacking:
        shown_ = lacking[: limits.SHOWN_PER_DOCUMENT]
        problems = [
            finding(F051, shown(name), "nothing says how large") for name in shown_
        ]
        if len(lacking) > len(shown_):
            what = f"{len(lacking) - len(shown_)} more items have no size"
            problems.append(finding(F051, "-", what))
        raise RegistryError(problems)
    return [size for size in sizes if size is not None]


def estimates(
    sizes: Sequence[int],
    rate: float,
    names: Sequence[str] = (),
    internal: Mapping[str, int] | None = None,
) -> list[int]:
    """The memory that each item is taken to need, as TRIMS's server estimates it.

    Args:
        sizes: bytes of each item's file.
        rate: what they are multiplied by.
        names: the items, where internal memory counts too.
        internal: bytes that are added; an item that it lacks has none.
    """
    grown = [round(size * rate) for size in sizes]
    if internal is None:
        return grown
    return [
        size + internal.get(name, 0) for size, name in zip(grown, names, strict=True)
    ]


def _json_rows(data: bytes, path: Path) -> list[tuple[int | None, str, object]]:
    told = read_json(data, str(path), max_bytes=_FILE_BYTES)
    assert isinstance(told, dict)  # noqa: S101  it begins with a brace
    return [(None, name, value) for name, value in told.items()]


def _csv_rows(text: str, path: Path) -> list[tuple[int | None, str, object]]:
    first = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text), delimiter="\t" if "\t" in first else ",")
    try:
        rows = [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        what = f"it is no CSV: {error}"
        raise RegistryError(
            [finding(F050, str(path), what, line=reader.line_num)]
        ) from None
    header = [cell.strip().lower() for cell in rows[0][1]] if rows else []
    named = [header.index(name) for name in _NAMES if name in header]
    if not named or "bytes" not in header:
        what = "the first line names no columns name and bytes"
        raise RegistryError([finding(F050, str(path), what, line=1)])
    name, size = named[0], header.index("bytes")
    short = [number for number, row in rows if len(row) != len(header)]
    if short:
        what = f"{len(short)} lines have another number of cells than the first"
        raise RegistryError([finding(F050, str(path), what, line=short[0])])
    return [(number, row[name].strip(), row[size].strip()) for number, row in rows[1:]]


def _checked(
    path: Path, rows: Sequence[tuple[int | None, str, object]]
) -> dict[str, int]:
    sizes: dict[str, int] = {}
    problems: list[Finding] = []
    for line, name, value in rows:
        size = _whole(value)
        if size is None:
            what = f"{shown(name)}: no whole number of bytes: {shown(value)}"
        elif name in sizes:
            what = f"{shown(name)} stands there twice"
        else:
            sizes[name] = size
            continue
        problems.append(finding(F050, str(path), what, line=line))
        if len(problems) == limits.SHOWN_PER_DOCUMENT:
            break
    if problems:
        raise RegistryError(problems)
    return sizes


def _whole(value: object) -> int | None:
    if isinstance(value, str):
        value = int(value) if re.fullmatch(r"[0-9]{1,19}", value) else None
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= MOST_BYTES else None
