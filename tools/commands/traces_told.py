"""Arguments that subcommands of `powerkit trace` share, and what they print."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from registry.documents.findings import shown

__all__ = ["Out", "Trace", "print_document", "print_line", "print_table"]

Trace = Annotated[
    Path, typer.Argument(metavar="FILE", help="A Chrome trace; gzip is recognised.")
]
Out = Annotated[
    Path,
    typer.Option(
        "--output", "-o", help="The new file; a trace is gzip if it ends in .gz."
    ),
]


def print_document(document: dict[str, Any]) -> None:
    """Print JSON for a program."""
    typer.echo(json.dumps(document, indent=2, sort_keys=True))


def print_line(text: str) -> None:
    """Print a line for people; what comes from files is made printable."""
    typer.echo(shown(text, 500))


def print_table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table for people: a column of texts, then columns of numbers."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for number, head in enumerate(heads):
        table.add_column(head, justify="right" if number else "left")
    for row in rows:
        cells = (f"{one:,}" if isinstance(one, int) else shown(one) for one in row)
        table.add_row(*cells)
    Console(markup=False, highlight=False).print(table)
