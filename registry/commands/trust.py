"""`registry trust …`: contributors and their keys."""

from __future__ import annotations

from pathlib import Path

import typer

from registry.commands.options import Rev, Root
from registry.commands.trees import open_tree

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True, help="Contributors and their keys.", rich_markup_mode=None
)


@app.command("allowed-signers")
def allowed_signers(root: Root = Path(), rev: Rev = None) -> None:
    """Print all keys as `ssh-keygen -Y verify` takes them."""
    from registry.gate.allowed_signers import allowed_signers as lines

    typer.echo(lines(open_tree(root, rev)), nl=False)
