"""Where `powerkit trace` prints: a file, written whole or not at all, or the output."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from registry.documents.findings import shown
from tools.files.writing import whole

__all__ = ["CELL_CHARACTERS", "WIDTH", "milliseconds", "opened", "print_rows"]

WIDTH = 160
"""The width of tables in files and logs, which have none."""

CELL_CHARACTERS = 300
"""How much of a text is shown in a table."""


@contextmanager
def opened(path: Path | None) -> Iterator[TextIO]:
    """A stream to print to.

    Args:
        path: a file that is replaced when all is written; standard output if None.
    """
    if path is None:
        yield sys.stdout
        return
    with whole(path) as part, part.open("x", encoding="utf-8", newline="\n") as file:
        yield file


def print_rows(
    rows: Sequence[Mapping[str, object]],
    out: TextIO,
    *,
    left: Sequence[str] = ("name",),
) -> None:
    """Print rows as a table for people.

    Args:
        rows: columns by name; all rows have the same.
        out: where to.
        left: the columns that are aligned to the left.
    """
    if not rows:
        return
    from rich.console import Console  # slow, and not needed for programs
    from rich.table import Table
    from rich.text import Text

    width = None if out.isatty() else WIDTH
    table = Table(box=None, pad_edge=False)
    for name in rows[0]:
        if name in left:
            table.add_column(name, overflow="fold")
        else:
            table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(_cell(value)) for value in row.values()))
    Console(file=out, width=width).print(table)


def milliseconds(ns: float | None) -> str:
    """Nanoseconds as milliseconds with three decimals, or nothing."""
    return "" if ns is None else f"{ns / 1e6:,.3f}"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.6g}"
    return f"{value:,}" if type(value) is int else shown(value, CELL_CHARACTERS)
