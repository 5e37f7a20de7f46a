"""`registry github …`: the repository's settings on GitHub."""

from __future__ import annotations

import typer

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    help="The repository's settings on GitHub.",
    rich_markup_mode=None,
)


@app.callback()
def _group() -> None:
    """Keep the group even while it has one command."""
