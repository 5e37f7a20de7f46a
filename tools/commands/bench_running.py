"""`powerkit bench run`: an experiment, or what it would run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from registry.gate import terminal
from tools.commands.after_dashes import after_dashes
from tools.commands.bench_grouping import grouped
from tools.commands.bench_options import Conditions, Outlet, What
from tools.commands.forms import Form, Format, Json
from tools.commands.tables import counted, print_table
from tools.processes.orders import OrderedEndError, orders_unwind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tools.experiments.launching import Launch, Place
    from tools.experiments.record import Run
    from tools.services.running import Service

__all__ = ["publish_results", "run", "shown_run", "watched"]

Combine = Annotated[
    bool, typer.Option("--combine", help="Combine the traces of all runs at the end.")
]


@grouped
def run(
    context: typer.Context,
    what: What,
    conditions: Conditions,
    outlet: Outlet,
    spec: Annotated[
        Path | None,
        typer.Argument(
            metavar="[SPEC]",
            help="An experiment's YAML file; see `powerkit bench schema`.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    *,
    simulate: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            "--simulate",
            "--simulate-run",
            help="Say what would run; start nothing.",
        ),
    ] = False,
    combine: Combine = False,
    form: Format = Form.TABLE,
    json_output: Json = False,
) -> None:
    """Run commands and workloads; record each run.

    A run that fails is recorded, the others still run, and the exit code is 1.
    """
    from tools.commands.bench_setup import base_spec, conditioned, place_of
    from tools.experiments.launching import prepare

    chosen = base_spec(spec, what, after_dashes(context))
    launch = prepare(conditioned(chosen, conditions))
    form = Form.JSON if json_output else form
    if simulate:
        _show_plan(launch, form)
        return
    place = place_of(outlet)
    runs = watched(launch, place, verbose=outlet.verbose)
    _say_missing(runs)
    combined = _combined(runs, place, wanted=combine)
    published = publish_results(runs, combined, outlet.publish)
    _show(runs, place, form, {"combined": _text(combined), "published": published})
    if not all(one.accepted for one in runs):
        raise typer.Exit(terminal.EXIT_FINDINGS)


def watched(
    launch: Launch,
    place: Place,
    *,
    verbose: bool = False,
    prefix: str = "",
    service_environment: Mapping[str, str] | None = None,
    running: Service | None = None,
) -> list[Run]:
    """Make all runs of an experiment, and say at a terminal how far it is.

    Ctrl-C and SIGTERM end the runs that go on, which is recorded.

    Args:
        launch: the experiment.
        place: where results go.
        verbose: whether each run gets a line of its own.
        prefix: what the line of progress begins with.
        service_environment: further variables of the service.
        running: a service that runs already.

    Raises:
        typer.Exit: a signal ended it; 128 and the signal's number.
        RegistryError: as `perform_launch` does.
    """
    from registry.gate.progress import progress_line
    from tools.experiments.launching import perform_launch

    with progress_line() as say:

        def watch(one: Run, done: int, total: int) -> None:
            line = f"{prefix}{done} of {total}: {_line(one)}"
            say(line)
            if verbose:
                typer.echo(line, err=True)

        try:
            with orders_unwind():
                return perform_launch(
                    launch, place, watch, service_environment, running
                )
        except OrderedEndError as end:
            typer.echo(f"ended by signal {end.sign}; {_kept(place)}", err=True)
            raise typer.Exit(128 + end.sign) from None


def _kept(place: Place) -> str:
    return f"what was recorded lies in {place.folder}"


def _say_missing(runs: Sequence[Run]) -> None:
    """Say which monitors are not here, where all that are were asked for."""
    said = {
        f"not monitored: {one['source']}: {one['why']}": None
        for run in runs
        for one in run.monitors.get("missing", ())
        if not one["what"]
    }
    for line in said:
        typer.echo(line, err=True)


def _line(one: Run) -> str:
    name = one.label if one.variant == "none" else f"{one.label} {one.variant}"
    end = "ok" if one.accepted else "; ".join(one.problems) or f"code {one.returncode}"
    return f"{name} {one.wall_seconds:.3f} s, {end}"


def shown_run(one: Run) -> dict[str, Any]:
    """Return a run as a row of a table."""
    from tools.experiments.metrics import joules

    return {
        "run": one.run_id,
        "workload": one.label,
        "variant": one.variant,
        "iteration": one.iteration,
        "init": one.init.value,
        "warm": one.warm,
        "wall_s": one.wall_seconds,
        "cpu_s": one.user_seconds + one.system_seconds,
        "rss_bytes": one.max_rss_bytes,
        "performance": one.performance,
        "energy_J": joules(one),
        "ended": _ended(one),
    }


def _ended(one: Run) -> str:
    if one.accepted:
        return "warm-up" if one.warm_up else "ok"
    if one.problems:
        why = "; ".join(one.problems)
    else:
        why = "not started" if one.returncode is None else f"code {one.returncode}"
    return f"warm-up failed: {why}" if one.warm_up else why


def _show(
    runs: Sequence[Run], place: Place, form: Form, more: Mapping[str, Any]
) -> None:
    failed = sum(not one.accepted for one in runs)
    document = {
        "schema": "runs/1",
        "folder": str(place.folder),
        "failed": failed,
        "runs": [one.model_dump(mode="json", by_alias=True) for one in runs],
        **more,
    }
    rows = [{k: v for k, v in shown_run(one).items() if k != "run"} for one in runs]
    print_table(rows, form, document)
    if form is Form.TABLE:
        typer.echo(f"{counted(len(runs), 'run')}, {failed} failed: {place.folder}")
        for name, value in more.items():
            if value:
                typer.echo(f"{name}: {value}")


def _show_plan(launch: Launch, form: Form) -> None:
    document = launch.document()
    rows = [
        {
            "run": number,
            "workload": order.target.label,
            "variant": order.target.variant,
            "iteration": order.iteration,
            "warm_up": order.warm_up,
            "command": order.target.builtin or " ".join(order.target.command),
        }
        for number, order in enumerate(launch.orders, 1)
    ]
    print_table(rows, form, document)
    if form is Form.TABLE:
        typer.echo(f"{counted(len(rows), 'run')} would be made")


def _combined(runs: Sequence[Run], place: Place, *, wanted: bool) -> Path | None:
    if not wanted:
        return None
    from tools.experiments.combining import combine_runs
    from tools.experiments.folders import free_name

    return combine_runs(runs, free_name(place.folder, "combined.json.gz"))


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def publish_results(
    runs: Sequence[Run], combined: Path | None, url: str | None
) -> str | None:
    """Copy the folders of runs to a URL, each under its digest.

    Returns:
        The URL as it may be shown, or None if nothing was asked for.

    Raises:
        RegistryError: A codes: nothing, or not everything, was published.
    """
    if url is None:
        return None
    from registry.gate.progress import progress_line
    from tools.assets.publishing import publish
    from tools.settings.resolved import setting

    paths = [one.folder for one in runs if one.folder is not None]
    paths += [] if combined is None else [combined]
    with progress_line() as say:
        prefix = setting("publish_prefix", None)
        done = publish(paths, url, prefix=prefix, progress=say)
    return done.url
