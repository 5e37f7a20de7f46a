"""Options that `powerkit trace summarize` and `powerkit trace memory` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["Destination", "TraceFiles", "TracePaths"]

TracePaths = Annotated[
    list[Path],
    typer.Argument(
        help="Traces, or folders of traces (*.json, *.json.gz, those below too).",
        metavar="PATH...",
        show_default=False,
    ),
]
TraceFiles = Annotated[
    list[Path],
    typer.Argument(
        help="Traces, or folders of traces.", metavar="PATH...", show_default=False
    ),
]
Destination = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", help="A file instead of standard output.", dir_okay=False
    ),
]
