"""`powerkit trace combine` and `powerkit trace validate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tools.options import Json
from tools.traces.aligning import Align

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.documents.findings import Finding
    from tools.traces.validating import Validated

__all__ = ["combine", "validate"]


def combine(
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="Traces, folders of traces, or patterns such as 'runs/**/*.json'.",
            metavar="PATH...",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="The trace to write; gzip if it ends in .gz."
        ),
    ] = Path("combined.json"),
    align: Annotated[
        Align | None,
        typer.Option(
            help="Put clocks on one: zero begins each file at 0, wall uses the wall"
            " time that files tell, marker an event that all have, offset --offset."
            " By default none, or what --marker and --offset need.",
            show_default=False,
        ),
    ] = None,
    marker: Annotated[
        str | None,
        typer.Option(help="The name of the event that coincides.", show_default=False),
    ] = None,
    offset: Annotated[
        list[str] | None,
        typer.Option(
            help="What a file moves by, as 20 (µs), -1.5ms or 2s; one for each file.",
            show_default=False,
        ),
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(
            help="What a file is called; one for each file. By default its name.",
            show_default=False,
        ),
    ] = None,
    ignore_category: Annotated[
        list[str] | None,
        typer.Option(
            help="Leave events of this category out; again for more.",
            show_default=False,
        ),
    ] = None,
    rename: Annotated[
        list[str] | None,
        typer.Option(
            help="OLD=NEW: give events another name; again for more.",
            show_default=False,
        ),
    ] = None,
    rename_file: Annotated[
        Path | None,
        typer.Option(help="A YAML mapping of old to new names.", show_default=False),
    ] = None,
    *,
    take_out: Annotated[
        bool,
        typer.Option(
            "--take-out",
            help="Take the time of ignored slices out: later events move to the left.",
        ),
    ] = False,
    zero: Annotated[
        bool,
        typer.Option("--zero", help="Move all such that the first event is at 0."),
    ] = False,
    adjust: Annotated[
        bool,
        typer.Option(
            "--adjust",
            help="As TRIMS: --align zero --ignore-category ignore --take-out.",
        ),
    ] = False,
    link_ids: Annotated[
        bool,
        typer.Option(
            "--link-ids", help="Files share ids of arrows on purpose: keep them."
        ),
    ] = False,
    sort: Annotated[
        bool,
        typer.Option("--sort", help="Merge by time; each file must be sorted."),
    ] = False,
    skip_first: Annotated[
        bool, typer.Option("--skip-first", help="Leave the first file out.")
    ] = False,
    json_output: Json = False,
) -> None:
    """Combine traces into one that Perfetto opens.

    Every process gets a number of its own, every arrow ids of its own; what files tell
    beside their events stands in otherData.sources, with the offset of each.
    """
    from registry.gate.progress import progress_line
    from tools.commands.traces_combined import print_combined
    from tools.traces.combination import Combination
    from tools.traces.combining import combine as write
    from tools.traces.renaming import new_names
    from tools.traces.sources import find_sources

    if adjust:
        align, take_out = align or Align.ZERO, True
        ignore_category = ignore_category or ["ignore"]
    if take_out and not ignore_category:
        raise typer.BadParameter("--take-out needs --ignore-category")
    chosen = _chosen(align, marker, offset)
    names = new_names(rename or [], rename_file)
    found = find_sources(paths, output, labels=label or (), skip_first=skip_first)
    for option, values in (("--label", label), ("--offset", offset)):
        if values and len(values) != len(found.files):
            count = f"{len(values)} for {len(found.files)} files"
            raise typer.BadParameter(f"{option} is needed once for each file: {count}")
    how = Combination(
        align=chosen,
        marker=marker,
        offsets_ns=_offsets(offset or []),
        zero=zero,
        ignored=frozenset(ignore_category or ()),
        take_out=take_out,
        names=names,
        link_ids=link_ids,
        sort=sort,
    )
    sources = list(zip(found.files, found.labels, strict=True))
    with progress_line(hidden=json_output) as say:
        done = write(sources, output, how, say=say)
    print_combined(done, found, json_output=json_output)


def validate(
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="Traces, or folders of traces.", metavar="PATH...", show_default=False
        ),
    ],
    *,
    json_output: Json = False,
) -> None:
    """Tell what a trace holds and everything that is wrong with it.

    What can be mended is a warning; the exit code is 1 if any file has an error.
    """
    from registry.documents.findings import RegistryError
    from registry.gate import terminal
    from registry.gate.progress import progress_line
    from tools.commands.traces_combined import print_validated
    from tools.traces.inputs import choose
    from tools.traces.validating import validate as check

    done: list[Validated] = []
    refused: list[Finding] = []
    with progress_line(hidden=json_output) as say:
        for path in (path for each in choose(paths) for path in each.files):
            try:
                done.append(check(path, lambda found: say(f"{found.events:,} events")))
            except RegistryError as error:
                refused += error.findings
    print_validated(done, refused, json_output=json_output)
    if refused or not all(one.valid for one in done):
        raise typer.Exit(terminal.EXIT_FINDINGS)


def _chosen(align: Align | None, marker: str | None, offset: list[str] | None) -> Align:
    """How clocks are put on one, as the options agree on it.

    Raises:
        typer.BadParameter: they do not.
    """
    needs = {Align.MARKER: marker is not None, Align.OFFSET: bool(offset)}
    if sum(needs.values()) > 1:
        raise typer.BadParameter("give either --marker or --offset")
    wanted = next((one for one, given in needs.items() if given), None)
    chosen = align or wanted or Align.NONE
    if wanted not in {None, chosen}:
        raise typer.BadParameter(f"--{wanted} is for --align {wanted} only")
    if needs.get(chosen) is False:
        raise typer.BadParameter(f"--align {chosen} needs --{chosen}")
    return chosen


def _offsets(texts: Sequence[str]) -> tuple[int, ...]:
    from tools.traces.alignment import duration_ns

    times = []
    for text in texts:
        ns = duration_ns(text)
        if ns is None:
            raise typer.BadParameter(f"--offset {text!r} is no time, such as 20 or 1ms")
        times.append(ns)
    return tuple(times)
