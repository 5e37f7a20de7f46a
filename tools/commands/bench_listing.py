"""`powerkit bench list`, `plot`, `report`, `schema`: what lies there, and may."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from tools.commands.forms import Form, Format, Json

__all__ = ["list_runs", "plot", "report", "schema"]

Runs = Annotated[
    Path,
    typer.Argument(help="A folder of runs, or of folders of runs.", exists=True),
]
File = Annotated[
    Path, typer.Option("--output", "-o", help="The file: .svg, .png or .pdf.")
]


class Kind(StrEnum):
    """Kinds of plots."""

    HEATMAP = "heatmap"
    BARS = "bars"
    BAND = "band"


class Document(StrEnum):
    """Documents that have a schema."""

    EXPERIMENT = "experiment"
    RUN = "run"
    MATRIX = "matrix"


def list_runs(
    folder: Runs,
    *,
    failed: Annotated[
        bool, typer.Option("--failed", help="Only runs that do not count.")
    ] = False,
    form: Format = Form.TABLE,
    json_output: Json = False,
) -> None:
    """List runs, the oldest first."""
    from tools.commands.bench_running import shown_run
    from tools.commands.tables import counted, print_table
    from tools.experiments.record import read_runs

    runs = [one for one in read_runs(folder) if not failed or not one.accepted]
    document = {
        "schema": "runs/1",
        "folder": str(folder),
        "failed": sum(not one.accepted for one in runs),
        "runs": [one.model_dump(mode="json", by_alias=True) for one in runs],
    }
    form = Form.JSON if json_output else form
    print_table([shown_run(one) for one in runs], form, document)
    if form is Form.TABLE:
        typer.echo(f"{counted(len(runs), 'run')}, {document['failed']} failed")


def plot(
    folder: Runs,
    output: File,
    x: Annotated[str, typer.Option(help="The condition along x.")],
    y: Annotated[
        str | None, typer.Option(help="The condition along y, of a heat map.")
    ] = None,
    value: Annotated[
        str, typer.Option(help="The metric: wall, performance, energy, phase:NAME …")
    ] = "wall",
    kind: Annotated[
        Kind | None, typer.Option(help="By default a heat map with --y, else a band.")
    ] = None,
    *,
    json_output: Annotated[
        bool, typer.Option("--json", help="Print the series that is drawn, too.")
    ] = False,
) -> None:
    """Draw results: heat map, bars, or a band."""
    from dataclasses import asdict

    from tools.experiments import plots, series
    from tools.experiments.metrics import metric
    from tools.experiments.record import read_runs

    chosen = kind or (Kind.BAND if y is None else Kind.HEATMAP)
    if (chosen is Kind.HEATMAP) != (y is not None):
        raise typer.BadParameter("a heat map needs --y, and nothing else takes it")
    runs = read_runs(folder)
    unit = metric(value).unit
    label = f"{value} ({unit})" if unit else value
    drawn: Any
    if y is not None:
        drawn = series.heat_map(runs, x, y, value)
        plots.plot_heat_map(drawn, output, x=x, y=y, label=label)
    elif chosen is Kind.BARS:
        drawn = series.bars(runs, x, value)
        plots.plot_bars(drawn, output, label=label)
    else:
        drawn = series.band(runs, x, value)
        plots.plot_band(drawn, output, x=x, label=label)
    if json_output:
        document = {"schema": "plot/1", "kind": chosen.value, **asdict(drawn)}
        typer.echo(json.dumps(document, indent=2, sort_keys=True))
    else:
        typer.echo(f"drawn: {output}")


def report(
    folder: Runs,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A file .md or .html; printed if absent."),
    ] = None,
    x: Annotated[
        str | None, typer.Option(help="With --y: the columns of a heat map.")
    ] = None,
    y: Annotated[str | None, typer.Option(help="With --x: its rows.")] = None,
    value: Annotated[str, typer.Option(help="The metric of the heat map.")] = "wall",
) -> None:
    """Write a page about runs: Markdown or HTML."""
    from tools.experiments import reporting
    from tools.experiments.record import read_runs
    from tools.files.writing import write_whole

    if (x is None) != (y is None):
        raise typer.BadParameter("a heat map needs --x and --y")
    if output is not None and output.suffix not in {".md", ".html"}:
        raise typer.BadParameter("the file ends in .md or .html")
    heat = None if x is None or y is None else reporting.Heat(x, y, value)
    parts = reporting.sections(read_runs(folder), heat)
    if output is None:
        typer.echo(reporting.as_markdown(parts), nl=False)
        return
    page = reporting.as_html if output.suffix == ".html" else reporting.as_markdown
    write_whole(output, page(parts))
    typer.echo(f"written: {output}")


def schema(
    document: Annotated[
        Document | None, typer.Argument(help="Which; all of them by default.")
    ] = None,
) -> None:
    """Print JSON Schemas of the documents."""
    from tools.experiments.schemas import schemas

    every = schemas()
    shown = every if document is None else every[document.value]
    typer.echo(json.dumps(shown, indent=2, sort_keys=True))
