"""`powerkit workload`: what comes with the kit, running it, and models to measure."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tools.commands.forms import Form, Format
from tools.commands.groups import group
from tools.commands.workload_scaling import scale
from tools.options import Json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tools.workloads.catalogue import Builtin
    from tools.workloads.parameters import Parameter

__all__ = ["app", "list_", "run"]

app = group("Workloads that come with the kit, and large models to measure with.")
app.command("scale")(scale)


class When(StrEnum):
    """When a workload is made ready."""

    LAZY = "lazy"
    EAGER = "eager"
    ASYNC = "async"


@app.command("list")
def list_(form: Format = Form.TABLE, *, json_output: Json = False) -> None:
    """Say which workloads there are, and which of them can run here."""
    from tools.commands.tables import print_table
    from tools.workloads.catalogue import BUILTINS

    rows = [_row(one) for one in BUILTINS.values()]
    document = {
        "schema": "workload-list/1",
        "workloads": [_told(one) for one in BUILTINS.values()],
    }
    print_table(rows, Form.JSON if json_output else form, document)


def _row(one: Builtin) -> dict[str, Any]:
    names = [
        part.name.upper() if part.default is None else f"{part.name}={part.default}"
        for part in one.parameters
    ]
    missing = ", ".join(one.missing)
    return {
        "workload": ":".join((one.name, *names)),
        "what runs": one.about,
        "unit": one.unit,
        "needs": ", ".join(one.needs),
        "here": f"no {missing}: {one.install()}" if missing else "yes",
    }


def _told(one: Builtin) -> dict[str, Any]:
    return {
        "name": one.name,
        "about": one.about,
        "unit": one.unit,
        "label": one.label,
        "parameters": [_bounds(part) for part in one.parameters],
        "needs": list(one.needs),
        "missing": list(one.missing),
        "install": one.install(),
    }


def _bounds(part: Parameter) -> dict[str, Any]:
    known: dict[str, Any] = {"name": part.name, "default": part.default}
    if part.choices:
        return known | {"choices": list(part.choices)}
    return known if part.path else known | {"min": part.least, "max": part.most}


@app.command()
def run(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME[:VALUE…]",
            help="numpy:matmul:512, onnx:FILE …, as `workload list` names them.",
        ),
    ],
    iterations: Annotated[
        int | None,
        typer.Option(
            "--iterations",
            "-n",
            min=1,
            max=10_000_000,
            help="How often at most; 10, or as the duration allows.",
        ),
    ] = None,
    warm_up: Annotated[
        int, typer.Option(min=0, max=10_000_000, help="Iterations before, not counted.")
    ] = 0,
    duration: Annotated[
        float | None,
        typer.Option(
            min=0, max=10**7, help="Seconds after which no iteration begins any more."
        ),
    ] = None,
    init: Annotated[
        When,
        typer.Option(
            envvar="POWERKIT_INIT",
            help="Make ready before the measured part, in the background meanwhile"
            " (async), or in its first iteration (lazy).",
        ),
    ] = When.EAGER,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1, max=4096, help="Of libraries; as OMP_NUM_THREADS says, or 1."
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, max=2**63 - 1, help="Equal seeds, equal data.")
    ] = 0,
    dim: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=N",
            help="An extent that a model leaves open, such as batch=4; 1 if not told.",
        ),
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option(
            envvar="POWERKIT_TRACE_FILE",
            dir_okay=False,
            help="Write a Chrome trace there; gzip if the name ends in .gz.",
        ),
    ] = None,
    result: Annotated[
        Path | None,
        typer.Option(
            envvar="POWERKIT_RESULT_FILE",
            dir_okay=False,
            help="Write the result as JSON there.",
        ),
    ] = None,
    *,
    json_output: Json = False,
) -> None:
    """Run a workload; each phase is timed by itself.

    Its phases are import, open, data, init, warm_up and run. Performance is what the
    iterations of `run` did, a second; with --init lazy that includes `init`.
    """
    from tools.workloads.catalogue import read_workload
    from tools.workloads.measuring import MOST, Course, measure
    from tools.workloads.reporting import result_of, write_result, write_trace
    from tools.workloads.work import Conditions

    chosen = read_workload(name)
    usual = MOST if duration is not None else 10
    course = Course(
        iterations=usual if iterations is None else iterations,
        duration=duration,
        warm_up=warm_up,
        init=init.value,
        conditions=Conditions(
            seed, _usual_threads() if threads is None else threads, _extents(dim or [])
        ),
    )
    measured = measure(chosen, course)
    document = result_of(chosen, course, measured)
    if trace is not None:
        write_trace(chosen, course, measured, trace)
    if result is not None:
        write_result(document, result)
    _print(document, json_output=json_output)


def _print(document: Mapping[str, Any], *, json_output: bool) -> None:
    from tools.commands.tables import cell, print_table

    if json_output:
        print_table([], Form.JSON, document)
        return
    phases: Mapping[str, float] = document["phases"]
    rows = [{"phase": name, "seconds": value} for name, value in phases.items()]
    print_table(rows, Form.TABLE, {}, title=f"{document['workload']}")
    times = document["iteration_seconds"]
    typer.echo(
        f"{document['iterations']} iterations, median {cell(times['median'])} s,"
        f" p95 {cell(times['p95'])} s; {cell(document['performance'])}"
        f" {document['performance_unit']} a second"
    )


def _extents(texts: list[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        number = int(value) if value.isascii() and value.isdigit() else 0
        if not name or not 1 <= number <= 1 << 20:
            raise typer.BadParameter(f"--dim {text}: write NAME=N, N from 1 to 1048576")
        if name in found:
            raise typer.BadParameter(f"--dim {name} is given twice")
        found[name] = number
    return found


def _usual_threads() -> int:
    """How many threads libraries get unless told: as OpenMP is told, or one."""
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    number = int(first) if first.isascii() and first.isdigit() else 0
    return number if 1 <= number <= 4096 else 1
