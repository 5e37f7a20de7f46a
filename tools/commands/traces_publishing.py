"""`powerkit trace publish`: traces go to a store, checked and described."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from registry.gate import terminal
from tools.commands.publish import Prefix, To, chosen_url, print_published
from tools.options import Json

if TYPE_CHECKING:
    from tools.assets.publishing import Published

__all__ = ["publish"]


def publish(
    traces: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="Chrome traces.")
    ],
    to: To = None,
    prefix: Prefix = None,
    description: Annotated[
        str, typer.Option(help="What they are of; by default what they say themselves.")
    ] = "",
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check and name all; send nothing.")
    ] = False,
    json_output: Json = False,
) -> None:
    """Check traces and copy them to a URL under their digests; again is harmless.

    Beside each lies a description: id of its run, digest, size, and how many events.
    """
    from registry.gate.progress import progress_line
    from registry.gate.report import print_findings
    from tools.assets.publishing import NotPublishedError, Published
    from tools.settings.resolved import setting
    from tools.traces.publishing import describe_all

    url = chosen_url(to)
    folders = setting("publish_prefix", prefix)
    with progress_line(hidden=json_output) as progress:
        described = describe_all(traces, description, progress=progress)

        def send(*, only_plan: bool) -> list[Published]:
            return [
                _sent(one, url, folders, progress, dry_run=only_plan)
                for one in described
            ]

        try:
            # a plan of all, before anything is sent of the first
            done = send(only_plan=True)
            if not dry_run:
                done = send(only_plan=False)
        except NotPublishedError as error:
            print_findings(error.findings, json_output=json_output)
            raise typer.Exit(terminal.EXIT_FINDINGS) from None
    things = tuple(thing for one in done for thing in one.things)
    print_published(Published(done[0].url, things), json_output=json_output)


def _sent(
    one: Any, url: str, prefix: str, progress: Any, *, dry_run: bool
) -> Published:
    from tools.assets.publishing import publish as send

    said = {"type": "trace", "description": one.description}
    if one.id is not None:
        said["id"] = one.id
    return send(
        [one.path],
        url,
        prefix=prefix,
        dry_run=dry_run,
        metadata=said,
        progress=progress,
    )
