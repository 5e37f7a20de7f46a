"""Arguments that subcommands of `powerkit trace` share, and what they print."""

from __future__ import annotations

import json
import sys
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
    from tools.commands.columns import print_columns  # only where a table is drawn

    texts = [
        [f"{one:,}" if isinstance(one, int) else shown(one) for one in row]
        for row in rows
    ]
    print_columns(heads, texts, sys.stdout, numbers=range(1, len(heads)))
