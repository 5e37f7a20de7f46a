"""`powerkit fetch`: what was published comes here, verified."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tools.options import Json

if TYPE_CHECKING:
    from tools.assets.fetching import FetchedThing

__all__ = ["app", "fetch"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def fetch(
    url: Annotated[
        str,
        typer.Argument(
            metavar="URL",
            help="What `powerkit publish` named: https://, s3://, a path or another.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "--output",
            "-o",
            metavar="DIR",
            help="The folder that it is put into.",
        ),
    ] = Path(),
    sha256: Annotated[
        str | None,
        typer.Option(
            metavar="HEX",
            help="Its SHA-256, where neither its URL nor a description has it.",
        ),
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=1, max=64, help="How many files are fetched at once.")
    ] = 4,
    *,
    json_output: Json = False,
) -> None:
    """Copy something published here; bytes with another digest never get a name."""
    from registry.gate.progress import progress_line
    from tools.assets.fetching import fetch as copy

    with progress_line(hidden=json_output) as progress:
        got = copy(url, out, sha256=sha256, jobs=jobs, progress=progress)
    if json_output:
        typer.echo(json.dumps(_facts(got), indent=2, sort_keys=True))
        return
    count = "" if got.files == 1 else f"{got.files} files, "
    typer.echo(f"{got.outcome}: {got.path} ({count}{got.bytes} bytes)")
    typer.echo(f"sha256: {got.sha256}")
    if got.sidecar is not None and got.sidecar.description:
        from registry.documents.findings import shown

        typer.echo(f"description: {shown(got.sidecar.description, 2000)}")


def _facts(got: FetchedThing) -> dict[str, object]:
    facts: dict[str, object] = {
        "schema": "fetched-thing/1",
        "path": str(got.path),
        "outcome": got.outcome.value,
        "files": got.files,
        "bytes": got.bytes,
        "sha256": got.sha256,
    }
    if got.sidecar is not None:
        facts["published"] = got.sidecar.model_dump(
            mode="json", by_alias=True, exclude_none=True
        )
    return facts
