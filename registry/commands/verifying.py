"""`registry verify`: the whole registry, or what a change adds to it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from registry import printing
from registry.commands.options import Json, Rev, Root
from registry.commands.trees import open_tree
from registry.gate.progress import progress_line

__all__ = ["verify"]


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
            help="Signing keys that GitHub lists for the author, one a line, as `gh api"
            " users/LOGIN/ssh_signing_keys --jq '.[].key'` prints.",
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
    """Check the whole registry, or only what a change adds (--base)."""
    if base is not None and rev is not None:
        raise typer.BadParameter("--base and --rev exclude each other")
    if base is None and (author is not None or published_keys is not None):
        raise typer.BadParameter("--author and --published-keys need --base")
    now = int(time.time())
    with progress_line(hidden=json_output) as show:
        if base is not None:
            from registry.gate.verify_change import verify_change

            show(f"verifying what {head} adds to {base}")
            keys = (
                None
                if published_keys is None
                else published_keys.read_text("utf-8").splitlines()
            )
            report = verify_change(
                root, base, head, author=author, published_keys=keys, now=now
            )
        else:
            from registry.gate.git_tree import arrivals
            from registry.gate.verify import verify_registry

            tree = open_tree(root, rev)
            report = verify_registry(
                tree,
                arrivals=arrivals(root, rev or "HEAD", tree),
                now=now,
                progress=lambda dataset: show(f"verifying {dataset}"),
            )
    if results is not None:
        printing.write(results, printing.text(report.expectation_results))
    printing.print_report(report, json_output=json_output)
    raise typer.Exit(printing.exit_code(report.findings))
