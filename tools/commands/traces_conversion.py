"""`powerkit trace import|filter|view|convert|publish`: traces in, out and smaller."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tools.commands.traces_filtering import filter_
from tools.commands.traces_importing import import_
from tools.commands.traces_publishing import publish
from tools.commands.traces_told import Out, Trace, print_document, print_line
from tools.options import Json
from tools.traces.forms import Form

__all__ = ["convert", "filter_", "import_", "publish", "view"]


def view(
    trace: Trace,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page.")],
    spans: Annotated[
        int, typer.Option(min=1, max=100_000, help="How many spans: the longest ones.")
    ] = 4000,
    title: Annotated[
        str | None, typer.Option(help="The page's title; by default the file's name.")
    ] = None,
    *,
    json_output: Json = False,
) -> None:
    """Draw a trace as one HTML page that needs no script and no network."""
    from dataclasses import asdict

    from registry.gate.progress import progress_line
    from tools.traces.viewing import view_trace

    with progress_line(hidden=json_output) as progress:
        viewed = view_trace(trace, output, spans=spans, title=title, progress=progress)
    if json_output:
        print_document(
            {"schema": "trace-view/1", "output": str(output)} | asdict(viewed)
        )
        return
    print_line(
        f"{output}: {viewed.drawn:,} of {viewed.spans:,} spans on {viewed.tracks:,}"
        f" tracks, {viewed.lines:,} counters, {viewed.names:,} names"
    )


def convert(
    trace: Trace,
    to: Annotated[Form, typer.Option(help="The other form.")],
    output: Out,
    *,
    json_output: Json = False,
) -> None:
    """Write a trace's slices as a table or for speedscope, or the trace made regular.

    Tables have a row a slice, with times in nanoseconds. `perfetto` writes a Chrome
    trace that Perfetto opens without complaint, whatever was odd about this one.
    """
    from registry.gate.progress import progress_line
    from tools.traces.converting import convert_trace

    with progress_line(hidden=json_output) as progress:
        done = convert_trace(trace, to, output, progress=progress)
    if json_output:
        document = {
            "schema": "trace-convert/1",
            "output": str(output),
            "to": to.value,
            "events": done.events,
            "written": done.written,
            "left_out": done.left_out,
        }
        print_document(document)
        return
    what = "events" if to is Form.PERFETTO else "slices"
    left = [f"{number:,} {name}" for name, number in done.left_out.items()]
    told = f"; not in it: {', '.join(left)}" if left else ""
    print_line(f"{output}: {done.written:,} {what} of {done.events:,} events{told}")
