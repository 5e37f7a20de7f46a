"""`powerkit bench matrix`: an experiment under many conditions; it can be resumed."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from registry.gate import terminal
from tools.commands.after_dashes import after_dashes
from tools.commands.bench_grouping import grouped
from tools.commands.bench_options import Conditions, Outlet, What
from tools.commands.bench_running import publish_results, watched
from tools.commands.forms import Form, Format, Json
from tools.commands.tables import counted, print_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import ExitStack

    from tools.experiments.launching import Place
    from tools.experiments.matrix import Done
    from tools.experiments.matrix_files import Matrix
    from tools.experiments.matrix_tasks import Task
    from tools.experiments.record import Run
    from tools.experiments.spec import Spec
    from tools.services.running import Service

__all__ = ["matrix"]

Retry = Annotated[
    bool, typer.Option("--retry-failed", help="With --resume: make failed rows anew.")
]


@grouped
def matrix(
    context: typer.Context,
    what: What,
    conditions: Conditions,
    outlet: Outlet,
    file: Annotated[
        Path,
        typer.Argument(
            help="The matrix: a CSV table, TRIMS's too, or YAML with axes.",
            exists=True,
            dir_okay=False,
        ),
    ],
    spec: Annotated[
        Path | None,
        typer.Option(
            help="The experiment that rows change, if the matrix names none.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    eviction: Annotated[
        str | None, typer.Option(help="The service's eviction policy, in every row.")
    ] = None,
    select: Annotated[
        str | None,
        typer.Option("--select", "--only", help="Rows whose name this is found in."),
    ] = None,
    *,
    resume: Annotated[
        bool, typer.Option("--resume", help="Keep rows that are done already.")
    ] = False,
    retry_failed: Retry = False,
    keep_service: Annotated[
        bool,
        typer.Option(
            "--keep-service/--restart-service",
            help="One service for all rows; by default each row starts its own.",
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done; start nothing.")
    ] = False,
    form: Format = Form.TABLE,
    json_output: Json = False,
) -> None:
    """Run an experiment under many conditions.

    Every row of the matrix has its own, and its service is started anew.

    A row that fails is recorded, the others still run, and the exit code is 1.
    """
    from tools.commands.bench_setup import place_of
    from tools.experiments.folders import Reuse
    from tools.experiments.matrix_files import read_matrix
    from tools.experiments.matrix_tasks import Policy, select_rows, tasks

    if retry_failed and not resume:
        raise typer.BadParameter("--retry-failed goes with --resume")
    read = read_matrix(file)
    base = _base(read, spec, what, conditions, after_dashes(context))
    place = place_of(outlet, file.stem)
    policy = Policy(resume, retry_failed, place.reuse is Reuse.OVERWRITE)
    rows = select_rows(_with_eviction(read, eviction), select)
    planned = tasks(rows, base, place.folder, str(file), policy)
    form = Form.JSON if json_output else form
    if dry_run:
        _show_plan(planned, read, form)
        return
    done = _performed(planned, place, outlet, keep_service=keep_service)
    _show(done, read, place, form)
    if any(one.state == "failed" for one in done):
        raise typer.Exit(terminal.EXIT_FINDINGS)


def _base(
    read: Matrix,
    spec: Path | None,
    what: What,
    conditions: Conditions,
    command: Sequence[str] | None,
) -> Spec:
    from tools.commands.bench_setup import base_spec, conditioned

    if spec is not None and read.experiment is not None:
        raise typer.BadParameter("the matrix names its experiment: leave --spec out")
    chosen = spec or read.experiment
    return conditioned(base_spec(chosen, what, command), conditions)


def _with_eviction(read: Matrix, eviction: str | None) -> Any:
    from dataclasses import replace

    if eviction is None:
        return read.rows
    told = {"UPRD_EVICTION_POLICY": eviction}
    return [
        replace(
            row,
            values={"eviction": eviction, **row.values},
            service_environment=told | dict(row.service_environment),
        )
        for row in read.rows
    ]


def _performed(
    planned: Sequence[Task], place: Place, outlet: Outlet, *, keep_service: bool
) -> list[Done]:
    from contextlib import ExitStack

    from tools.experiments.matrix import perform_matrix
    from tools.experiments.matrix_tasks import shared_service

    shared = shared_service(planned) if keep_service else None
    done: list[Done] = []
    with ExitStack() as stack:
        service: list[Service] = []

        def runner(task: Task, where: str) -> list[Run]:
            if shared is not None and not service:
                service.extend(_started(shared, place, stack))
            running = service[0] if service else None
            return _row(task, where, place, outlet, running)

        for one in perform_matrix(planned, place.folder, place.base, runner):
            done.append(one)
            kept = ", kept" if one.kept else f", {one.seconds:.1f} s"
            line = f"{len(done)} of {len(planned)}: {one.name} {one.state}{kept}"
            typer.echo(line, err=True)
            for problem in one.problems:
                typer.echo(f"    {problem}", err=True)
    return done


def _started(shared: Task, place: Place, stack: ExitStack) -> list[Service]:
    """Start the service of all rows, whose log lies in the folder of the matrix."""
    from tools.experiments.launching import service_of

    environment = shared.row.service_environment
    found = service_of(shared.spec, place.folder, environment)
    return [] if found is None else [stack.enter_context(found)]


def _row(
    task: Task, where: str, place: Place, outlet: Outlet, running: Service | None
) -> list[Run]:
    """Make the runs of a row and publish them."""
    from dataclasses import replace

    from tools.experiments.folders import Reuse
    from tools.experiments.launching import Place, prepare

    launch = prepare(task.spec)
    parameters = {"row": task.row.name, **task.row.values, **launch.parameters}
    for name in ("description", "outputfile"):
        parameters.pop(name, None)
    runs = watched(
        replace(launch, parameters=parameters),
        Place(task.folder, place.base, Reuse.APPEND),
        verbose=outlet.verbose,
        prefix=where,
        service_environment=task.row.service_environment,
        running=running,
    )
    publish_results(runs, None, outlet.publish)
    return runs


def _show(done: Sequence[Done], read: Matrix, place: Place, form: Form) -> None:
    document = {
        "schema": "matrix-result/1",
        "folder": str(place.folder),
        "skipped": list(read.skipped),
        "rows": [asdict(one) for one in done],
    }
    rows = [
        {
            "row": one.name,
            "state": one.state.value + (" before" if one.kept else ""),
            "runs": one.runs,
            "failed": one.failed,
            "median_wall_s": one.median_wall_seconds,
            "seconds": one.seconds,
        }
        for one in done
    ]
    print_table(rows, form, document)
    if form is Form.TABLE:
        counts = Counter(one.state.value for one in done)
        told = ", ".join(f"{count} {state}" for state, count in counts.items())
        typer.echo(f"{counted(len(done), 'row')}: {told}; {place.folder}")
        _say_skipped(read)


def _show_plan(planned: Sequence[Task], read: Matrix, form: Form) -> None:
    from tools.experiments.launching import prepare

    counts = [len(prepare(task.spec).orders) for task in planned]
    document = {
        "schema": "matrix-plan/1",
        "skipped": list(read.skipped),
        "rows": [
            {
                "name": task.row.name,
                "state": task.state.value,
                "values": dict(task.row.values),
                "runs": count,
                "digest": task.digest,
            }
            for task, count in zip(planned, counts, strict=True)
        ],
    }
    rows = [
        {"row": task.row.name, "state": task.state.value, "runs": count}
        for task, count in zip(planned, counts, strict=True)
    ]
    print_table(rows, form, document)
    if form is Form.TABLE:
        new = sum(not task.kept for task in planned)
        typer.echo(f"{counted(new, 'row')} would be made")
        _say_skipped(read)


def _say_skipped(read: Matrix) -> None:
    if read.skipped:
        names = ", ".join(read.skipped)
        typer.echo(f"{counted(len(read.skipped), 'row')} skipped: {names}")
