"""The `registry` command: parse, call, print. All work is done elsewhere.

Heavy packages load inside the subcommand that needs them, so `--help` stays fast.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from registry import __version__, printing
from registry.commands import (
    downloading,
    github,
    reviewing,
    trust,
    verifying,
    watch,
    withdrawing,
)
from registry.commands.options import Jobs, Json, Rev, Root
from registry.gate import terminal
from registry.gate.progress import progress_line

app = typer.Typer(
    name="registry",
    help="Signed power measurements in, verified power models for Kepler out.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(trust.app, name="trust")
app.add_typer(github.app, name="github")
app.add_typer(watch.app, name="watch")
app.command()(verifying.verify)
app.command()(reviewing.review)
app.command()(withdrawing.withdraw)
app.command()(downloading.download)

Since = Annotated[
    Path | None,
    typer.Option(
        help="An earlier release folder, whose unchanged models are taken over.",
        exists=True,
        file_okay=False,
    ),
]
From = Annotated[
    str,
    typer.Option(
        "--from",
        help="github:OWNER/NAME, or a release or folder of releases; path or URL.",
    ),
]


def main() -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(terminal.run(app, json_output=terminal.wants_json(sys.argv[1:])))


@app.callback(invoke_without_command=True)
def _version(
    *,
    version: Annotated[bool, typer.Option("--version", help="Print it.")] = False,
) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit


@app.command()
def plan(
    root: Root = Path(),
    rev: Rev = None,
    since: Since = None,
    *,
    json_output: Json = False,
) -> None:
    """Name the models that the next release must fit again, and why."""
    from registry.publish.release import plan_release

    with progress_line(hidden=json_output) as show:
        show("reading manifests")
        planned = plan_release(root, rev=rev, since=since)
    printing.show(printing.plan(planned), json_output=json_output)


@app.command()
def build(
    out: Annotated[Path, typer.Option(help="The release folder to make.")],
    root: Root = Path(),
    rev: Rev = None,
    since: Since = None,
    jobs: Jobs = 1,
    *,
    json_output: Json = False,
) -> None:
    """Fit the affected models and write a release folder."""
    from registry.publish.release import build_release

    with progress_line(hidden=json_output) as show:
        built = build_release(root, out, rev=rev, since=since, jobs=jobs, progress=show)
    printing.show(printing.build(built), json_output=json_output)


@app.command()
def publish(
    release: Annotated[
        Path, typer.Argument(help="A release folder.", exists=True, file_okay=False)
    ],
    to: Annotated[
        str,
        typer.Option(
            help="Where: dir:PATH, a folder of releases, or github:OWNER/NAME."
        ),
    ],
    *,
    json_output: Json = False,
) -> None:
    """Put a release where others find it; again is harmless."""
    from registry.publish.channels import publish as send

    with progress_line(hidden=json_output) as show:
        done = send(release, to, progress=show)
    printing.show(printing.published(done), json_output=json_output)


@app.command()
def fetch(
    place: From,
    spec: Annotated[
        Path | None,
        typer.Option(help="The server's hardware spec.", exists=True, dir_okay=False),
    ] = None,
    number: Annotated[
        int | None,
        typer.Option(
            "--class",
            min=0,
            help="Or its class's number in node_type_index.json; 0 is the generic one.",
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(help="acpi (whole server) or rapl-sysfs (processor); else all."),
    ] = None,
    output: Annotated[
        str, typer.Option(help="AbsPower for nodes, DynPower for processes.")
    ] = "AbsPower",
    out: Annotated[
        Path | None, typer.Option(help="Write the verified files here.")
    ] = None,
    digest: Annotated[
        str | None,
        typer.Option(
            help="Demand this release: its tag, or the SHA-256 of index.json."
        ),
    ] = None,
    *,
    estimator: Annotated[
        bool,
        typer.Option(
            "--estimator", help="Settings for Kepler's Python estimator, not for Go."
        ),
    ] = False,
    json_output: Json = False,
) -> None:
    """Verify a release, pick a server's models, print settings."""
    if (spec is None) == (number is None):
        raise typer.BadParameter("name the server by --spec or by --class")
    if source not in {None, "acpi", "rapl-sysfs"}:
        raise typer.BadParameter("--source is acpi or rapl-sysfs")
    if output not in {"AbsPower", "DynPower"}:
        raise typer.BadParameter("--output is AbsPower or DynPower")
    from registry import client

    with progress_line(hidden=json_output) as show:
        show(f"verifying {place}")
        fetched = client.fetch(
            place,
            spec=spec,
            number=number,
            source=source,
            output=output,
            estimator=estimator,
            out=out,
            digest=digest,
        )
    shown = printing.Shown(client.as_json(fetched), client.as_lines(fetched))
    printing.show(shown, json_output=json_output)


@app.command()
def rebuild(
    compare: Annotated[
        str,
        typer.Option(
            help="The release to compare with: a folder, a URL or github:OWNER/NAME."
        ),
    ],
    root: Root = Path(),
    jobs: Jobs = 1,
    *,
    json_output: Json = False,
) -> None:
    """Build a release again from its commit and compare every byte."""
    from registry import client
    from registry.gate.report import print_findings

    with progress_line(hidden=json_output) as show:
        again = client.rebuild_and_compare(root, compare, jobs=jobs, progress=show)
    if json_output or again.findings:
        print_findings(again.findings, json_output=json_output)
    if not json_output:
        verdict = f"{len(again.findings)} differ" if again.findings else "all equal"
        source = again.commit or "the work tree"
        typer.echo(f"{again.tag} from {source}: {again.files} files, {verdict}")
    raise typer.Exit(printing.exit_code(again.findings))


@app.command()
def codes() -> None:
    """Print the catalogue of all finding codes as Markdown."""
    from registry.catalogues import all_codes_page

    typer.echo(all_codes_page(), nl=False)


@app.command()
def columns() -> None:
    """Print the catalogue of all columns as Markdown."""
    from registry.documents.columns_page import columns_page

    typer.echo(columns_page(), nl=False)


@app.command()
def schema() -> None:
    """Print the JSON Schema of a hardware spec."""
    from registry.documents.spec import spec_schema

    typer.echo(printing.text(spec_schema()), nl=False)
