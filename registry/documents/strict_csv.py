"""CSV tables from strangers: a strict grammar, typed by the catalogue, read by polars.

A table is printable ASCII with LF line ends and no quotes. Its cells are plain decimal
numbers or words of an enumeration, so no cell can be a formula, a path or a name.
Missing values are empty.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Final

import polars as pl

from registry.documents import csv_cells, csv_shape, decimals
from registry.documents.columns import Column, column, required, resembling
from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["read_table", "write_table"]

HEADER = code(
    "C005",
    Severity.ERROR,
    "The header of a table names a column that the table cannot have.",
    "Use a column of docs/columns.md, leave it out, or propose it in an issue.",
    "B9",
    "B14",
)
DUPLICATE = code(
    "C006",
    Severity.ERROR,
    "A table has the same column twice.",
    "Keep one of the two columns.",
    "B9",
)
MISSING = code(
    "C007",
    Severity.ERROR,
    "A table lacks a column.",
    "Add the column.",
    "B9",
)
NO_ROWS = code(
    "C008",
    Severity.ERROR,
    "A table has no rows.",
    "Add the measured rows, or leave the bundle out.",
    "B9",
)
UNREADABLE = code(
    "C009",
    Severity.ERROR,
    "A table cannot be read.",
    "Write the table with `powerkit pack`.",
    "B8",
    "B9",
)

_SEPARATOR: Final = ","
_EXPLAINED: Final = 20
"""How many unknown columns are compared with known ones, which takes time."""


def read_table(data: bytes, path: str, table: str) -> pl.DataFrame:
    """Read a table.

    Args:
        data: The bytes of the file.
        path: The file's name in findings.
        table: ``samples``, ``levels`` or ``runs``.

    Returns:
        A frame with the header's columns in order: ids as Int64, counters and gauges
        as Float64, texts as String, missing values as null.

    Raises:
        RegistryError: C001 to C016; the first bad cells of each column by line, and
            how many there are. Nothing else, whatever the bytes.

    """
    csv_shape.check_text(data, path)
    csv_shape.check_header(data, path)
    names = data.partition(b"\n")[0].decode("ascii").split(_SEPARATOR)
    columns = _header(names, path, table)
    csv_shape.check_rows(data, path, len(names))
    if data.count(b"\n") == 1:
        raise RegistryError(finding(NO_ROWS, path, "there is only a header", line=1))
    raw = _raw(data, path)
    problems: list[Finding] = []
    typed = [csv_cells.typed(raw[c.name], c, table, path, problems) for c in columns]
    if problems:
        raise RegistryError(problems)
    return pl.DataFrame(typed)


def write_table(frame: pl.DataFrame, table: str) -> bytes:
    """Write a table in canonical form, which ``read_table`` reads back unchanged.

    Numbers have no exponent, at most nine decimals and no trailing zeros; nulls and
    NaN are empty.

    Raises:
        RegistryError: C005 to C008, for frames that are no such table.
        ValueError: A number is infinite or too large.

    """
    columns = _header(frame.columns, f"{table}.csv", table)
    if frame.is_empty():
        raise RegistryError(finding(NO_ROWS, f"{table}.csv", "the frame is empty"))
    texts = [_written(frame[entry.name], entry) for entry in columns]
    return pl.DataFrame(texts).write_csv(quote_style="never").encode("ascii")


def _header(names: Sequence[str], path: str, table: str) -> list[Column]:
    problems: list[Finding] = []
    found: list[Column] = []
    for number, name in enumerate(names, start=1):
        entry = column(name, table)
        if entry is None:
            what = f'column {number} "{shown(name)}" is no column of {table}.csv'
            near = resembling(name, table) if len(problems) < _EXPLAINED else None
            if near is not None:
                what += f"; the catalogue has {near}"
            problems.append(finding(HEADER, path, what, line=1))
        elif entry in found:
            what = f"the column {name} appears twice"
            problems.append(finding(DUPLICATE, path, what, line=1))
        else:
            found.append(entry)
    for name in required(table):
        if name not in names:
            what = f"{table}.csv has no column {name}"
            problems.append(finding(MISSING, path, what, line=1))
    if problems:
        raise RegistryError(problems)
    return found


def _raw(data: bytes, path: str) -> pl.DataFrame:
    try:
        return pl.read_csv(
            io.BytesIO(data),
            infer_schema=False,
            separator=_SEPARATOR,
            quote_char=None,
            encoding="utf8",
        )
    except pl.exceptions.PolarsError as error:
        raise RegistryError(finding(UNREADABLE, path, str(error))) from None


def _written(values: pl.Series, entry: Column) -> pl.Series:
    """Return a column as the texts of its cells, null where a value is missing."""
    if entry.kind == "text":
        return values.cast(pl.String)
    if values.dtype.is_integer():
        return values.cast(pl.String)
    numbers = values.cast(pl.Float64).fill_nan(None)
    whole = numbers.drop_nulls()
    if ((whole == whole.round()) & (whole.abs() < csv_cells.WHOLE_BOUND)).all():
        return numbers.cast(pl.Int64).cast(pl.String)
    texts = [None if n is None else decimals.plain(n) for n in numbers.to_list()]
    return pl.Series(values.name, texts, dtype=pl.String)
