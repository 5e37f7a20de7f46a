"""`registry github …`: the repository's settings on GitHub."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from registry import printing
from registry.commands.options import Json, Repository
from registry.gate import terminal
from registry.gate.progress import progress_line

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    help="The repository's settings on GitHub.",
    rich_markup_mode=None,
)


@app.command("audit-settings")
def audit_settings(
    repository: Repository = None,
    *,
    json_output: Json = False,
) -> None:
    """Compare settings, code owners and maintainers with what they must be.

    Ends with 1 if anything differs or cannot be read: what GitHub does not show to the
    token is not taken for fine. Settings need an administrator's token.
    Ends with 2 and text on standard error, also with --json, if it is called wrongly.
    """
    from registry.gate.github.connection import connect
    from registry.gate.github.entering import named
    from registry.gate.report import print_findings
    from registry.upkeep.audit import as_json, as_lines, audit

    with progress_line(hidden=json_output) as show:
        connection = connect(named(Path(), repository, os.environ))
        show(f"reading the settings of {connection.name}")
        done = audit(connection)
    if done.findings and not json_output:
        print_findings(done.findings)
    printing.show(
        printing.Shown(as_json(done), as_lines(done)), json_output=json_output
    )
    raise typer.Exit(terminal.EXIT_OK if done.fine else terminal.EXIT_FINDINGS)


@app.command()
def settings() -> None:
    """Print the wanted settings, why, and how to set them, as Markdown."""
    from registry.upkeep.settings_page import settings_page

    typer.echo(settings_page(), nl=False)
