"""`registry download`: a whole release into a folder, every byte of it checked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from registry import printing
from registry.commands.options import Json
from registry.gate.progress import progress_line

if TYPE_CHECKING:
    from registry.client.downloading import Downloaded

__all__ = ["download"]

_NOTHING = printing.Shown(
    {"schema": "download/1", "folder": None, "tag": None},
    ["no release yet: nothing was downloaded"],
)


def download(
    place: Annotated[
        str,
        typer.Argument(
            help="github:OWNER/NAME[@TAG], or a release or folder of releases; path or"
            " URL. `github:` alone is GITHUB_REPOSITORY."
        ),
    ],
    out: Annotated[Path, typer.Option(help="The folder to make.")],
    digest: Annotated[
        str | None,
        typer.Option(
            help="Demand this release: its tag, or the SHA-256 of index.json."
        ),
    ] = None,
    *,
    if_any: Annotated[
        bool,
        typer.Option("--if-any", help="Do nothing if there is no release yet."),
    ] = False,
    json_output: Json = False,
) -> None:
    """Download a release whole: the very folder that was published."""
    from registry.client.downloading import download as get
    from registry.client.origins import NoRelease

    with progress_line(hidden=json_output) as show:
        got: Downloaded | None
        try:
            got = get(place, out, digest=digest, progress=show)
        except NoRelease:
            if not if_any:
                raise
            got = None
    printing.show(_NOTHING if got is None else _shown(got), json_output=json_output)


def _shown(got: Downloaded) -> printing.Shown:
    document = {
        "schema": "download/1",
        "folder": str(got.out),
        "tag": got.tag,
        "serial": got.index.serial,
        "new": got.new,
        "warnings": [
            {"code": found.code, "fix": found.fix, "what": found.what}
            for found in got.warnings
        ],
    }
    files = len(got.index.assets) + 2
    what = f"{files} files in" if got.new else f"all {files} files were already in"
    lines = [f"warning {w.code} {w.what}: {w.fix}" for w in got.warnings]
    return printing.Shown(document, [*lines, f"release {got.tag}: {what} {got.out}"])
