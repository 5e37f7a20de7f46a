"""`registry watch …`: what is published, looked at as a stranger would."""

from __future__ import annotations

import typer

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    help="Check what is published as a stranger would.",
    rich_markup_mode=None,
)


@app.callback()
def _group() -> None:
    """Keep the group even while it has one command."""
