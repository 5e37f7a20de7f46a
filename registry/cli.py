"""The `registry` command: parse, call, print. All work is done elsewhere.

Heavy packages load inside the subcommand that needs them, so `--help` stays fast.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from registry import __version__
from registry.gate import terminal

if TYPE_CHECKING:
    from registry.gate.verify import Report

app = typer.Typer(
    name="registry",
    help="Signed power measurements in, verified power models for Kepler out.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
trust_app = typer.Typer(
    no_args_is_help=True, help="Contributors and their keys.", rich_markup_mode=None
)
app.add_typer(trust_app, name="trust")

Root = Annotated[
    Path,
    typer.Option(help="The registry's checkout.", exists=True, file_okay=False),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for a program.")]
Rev = Annotated[
    str | None, typer.Option(help="Read this git revision instead of the work tree.")
]
Release = Annotated[
    Path | None,
    typer.Option(
        help="A release folder whose unchanged models are kept.",
        exists=True,
        file_okay=False,
    ),
]
Jobs = Annotated[int, typer.Option(min=1, help="Processes that fit models.")]


def main() -> None:
    """Run the command line and leave with its exit code."""
    json_output = terminal.wants_json(sys.argv[1:])
    sys.exit(terminal.run(app, json_output=json_output))


@app.callback(invoke_without_command=True)
def _version(
    *,
    version: Annotated[bool, typer.Option("--version", help="Print it.")] = False,
) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit


@app.command()
def verify(
    root: Root = Path(),
    rev: Rev = None,
    base: Annotated[
        str | None, typer.Option(help="Check only what a change adds to this revision.")
    ] = None,
    head: Annotated[str, typer.Option(help="The change's revision.")] = "HEAD",
    author: Annotated[
        int | None, typer.Option(help="Numeric GitHub id of the change's author.")
    ] = None,
    published_keys: Annotated[
        Path | None,
        typer.Option(
            help="Signing keys that GitHub lists for the author, one a line.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(help="Write the full expectation results here, as JSON."),
    ] = None,
    *,
    json_output: Json = False,
) -> None:
    """Check the whole registry, or with --base what a change adds to it."""
    from registry.gate import command

    if base is not None and rev is not None:
        raise typer.BadParameter("--base and --rev exclude each other")
    keys = published_keys.read_text("utf-8").splitlines() if published_keys else None
    with command.progress_bar(hidden=json_output) as progress:
        report: Report = (
            command.verify_revision(root, rev, progress)
            if base is None
            else command.verify_between(root, base, head, author, keys, progress)
        )
    if results is not None:
        command.write_results(results, report)
    command.print_report(report, json_output=json_output)
    raise typer.Exit(command.exit_code(report.findings))


@app.command()
def codes() -> None:
    """Print the catalogue of all finding codes as Markdown."""
    from registry.documents.codes_page import codes_page
    from registry.gate.command import import_everything

    import_everything("registry", "tools")
    typer.echo(codes_page(), nl=False)


@app.command()
def columns() -> None:
    """Print the catalogue of all columns as Markdown."""
    from registry.documents.codes_page import columns_page

    typer.echo(columns_page(), nl=False)


@app.command()
def schema() -> None:
    """Print the JSON Schema of a hardware spec."""
    import json

    from registry.documents.spec import spec_schema

    typer.echo(json.dumps(spec_schema(), indent=2, sort_keys=True))


@trust_app.command("allowed-signers")
def allowed_signers(root: Root = Path(), rev: Rev = None) -> None:
    """Print all keys in OpenSSH's own format, for `ssh-keygen -Y verify`."""
    from registry.gate.allowed_signers import allowed_signers as lines
    from registry.gate.command import open_tree

    typer.echo(lines(open_tree(root, rev)), nl=False)


def _progress(*, hidden: bool) -> Callable[[str], None]:
    """Give a function that shows one line of progress, or does nothing."""
    if hidden or not sys.stderr.isatty():
        return lambda _: None
    return lambda line: typer.echo(f"\r\033[K{line}", nl=False, err=True)
