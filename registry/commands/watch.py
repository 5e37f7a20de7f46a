"""`registry watch …`: what is published, looked at as a stranger would."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from registry import printing
from registry.commands.options import Jobs, Json, Repository, Root
from registry.documents.findings import RegistryError
from registry.gate import terminal
from registry.gate.progress import progress_line

if TYPE_CHECKING:
    from registry.gate.github.connection import Connection

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    help="Check what is published as a stranger would.",
    rich_markup_mode=None,
)


@app.command()
def check(
    out: Annotated[Path, typer.Option(help="Write the outcome here, as JSON.")],
    place: Annotated[
        str,
        typer.Option(
            "--from", help="Where releases are: github:OWNER/NAME, a URL or a folder."
        ),
    ] = "github:",
    root: Root = Path(),
    repository: Repository = None,
    pages: Annotated[
        str | None,
        typer.Option(help="The URL of the site that serves the release folder."),
    ] = None,
    grace_hours: Annotated[
        int, typer.Option(min=0, help="How long main's data may wait for a release.")
    ] = 24,
    days: Annotated[
        int, typer.Option(min=0, help="How far to look ahead for what ends.")
    ] = 30,
    jobs: Jobs = 1,
    *,
    json_output: Json = False,
) -> None:
    """Check the newest release, its site, keys, dates and settings.

    The checkout is main with its whole history. Ends with 1 if a check failed.
    """
    from registry.upkeep.outcomes import as_lines, outcomes_bytes
    from registry.upkeep.situation import Situation
    from registry.upkeep.watching import watch

    with progress_line(hidden=json_output) as show:
        connection = _connection(root, repository)
        if place == "github:" and connection is not None:
            place = f"github:{connection.name}"
        situation = Situation(
            place=place,
            root=root,
            connection=connection,
            now=int(time.time()),
            pages=pages,
            grace=grace_hours * 3600,
            days=days,
            jobs=jobs,
            progress=show,
        )
        outcomes = watch(situation)
    text = outcomes_bytes(outcomes).decode("utf-8")
    printing.write(out, text)
    document = outcomes.model_dump(mode="json", by_alias=True)
    shown = printing.Shown(document, as_lines(outcomes))
    printing.show(shown, json_output=json_output)
    raise typer.Exit(terminal.EXIT_FINDINGS if outcomes.failed else terminal.EXIT_OK)


@app.command()
def report(
    outcome: Annotated[Path, typer.Argument(help="What `watch check` wrote.")],
    repository: Repository = None,
    run_url: Annotated[
        str | None,
        typer.Option(
            help="The address of the run, for the issues; on GitHub's runners it is"
            " known."
        ),
    ] = None,
    *,
    json_output: Json = False,
) -> None:
    """Open, continue or close an issue for each failing check.

    Again is harmless. A missing or broken outcome gets an issue of its own.
    """
    from registry.gate.github.connection import connect
    from registry.gate.github.entering import named
    from registry.upkeep.issues import report as tell
    from registry.upkeep.outcomes import Outcomes, missing, read_outcomes

    outcomes: Outcomes | RegistryError
    try:
        outcomes = read_outcomes(outcome.read_bytes(), outcome.name)
    except OSError:
        outcomes = missing(outcome.name)
    except RegistryError as error:
        outcomes = error
    connection = connect(named(Path(), repository, os.environ))
    told = tell(connection, outcomes, run_url or _this_run(connection))
    document = {
        "schema": "watch-report/1",
        "issues": [
            {"check": one.check, "action": one.action, "number": one.number}
            for one in told
        ],
    }
    lines = [f"issue {one.number} about {one.check}: {one.action}" for one in told]
    printing.show(
        printing.Shown(document, lines or ["no issue, and none to open"]),
        json_output=json_output,
    )


def _this_run(connection: Connection) -> str | None:
    """The address of the workflow run that this is, if it is one."""
    number = os.environ.get("GITHUB_RUN_ID", "")
    if not number.isdigit():
        return None
    return f"{connection.server}/{connection.name}/actions/runs/{number}"


def _connection(root: Path, repository: str | None) -> Connection | None:
    """The repository, or None if nothing names one: then a few checks are skipped."""
    from registry.gate.github.connection import NO_REPOSITORY, connect
    from registry.gate.github.entering import named

    name = named(root, repository, os.environ)
    try:
        return connect(name)
    except RegistryError as error:
        if name is None and error.findings[0].code == NO_REPOSITORY.id:
            return None
        raise
