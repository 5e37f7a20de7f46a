"""`powerkit bench tables`: runs and what was sampled meanwhile, as tables to pack."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from tools.experiments.tables import Tables

__all__ = ["tables"]


def tables(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER...", help="Folders of runs with samples.", exists=True
        ),
    ],
    out: Annotated[
        Path,
        typer.Option("--out", "--output", "-o", help="The new folder of the tables."),
    ],
    workload_map: Annotated[
        list[str] | None,
        typer.Option(help="NAME=ID, or a file of such lines; again for more."),
    ] = None,
    runs_from: Annotated[
        str | None,
        typer.Option(help="Spans of traces become runs: a name, or cat:CATEGORY."),
    ] = None,
    load_result: Annotated[
        list[Path] | None,
        typer.Option(help="A result of `load run`; again for more.", exists=True),
    ] = None,
    full_load: Annotated[
        float | None,
        typer.Option(
            min=0, help="Requests a second at full load, by default offline's."
        ),
    ] = None,
    every: Annotated[
        float | None,
        typer.Option(min=0.001, help="Keep about one sample in so many seconds."),
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option(help="A column to leave out; again for more.")
    ] = None,
    *,
    columns_from_trace: Annotated[
        bool,
        typer.Option(
            "--columns-from-trace", help="Counters of traces become columns of samples."
        ),
    ] = False,
    pseudonyms: Annotated[
        bool,
        typer.Option(
            "--pseudonyms", help="Draw names for own workloads; else they are other."
        ),
    ] = False,
    json_output: Annotated[
        bool, typer.Option("--json", help="For programs, not people.")
    ] = False,
) -> None:
    """Make the tables of a bundle: runs.csv, samples.csv.

    All runs must be of one machine and one time since it started. Names of workloads,
    commands and paths never enter the tables.

    next: powerkit pack TABLES --spec FILE --dataset NAME, then sign, check and submit.
    """
    from registry.gate.progress import progress_line
    from tools.experiments.record import read_runs
    from tools.experiments.tables import Wanted, make_tables, write_tables
    from tools.experiments.tables_labels import Labels, read_map
    from tools.experiments.tables_loads import read_load

    labels = Labels(read_map(workload_map or []), pseudonyms)
    with progress_line(hidden=json_output) as show:
        show("reading runs")
        runs = {run.run_id: run for folder in folders for run in read_runs(folder)}
        wanted = Wanted(
            labels,
            runs_from,
            columns_from_trace,
            tuple(read_load(path) for path in load_result or []),
            full_load,
            every,
            tuple(without or []),
        )
        show(f"making tables of {len(runs)} runs")
        made = make_tables(list(runs.values()), wanted)
        write_tables(made, out)
    if json_output:
        typer.echo(json.dumps(_document(made, labels.own), indent=2, sort_keys=True))
    else:
        _print(made, labels.own, out)


def _document(made: Tables, own: dict[str, str]) -> dict[str, Any]:
    return {
        "schema": "bench-tables/1",
        "runs": made.runs.height,
        "accepted": int(made.runs["accepted"].sum()),
        "samples": made.samples.height,
        "columns": made.samples.columns,
        "bytes": {name: len(data) for name, data in made.data.items()},
        "measured": {"from": made.days[0], "to": made.days[1]},
        "rapl_zones": made.zones,
        "own_workloads": own,
        "findings": [asdict(one) for one in made.findings],
    }


def _print(made: Tables, own: dict[str, str], out: Path) -> None:
    from registry.gate.report import print_findings
    from tools.commands.forms import Form
    from tools.commands.tables import print_table
    from tools.dialogue import next_step, say

    if made.findings:
        print_findings(made.findings)
    print_table(made.runs.to_dicts(), Form.TABLE, {})
    accepted = int(made.runs["accepted"].sum())
    facts: dict[str, object] = {
        "runs": made.runs.height,
        "accepted": accepted,
        "samples": made.samples.height,
        "columns": made.samples.width,
    }
    say(facts, json_output=False)
    for name, label in sorted(own.items()):
        typer.echo(f"own workload: {name} = {label}")
    if made.zones:
        zones = ", ".join(f"{zone} {most:.10g}" for zone, most in made.zones.items())
        typer.echo(f"rapl_zones (max_joules) of the spec: {zones}")
    first, last = made.days
    days = f"--from {first}" if first == last else f"--from {first} --to {last}"
    next_step(f"powerkit pack {out} --spec FILE --dataset NAME --contributor ID {days}")
