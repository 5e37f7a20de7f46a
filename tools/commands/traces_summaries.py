"""`powerkit trace summarize` and `powerkit trace memory`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from registry.gate import terminal
from tools.commands.forms import Json
from tools.commands.traces_options import Destination, TraceFiles, TracePaths
from tools.traces.choices import By, Form, MemoryForm, Size, Sort

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.documents.findings import Finding

__all__ = ["memory", "summarize"]


def summarize(
    paths: TracePaths,
    output: Destination = None,
    by: Annotated[
        By, typer.Option(help="What slices of one statistic have in common.")
    ] = By.NAME,
    sort: Annotated[Sort, typer.Option(help="The greatest first.")] = Sort.TOTAL,
    top: Annotated[
        int | None,
        typer.Option(min=1, help="How many to print; 40 in tables, all elsewhere."),
    ] = None,
    form: Annotated[
        Form | None,
        typer.Option(
            "--format",
            "-f",
            help="table, json, csv or md; by default as --output ends, or a table.",
            show_default=False,
        ),
    ] = None,
    *,
    detailed: Annotated[
        bool,
        typer.Option(
            "--detailed", help="Every slice with its start, duration and self."
        ),
    ] = False,
    tree: Annotated[
        bool, typer.Option("--tree", help="The tree of calls, equal paths in one.")
    ] = False,
    together: Annotated[
        bool, typer.Option("--together", help="One summary of all PATHS.")
    ] = False,
    deep: Annotated[
        bool, typer.Option("--deep", help="Short for --tree --together.")
    ] = False,
    json_output: Json = False,
) -> None:
    """Sum up traces: counts, totals, self times, percentiles, counters and flows.

    One summary for each PATH, of all its traces; with --together one of all. A slice
    that has no end counts until its thread ends, and in no percentile.
    """
    from tools.commands.traces_printing import print_summaries
    from tools.commands.traces_reading import summarised

    chosen = _form(form, output, json_output=json_output)
    with summarised(
        paths,
        by,
        output,
        together=together or deep,
        tree=tree or deep,
        detailed=detailed,
        hidden=json_output,
    ) as done:
        print_summaries(done, chosen, sort, top, output)
    _end(done.findings)


def memory(
    paths: TraceFiles,
    output: Destination = None,
    alloc: Annotated[
        list[str] | None,
        typer.Option(
            help="Events that allocate; again for more. By default the calls of CUDA"
            " and HIP, and PyTorch's [memory].",
            show_default=False,
        ),
    ] = None,
    free: Annotated[
        list[str] | None,
        typer.Option(help="Events that free; again for more.", show_default=False),
    ] = None,
    category: Annotated[
        str | None, typer.Option(help="Only events of this category, such as memory.")
    ] = None,
    form: Annotated[
        MemoryForm,
        typer.Option("--format", "-f", help="table, csv, tsv, json, md or cpp."),
    ] = MemoryForm.TABLE,
    size: Annotated[
        Size, typer.Option(help="Which size of a model cpp has; TRIMS has the total.")
    ] = Size.TOTAL,
    counter: Annotated[
        Path | None,
        typer.Option(help="Write live memory to this file, as counters of a trace."),
    ] = None,
    *,
    json_output: Json = False,
) -> None:
    """Follow allocations: total, most live at once, never freed, freed twice.

    Sizes and addresses are taken from the events' arguments. cpp prints a C++ map from
    each model that the traces name, or file, to its size.
    """
    from tools.commands.traces_memory import followed, print_memory
    from tools.traces.allocations import ALLOCATING, FREEING, TORCH, Calls

    if json_output:
        form = MemoryForm.JSON
    calls = Calls(
        frozenset(alloc or (*ALLOCATING, TORCH)), frozenset(free or FREEING), category
    )
    if calls.allocating & calls.freeing:
        raise typer.BadParameter("an event cannot be both --alloc and --free")
    done = followed(paths, calls, counter, output, hidden=json_output)
    print_memory(done, form, size, output)
    _end(done.findings)


def _form(form: Form | None, output: Path | None, *, json_output: bool) -> Form:
    if json_output:
        return Form.JSON
    if form is not None or output is None:
        return form or Form.TABLE
    endings = {".json": Form.JSON, ".csv": Form.CSV, ".md": Form.MD}
    return endings.get(output.suffix, Form.TABLE)


def _end(findings: Sequence[Finding]) -> None:
    """Say what was wrong with some of the files, after the others were summed up.

    Raises:
        typer.Exit: something was.
    """
    import sys

    from registry.gate.report import print_findings

    if findings:
        print_findings(findings, file=sys.stderr)
    if any(one.severity == "error" for one in findings):
        raise typer.Exit(terminal.EXIT_FINDINGS)
