"""`powerkit trace import`: recordings of other tools become Chrome traces."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tools.commands.traces_told import (
    Out,
    print_document,
    print_line,
    print_table,
)
from tools.options import Json
from tools.traces.forms import Source

__all__ = ["import_"]


def import_(
    recording: Annotated[
        Path, typer.Argument(metavar="FILE", help="What the other tool wrote.")
    ],
    output: Out,
    source: Annotated[
        Source, typer.Option("--from", help="The tool; by default its content tells.")
    ] = Source.AUTO,
    *,
    json_output: Json = False,
) -> None:
    """Make a Chrome trace of what another tool recorded.

    Read are databases of nvprof and of `nsys export --type sqlite`, JSON traces of
    torch's profiler, viztracer, py-spy (`--format chrometrace`) and LoadGen, and
    LoadGen's detail log. Nothing is asked of the tools themselves.
    """
    from registry.gate.progress import progress_line
    from tools.traces.imports.importing import import_trace

    with progress_line(hidden=json_output) as progress:
        account = import_trace(recording, output, source, progress=progress)
    document = {
        "schema": "trace-import/1",
        "from": account.source,
        "output": str(output),
        "events": account.events,
        "read": dict(sorted(account.read.items())),
        "left_out": dict(sorted(account.untimed.items())),
        "absent": account.absent,
        "not_imported": account.ignored,
        "unmatched": account.unmatched,
        "made_asynchronous": account.overlapping,
        "arrows": account.arrows,
        "tracks": account.tracks,
        "notes": account.notes,
    }
    if json_output:
        print_document(document)
        return
    kinds = sorted({*account.read, *account.untimed})
    rows = [(one, account.read[one], account.untimed[one]) for one in kinds]
    print_table(("from " + account.source, "read", "left out"), rows)
    for what, names in (
        ("not in it", account.absent),
        ("not imported", account.ignored),
        ("note", account.notes),
    ):
        for name in names:
            print_line(f"{what}: {name}")
    print_line(
        f"{output}: {account.events:,} events, {account.arrows:,} arrows,"
        f" {account.unmatched:,} unmatched, {account.overlapping:,} made asynchronous"
    )
