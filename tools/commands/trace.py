"""`powerkit trace`: read, combine, summarise and convert Chrome traces.

Each subcommand is a function of a module of its own, which loads what it needs when it
is called.
"""

from __future__ import annotations

import typer

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    help="Read, combine and summarise Chrome traces.",
    rich_markup_mode=None,
)
