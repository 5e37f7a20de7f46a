"""`powerkit publish`: results go to a folder, a bucket or another store, by digest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from registry.gate import terminal
from tools.options import Json

if TYPE_CHECKING:
    from tools.assets.publishing import Published, PublishedThing

__all__ = ["Prefix", "To", "app", "chosen_url", "print_published", "publish"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)

To = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="A folder, file://, s3://, hf:// or another URL that fsspec writes to;"
        " by default the setting publish_url.",
    ),
]
Prefix = Annotated[
    str | None,
    typer.Option(help="Folders below it; by default the setting publish_prefix."),
]


@app.command()
def publish(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH", help="Files and folders, each by itself."),
    ],
    to: To = None,
    prefix: Prefix = None,
    description: Annotated[
        str, typer.Option(help="A text that stands beside what is published.")
    ] = "",
    kind: Annotated[
        str | None,
        typer.Option("--type", help="What it is, for example trace or run."),
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=1, max=64, help="How many files are sent at once.")
    ] = 4,
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Read and name all; send nothing.")
    ] = False,
    json_output: Json = False,
) -> None:
    """Copy results to a URL under their digests; again is harmless.

    A thing is then at URL/PREFIX/SHA256/NAME, and NAME.published.json says what it is.
    Credentials come from where the store's own tools look for them.
    """
    from registry.gate.progress import progress_line
    from registry.gate.report import print_findings
    from tools.assets.publishing import NotPublishedError
    from tools.assets.publishing import publish as send
    from tools.settings.resolved import setting

    url = chosen_url(to)
    said = {"description": description} | ({} if kind is None else {"type": kind})
    try:
        with progress_line(hidden=json_output) as progress:
            done = send(
                paths,
                url,
                prefix=setting("publish_prefix", prefix),
                dry_run=dry_run,
                metadata=said,
                jobs=jobs,
                progress=progress,
            )
    except NotPublishedError as error:
        print_findings(error.findings, json_output=json_output)
        if not json_output:
            print_published(error.published, json_output=False)
        raise typer.Exit(terminal.EXIT_FINDINGS) from None
    print_published(done, json_output=json_output)


def chosen_url(to: str | None) -> str:
    """Where things are published: as the option or the setting says.

    Raises:
        typer.BadParameter: neither says it.
    """
    from tools.settings.resolved import setting

    url = setting("publish_url", to)
    if url is None:
        raise typer.BadParameter("give --to URL, or the setting publish_url")
    return url


def print_published(done: Published, *, json_output: bool) -> None:
    """Print what was published, a line each or as JSON."""
    if json_output:
        document = {
            "schema": "published-things/1",
            "url": done.url,
            "things": [_facts(thing) for thing in done.things],
        }
        typer.echo(json.dumps(document, indent=2, sort_keys=True))
        return
    for thing in done.things:
        count = f"{thing.files} files, " if thing.sidecar.files is not None else ""
        size = f"{count}{thing.sidecar.bytes} bytes, {thing.sent} sent"
        typer.echo(f"{thing.state}: {thing.url} ({size})")


def _facts(thing: PublishedThing) -> dict[str, object]:
    return {
        "path": str(thing.path),
        "state": thing.state.value,
        "url": thing.url,
        "files": thing.files,
        "sent_bytes": thing.sent,
        "published": thing.sidecar.model_dump(
            mode="json", by_alias=True, exclude_none=True
        ),
    }
