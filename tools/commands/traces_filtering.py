"""`powerkit trace filter`: a smaller trace that is whole."""

from __future__ import annotations

from typing import Annotated

import typer

from tools.commands.traces_told import Out, Trace, print_document, print_line
from tools.options import Json

__all__ = ["filter_"]


def filter_(
    trace: Trace,
    output: Out,
    name: Annotated[
        list[str] | None,
        typer.Option(help="Keep names that match; may be given several times."),
    ] = None,
    not_name: Annotated[
        list[str] | None, typer.Option(help="Drop names that match.")
    ] = None,
    category: Annotated[
        list[str] | None, typer.Option(help="Keep events of a category that matches.")
    ] = None,
    pid: Annotated[
        list[str] | None, typer.Option(help="Keep a process, by its number.")
    ] = None,
    tid: Annotated[
        list[str] | None, typer.Option(help="Keep a thread, by its number.")
    ] = None,
    phase: Annotated[
        list[str] | None,
        typer.Option(help="Keep a phase, as X or C; B stands for E too, s for f."),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="Keep what ends after this time of the trace: 1500 (µs), 20ms, 1.5s.",
        ),
    ] = None,
    end: Annotated[
        str | None, typer.Option("--to", help="Keep what begins before this time.")
    ] = None,
    min_duration: Annotated[
        str | None, typer.Option(help="Keep slices that last so long: 5 (µs), 2ms.")
    ] = None,
    *,
    regex: Annotated[
        bool,
        typer.Option(
            "--regex", help="Names are regular expressions, which match anywhere."
        ),
    ] = False,
    relative: Annotated[
        bool, typer.Option("--relative", help="Times are since the first event.")
    ] = False,
    json_output: Json = False,
) -> None:
    """Write the events of a trace for which all conditions hold.

    Names are globs of whole names, as `cuda*`; --regex makes them regular expressions
    of RE2's kind, without look-around. Begins are kept with their ends, and arrows with
    the slices at both of their ends; names of processes and threads stay.
    """
    from functools import partial

    from registry.gate.progress import progress_line
    from tools.traces.filtering import filter_trace
    from tools.traces.filtering_conditions import Conditions, all_of

    for one in phase or ():
        if len(one) != 1:
            raise typer.BadParameter(f"a phase is one letter, not {one!r}")
    times = {"--from": start, "--to": end, "--min-duration": min_duration}
    first, last, shortest = all_of(
        partial(_time, text, option) for option, text in times.items()
    )
    conditions = Conditions(
        tuple(name or ()),
        tuple(not_name or ()),
        tuple(category or ()),
        frozenset(pid or ()),
        frozenset(tid or ()),
        frozenset(phase or ()),
        first,
        last,
        shortest,
        regex,
        relative,
    )
    with progress_line(hidden=json_output) as progress:
        done = filter_trace(trace, output, conditions, progress=progress)
    document = {
        "schema": "trace-filter/1",
        "output": str(output),
        "events": done.events,
        "kept": done.kept,
        "arrows_dropped": done.arrows_dropped,
        "unmatched_ends": done.unmatched_ends,
        "unclosed": done.unclosed,
        "untimed": dict(done.untimed),
        "damaged": done.found.bad_events + done.found.not_objects,
    }
    if json_output:
        print_document(document)
        return
    counts = [
        f"{number:,} {what.replace('_', ' ')}"
        for what, number in document.items()
        if isinstance(number, int) and number and what not in {"events", "kept"}
    ]
    counts += [f"{done.untimed.total():,} without a time"] * bool(done.untimed)
    kept = f"{output}: {done.kept:,} of {done.events:,} events"
    print_line(", ".join([kept, *counts]))


def _time(text: str | None, option: str) -> int | None:
    from tools.traces.filtering_conditions import nanoseconds_of

    return None if text is None else nanoseconds_of(text, option)
