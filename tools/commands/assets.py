"""`powerkit assets`: models and data by manifests, fetched once and verified."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from registry.gate import terminal
from tools.commands.forms import Form, Format
from tools.commands.groups import group
from tools.options import Json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from registry.documents.findings import Finding
    from tools.assets.gathering import Gathered
    from tools.assets.keeping import Kept
    from tools.assets.library import Library
    from tools.assets.manifests import Asset

__all__ = ["app", "convert", "fetch", "list_", "schema", "verify"]

app = group("Fetch models and data by manifests.")

Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[NAME]...",
        help="Names or canonical names; all that are neither large nor hidden if none.",
    ),
]
Models = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME|REGEX,...",
        help="Exact names, or regular expressions searched in canonical names.",
    ),
]
Large = Annotated[bool, typer.Option("--large", help="Large ones too.")]
Hidden = Annotated[bool, typer.Option("--hidden", help="Hidden ones too.")]
Manifests = Annotated[
    Path | None,
    typer.Option(
        metavar="PATH",
        help="A manifest or a folder of them, ours or TRIMS's; by default the setting"
        " assets_manifests.",
    ),
]
Directory = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Where files are kept; by default the setting assets_directory.",
    ),
]
Jobs = Annotated[int, typer.Option(min=1, max=64, help="How many files at once.")]


@app.command("list")
def list_(
    names: Names = None,
    models: Models = None,
    manifests: Manifests = None,
    directory: Directory = None,
    form: Format = Form.TABLE,
    *,
    large: Large = False,
    hidden: Hidden = False,
    json_output: Json = False,
) -> None:
    """List assets and how much of each is here, by the sizes of its files."""
    from tools.assets.keeping import kept

    place = _directory(directory)
    _, assets = _chosen(names, models, manifests, large=large, hidden=hidden)
    rows = [kept(place, asset) for asset in assets]
    _print_kept(rows, (), place, Form.JSON if json_output else form)


@app.command()
def fetch(
    names: Names = None,
    models: Models = None,
    manifests: Manifests = None,
    directory: Directory = None,
    jobs: Jobs = 4,
    *,
    large: Large = False,
    hidden: Hidden = False,
    record: Annotated[
        bool,
        typer.Option(
            "--record",
            help="Accept files whose digest nobody says, and keep what they have now"
            " in a lock beside the manifests.",
        ),
    ] = False,
    json_output: Json = False,
) -> None:
    """Fetch what is missing, from the first mirror that has the right bytes.

    An interrupted file goes on where it stopped. If anything is missing in the end, the
    exit code is 1 and everything that failed is listed.
    """
    from registry.gate.progress import progress_line
    from tools.assets.gathering import gather

    place = _directory(directory)
    library, assets = _chosen(names, models, manifests, large=large, hidden=hidden)
    with progress_line(hidden=json_output) as progress:
        done = gather(
            library, assets, place, record=record, jobs=jobs, progress=progress
        )
    _print_gathered(done, library, json_output=json_output)
    if done.findings:
        raise typer.Exit(terminal.EXIT_FINDINGS)


@app.command()
def verify(
    names: Names = None,
    models: Models = None,
    manifests: Manifests = None,
    directory: Directory = None,
    jobs: Jobs = 4,
    form: Format = Form.TABLE,
    *,
    large: Large = False,
    hidden: Hidden = False,
    json_output: Json = False,
) -> None:
    """Read what is here again and compare its digests; missing parts are told too.

    An asset of which nothing is here is a finding only if it was named.
    """
    from registry.gate.progress import progress_line
    from tools.assets.keeping import verified

    place = _directory(directory)
    _, assets = _chosen(names, models, manifests, large=large, hidden=hidden)
    with progress_line(hidden=json_output or form is Form.JSON) as progress:
        rows, findings = verified(
            place, assets, named=bool(names or models), jobs=jobs, progress=progress
        )
    _print_kept(rows, findings, place, Form.JSON if json_output else form)
    if findings:
        raise typer.Exit(terminal.EXIT_FINDINGS)


@app.command()
def convert(
    manifest: Annotated[
        Path,
        typer.Argument(exists=True, dir_okay=False, help="A manifest of TRIMS Tools."),
    ],
) -> None:
    """Print a manifest of TRIMS Tools as ours, with digests of the lock beside it."""
    from tools.assets.library import open_library
    from tools.assets.trims_manifests import as_manifest

    for asset in open_library(manifest).assets:
        typer.echo(as_manifest(asset).decode(), nl=False)


@app.command()
def schema() -> None:
    """Print the JSON Schema of a manifest."""
    from tools.assets.manifests import Manifest

    typer.echo(json.dumps(Manifest.model_json_schema(), indent=2))


def _directory(option: Path | None) -> Path:
    from tools.settings.resolved import setting

    return setting("assets_directory", option)


def _chosen(
    names: list[str] | None,
    models: list[str] | None,
    manifests: Path | None,
    *,
    large: bool,
    hidden: bool,
) -> tuple[Library, tuple[Asset, ...]]:
    """Open the library and give what the command line means of it."""
    from tools.assets.library import Choice, open_library
    from tools.settings.resolved import setting

    try:
        choice = Choice.of(names or [], models or [], large=large, hidden=hidden)
    except ValueError as error:
        raise typer.BadParameter(f"--models: {error}") from None
    path = setting("assets_manifests", manifests)
    if path is None:
        raise typer.BadParameter("give --manifests PATH, or set assets_manifests")
    library = open_library(path)
    return library, library.chosen(choice)


def _print_kept(
    rows: Iterable[Kept], findings: tuple[Finding, ...], directory: Path, form: Form
) -> None:
    """Print assets and their states, after what is wrong with them."""
    from registry.gate.report import as_documents, print_findings
    from tools.commands.tables import print_table

    table = [_row(one) for one in rows]
    if form is not Form.JSON:
        # In what a program reads there are rows only.
        print_findings(findings, file=None if form is Form.TABLE else sys.stderr)
    document = {
        "schema": "assets/1",
        "directory": str(directory),
        "assets": table,
        "findings": as_documents(findings),
    }
    print_table(table, form, document)


def _row(one: Kept) -> dict[str, object]:
    asset = one.asset
    marks = [name for name in ("large", "hidden") if getattr(asset, name)]
    return {
        "canonical_name": asset.canonical,
        "name": asset.name,
        "version": asset.version,
        "state": one.state.value,
        "bytes": asset.bytes,
        "bytes_here": one.bytes,
        "files": len(asset.files),
        "licence": asset.licence,
        "marks": " ".join(marks),
    }


def _print_gathered(done: Gathered, library: Library, *, json_output: bool) -> None:
    """Print what was fetched, and everything that was not."""
    from registry.gate.report import as_documents, print_findings

    if json_output:
        document = {
            "schema": "assets-fetched/1",
            "files": [
                {
                    "asset": asset.canonical,
                    "path": str(got.path),
                    "outcome": got.outcome.value,
                    "bytes": got.bytes,
                    "sha256": got.sha256,
                    "url": got.url,
                }
                for asset, got in done.fetched
            ],
            "recorded": sorted(done.recorded),
            "findings": as_documents(done.findings),
        }
        typer.echo(json.dumps(document, indent=2, sort_keys=True))
        return
    print_findings(done.findings)
    for _, got in done.fetched:
        source = f" from {got.url}" if got.url else ""
        typer.echo(f"{got.outcome}: {got.path} ({got.bytes} bytes){source}")
    if done.recorded:
        typer.echo(f"recorded: {len(done.recorded)} digests in {library.lock}")
    failed = f"; {len(done.findings)} problems" if done.findings else ""
    here = f"{len(done.fetched)} files are here, {done.bytes} bytes fetched{failed}"
    typer.echo(here)
