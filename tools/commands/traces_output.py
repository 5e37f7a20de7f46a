"""Where `powerkit trace` prints: a file, written whole or not at all, or the output."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from registry.documents.findings import shown
from tools.files.writing import whole

__all__ = ["CELL_CHARACTERS", "milliseconds", "opened", "print_rows"]

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
    from tools.commands.columns import print_columns  # only where a table is drawn

    print_columns(
        list(rows[0]),
        [[_cell(value) for value in row.values()] for row in rows],
        out,
        numbers=[at for at, name in enumerate(rows[0]) if name not in left],
    )


def milliseconds(ns: float | None) -> str:
    """Nanoseconds as milliseconds with three decimals, or nothing."""
    return "" if ns is None else f"{ns / 1e6:,.3f}"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.6g}"
    return f"{value:,}" if type(value) is int else shown(value, CELL_CHARACTERS)
