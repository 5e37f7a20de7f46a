"""Options that several subcommands of `registry` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["Jobs", "Json", "Repository", "Rev", "Root"]

Root = Annotated[
    Path,
    typer.Option(help="The registry's checkout.", exists=True, file_okay=False),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for a program.")]
Rev = Annotated[
    str | None,
    typer.Option(help="Read this git revision instead of the work tree."),
]
Jobs = Annotated[int, typer.Option(min=1, help="Processes that fit models.")]
Repository = Annotated[
    str | None,
    typer.Option(
        help="The registry's repository on GitHub, OWNER/NAME; by default"
        " GITHUB_REPOSITORY, or what the checkout's remotes name. GH_TOKEN may hold"
        " a token."
    ),
]
