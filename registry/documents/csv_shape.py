"""The outer form of a CSV table: characters, lines and the number of their cells."""

from __future__ import annotations

from typing import Final

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
from registry.documents.strict_text import binary_kind

__all__ = ["check_header", "check_rows", "check_text"]

TOO_BIG = code(
    "C001",
    Severity.ERROR,
    "A table is larger than it may be.",
    "Record less often, or split the recording into several datasets.",
    "B6",
)
NOT_TEXT = code(
    "C002",
    Severity.ERROR,
    "A table is not plain text.",
    "Write the table as CSV; no archives, spreadsheets, Parquet or pickles.",
    "B8",
)
CHARACTER = code(
    "C003",
    Severity.ERROR,
    "A table holds a character that no table needs.",
    "Write numbers, catalogued words, commas and LF only: no quotes, spaces, CR,"
    " signs other than minus, or letters outside ASCII.",
    "B8",
    "B9",
    "B14",
)
RAGGED = code(
    "C004",
    Severity.ERROR,
    "Lines of a table do not have as many cells as the header, or lines are missing.",
    "Write each row with every cell, and end the file with exactly one LF.",
    "B9",
)

_ALLOWED: Final = (
    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,-\n"
)
_LF: Final = 10
_COMMA: Final = 44


def check_text(data: bytes, path: str) -> None:
    """Check the size, the kind and the characters of a file, and how it ends.

    Raises:
        RegistryError: C001 to C004.

    """
    if len(data) > limits.FILE_BYTES:
        what = f"{len(data)} bytes, at most {limits.FILE_BYTES} are allowed"
        raise RegistryError(finding(TOO_BIG, path, what))
    kind = binary_kind(data)
    if kind is not None:
        what = f"the file is {kind}, not plain text"
        raise RegistryError(finding(NOT_TEXT, path, what))
    strange = dict.fromkeys(data.translate(None, _ALLOWED))
    if strange:
        raise RegistryError(
            _strange(data, path, value)
            for value in tuple(strange)[: limits.SHOWN_PER_COLUMN]
        )
    if not data.endswith(b"\n"):
        what = "the last line has no end" if data else "the file is empty"
        line = data.count(b"\n") + 1
        raise RegistryError(finding(RAGGED, path, what, line=line))


def _strange(data: bytes, path: str, value: int) -> Finding:
    line = data.count(b"\n", 0, data.index(value)) + 1
    what = f'byte {value:#04x} ("{shown(chr(value))}") is not allowed in a table'
    return finding(CHARACTER, path, what, line=line)


def check_header(data: bytes, path: str) -> None:
    """Check the length of the header before it is split.

    Raises:
        RegistryError: C001.

    """
    end = data.index(b"\n")
    cells = data.count(b",", 0, end) + 1
    if end > limits.LINE_BYTES:
        what = f"{cells} columns, in a line longer than {limits.LINE_BYTES} bytes"
        raise RegistryError(finding(TOO_BIG, path, what, line=1))
    if cells > limits.COLUMNS:
        what = f"{cells} columns, at most {limits.COLUMNS} are allowed"
        raise RegistryError(finding(TOO_BIG, path, what, line=1))


def check_rows(data: bytes, path: str, cells: int) -> None:
    """Check that each line has as many cells as the header, and all bounds.

    Args:
        data: A file that ``check_text`` passed.
        path: The file's name in findings.
        cells: Cells of the header.

    Raises:
        RegistryError: C001 or C004, with the first lines that are wrong.

    """
    _check_count(data, path, cells)
    codes = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero(codes == _LF)
    problems = []
    lengths = np.diff(ends, prepend=-1) - 1
    long = np.flatnonzero(lengths > limits.LINE_BYTES)
    if len(long):
        what = f"a line is longer than {limits.LINE_BYTES} bytes"
        problems.append(finding(TOO_BIG, path, what, line=int(long[0]) + 1))
    commas = np.diff(np.searchsorted(np.flatnonzero(codes == _COMMA), ends), prepend=0)
    ragged = np.flatnonzero((commas + 1 != cells) | ((lengths == 0) & (cells == 1)))
    for index in ragged[: limits.SHOWN_PER_COLUMN]:
        number = int(commas[index]) + 1
        what = (
            "the line is empty"
            if lengths[index] == 0
            else f"the line has {number} cells, the header has {cells}"
        )
        problems.append(finding(RAGGED, path, what, line=int(index) + 1))
    if len(ragged) > limits.SHOWN_PER_COLUMN:
        what = f"{len(ragged)} lines in all do not fit the header"
        problems.append(finding(RAGGED, path, what))
    if problems:
        raise RegistryError(problems)


def _check_count(data: bytes, path: str, cells: int) -> None:
    """Count rows and cells before anything is made that has a place for each.

    Raises:
        RegistryError: C001.

    """
    lines = data.count(b"\n")
    if lines - 1 > limits.ROWS:
        what = f"{lines - 1} rows, at most {limits.ROWS} are allowed"
        raise RegistryError(finding(TOO_BIG, path, what))
    most = max(lines * cells, data.count(b",") + lines)
    if most > limits.CELLS:
        what = f"{most} cells, at most {limits.CELLS} are allowed"
        raise RegistryError(finding(TOO_BIG, path, what))
