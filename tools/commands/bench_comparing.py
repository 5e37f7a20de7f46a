"""`powerkit bench compare`: is one variant faster, and does it need less energy?"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from registry.gate import terminal
from tools.commands.after_dashes import after_dashes
from tools.commands.bench_compare_options import Combined, Comparing
from tools.commands.bench_grouping import grouped
from tools.commands.bench_options import Conditions, Outlet, What
from tools.commands.forms import Form, Format, Json

if TYPE_CHECKING:
    from tools.experiments.comparison import Comparison
    from tools.experiments.launching import Place
    from tools.experiments.ratios import Ratio
    from tools.experiments.record import Run
    from tools.experiments.sides import Sides
    from tools.experiments.spec import Spec

__all__ = ["compare"]

_ROUNDS: Final = 10
_SPECS: Final = frozenset({".yaml", ".yml"})


@grouped
def compare(
    context: typer.Context,
    what: What,
    conditions: Conditions,
    outlet: Outlet,
    comparing: Comparing,
    source: Annotated[
        Path | None,
        typer.Argument(
            metavar="[SPEC | FOLDER]",
            help="An experiment with variants, or runs of one.",
            exists=True,
        ),
    ] = None,
    *,
    combine: Annotated[
        Combined, typer.Option(help="Combine traces: none, all or per-workload.")
    ] = Combined.NONE,
    form: Format = Form.TABLE,
    json_output: Json = False,
) -> None:
    """Compare two variants: ratios and verdicts.

    Each workload has a ratio with an interval, and a verdict on it.

    Runs that exist are compared as they are; else both variants are run in rounds.
    """
    from tools.experiments.comparison import compare as compared
    from tools.experiments.metrics import metric
    from tools.experiments.ratios import Method

    wanted = metric(comparing.metric)
    command = after_dashes(context)
    sides = _existing(source, comparing, command or what.workload)
    place = None
    if sides is None:
        made = _wanted(source, what, conditions, comparing, command)
        sides, place = _performed(made, outlet, conditions, comparing)
    method = Method(
        comparing.statistic.value,
        comparing.interval.value,
        comparing.confidence,
        comparing.resamples,
        conditions.seed or 0,
        sides.interleaved,
    )
    traces = _combined([*sides.baseline, *sides.candidate], place, combine)
    result = compared(sides.baseline, sides.candidate, wanted, method)
    _keep(result, place)
    _plot(result, comparing.plot)
    _show(result, place, Form.JSON if json_output else form, traces)
    if not all(one.accepted for one in (*sides.baseline, *sides.candidate)):
        raise typer.Exit(terminal.EXIT_FINDINGS)


def _existing(
    source: Path | None, comparing: Comparing, runs_something: object
) -> Sides | None:
    """Read the runs that are to be compared, if they exist already."""
    from tools.experiments.record import read_runs
    from tools.experiments.sides import BASELINE, CANDIDATE, sides_of_runs

    one, other = comparing.baseline, comparing.candidate
    if source is not None and source.is_dir():
        if runs_something:
            raise typer.BadParameter("runs that exist need no command")
        names = one or BASELINE, other or CANDIDATE
        return sides_of_runs(read_runs(source), None, *names)
    if source is not None or runs_something or one is None or other is None:
        return None
    # Unlike Path.is_dir, it bears commands that are too long for a name.
    folders = [os.path.isdir(text) for text in (one, other)]  # noqa: PTH112
    if folders[0] != folders[1]:
        raise typer.BadParameter("--baseline and --candidate are of different kinds")
    if not all(folders):
        return None
    old, new = read_runs(Path(one)), read_runs(Path(other))
    return sides_of_runs(old, new, BASELINE, CANDIDATE)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is to be run: both variants in one experiment, or an experiment each."""

    spec: Spec
    other: Spec | None
    baseline: str
    candidate: str


def _wanted(
    source: Path | None,
    what: What,
    conditions: Conditions,
    comparing: Comparing,
    command: Sequence[str] | None,
) -> _Wanted:
    """Read or make the experiment of both variants, or one of each."""
    from tools.commands.bench_setup import base_spec, conditioned
    from tools.experiments.sides import BASELINE, CANDIDATE

    one, other = comparing.baseline, comparing.candidate
    if source is not None or what.workload or command:
        spec = conditioned(base_spec(source, what, command), conditions)
        spec = _with_variants(spec, comparing)
        return _Wanted(spec, None, one or BASELINE, other or CANDIDATE)
    if one is None or other is None:
        raise typer.BadParameter(
            "give a SPEC or FOLDER, --baseline and --candidate, or a command after --"
        )
    if Path(one).suffix in _SPECS and Path(other).suffix in _SPECS:
        specs = [base_spec(Path(path), what, None) for path in (one, other)]
        first, second = (conditioned(spec, conditions) for spec in specs)
        return _Wanted(first, second, BASELINE, CANDIDATE)
    spec = conditioned(_of_commands(what, one, other), conditions)
    return _Wanted(spec, None, BASELINE, CANDIDATE)


def _of_commands(what: What, one: str, other: str) -> Spec:
    from tools.commands.bench_setup import base_spec
    from tools.experiments.sides import BASELINE, CANDIDATE
    from tools.experiments.spec import changed

    try:
        words = shlex.split(one), shlex.split(other)
    except ValueError as error:
        raise typer.BadParameter(f"a command cannot be read: {error}") from None
    if not all(words):
        raise typer.BadParameter("a command has no words")
    variants = {
        BASELINE: {"command": words[0]},
        CANDIDATE: {"command": words[1]},
    }
    spec = base_spec(None, what, words[0])
    return changed(spec, "the command line", {"variants": variants})


def _with_variants(spec: Spec, comparing: Comparing) -> Spec:
    """Make variants of what the options say of each side, or of TRIMS's two modes."""
    from tools.commands.bench_setup import variables
    from tools.experiments.sides import BASELINE, CANDIDATE
    from tools.experiments.spec import changed

    given = {
        comparing.baseline or BASELINE: variables(comparing.baseline_env or ()),
        comparing.candidate or CANDIDATE: variables(comparing.candidate_env or ()),
    }
    if len(given) < 2:
        raise typer.BadParameter("--baseline and --candidate are the same")
    named = spec.variants
    if not named and spec.trims_environment:
        modes = ("false", "true")
        given = {
            name: {"UPR_ENABLED": mode} | env
            for (name, env), mode in zip(given.items(), modes, strict=True)
        }
    if not any(given.values()):
        return spec
    variants = {
        name: (named[name].model_dump(exclude_unset=True) if name in named else {})
        | {"env": (named[name].env if name in named else {}) | env}
        for name, env in given.items()
    }
    return changed(spec, "the command line", {"variants": variants})


def _performed(
    wanted: _Wanted, outlet: Outlet, conditions: Conditions, comparing: Comparing
) -> tuple[Sides, Place]:
    """Run both variants in rounds."""
    from dataclasses import replace

    from tools.commands.bench_running import publish_results, watched
    from tools.commands.bench_setup import place_of
    from tools.experiments.folders import new_run_id
    from tools.experiments.launching import prepare
    from tools.experiments.orders import compared
    from tools.experiments.sides import Sides, paired_targets

    spec, names = wanted.spec, (wanted.baseline, wanted.candidate)
    if spec.concurrency > 1 and comparing.interleave:
        # Side by side, each variant would be measured under the load of the other.
        what = "runs that go on at once need --no-interleave: first one variant's"
        raise typer.BadParameter(what)
    pairs = paired_targets(spec, wanted.other, *names)
    rounds = comparing.rounds or (spec.iterations if spec.iterations > 1 else _ROUNDS)
    orders = compared(
        pairs,
        rounds=rounds,
        warm_up=spec.warm_up,
        seed=conditions.seed or 0,
        interleave=comparing.interleave,
    )
    launch = prepare(spec, orders)
    told = {"interleaved": comparing.interleave, "rounds": rounds}
    parameters = {**launch.parameters, **told}
    launch = replace(launch, parameters=parameters, comparison=new_run_id())
    place = place_of(outlet)
    runs = watched(launch, place, verbose=outlet.verbose)
    publish_results(runs, None, outlet.publish)
    parts = [[run for run in runs if run.variant == name] for name in names]
    return Sides(parts[0], parts[1], comparing.interleave), place


def _combined(runs: Sequence[Run], place: Place | None, combine: Combined) -> list[str]:
    if combine is Combined.NONE:
        return []
    if place is None:
        raise typer.BadParameter("--combine goes with runs that are made now")
    from tools.experiments.combining import combine_each, combine_runs
    from tools.experiments.folders import free_name

    if combine is Combined.ALL:
        path = free_name(place.folder, "compared-all.json.gz")
        done = [combine_runs(runs, path)]
    else:
        done = combine_each(runs, place.folder)
    return [str(path) for path in done]


def _keep(result: Comparison, place: Place | None) -> None:
    """Keep the comparison beside the runs that were made for it."""
    from tools.experiments.files import write_document
    from tools.experiments.folders import free_name

    if place is not None:
        path = free_name(place.folder, "comparison.json")
        write_document(path, result.document())


def _plot(result: Comparison, path: Path | None) -> None:
    if path is None:
        return
    from tools.experiments.plots import plot_bars
    from tools.experiments.series import comparison_bars

    label = f"speed-up of {result.metric}"
    plot_bars(comparison_bars(result), path, label=label, line=1.0)


def _show(
    result: Comparison, place: Place | None, form: Form, traces: Sequence[str]
) -> None:
    from registry.gate.report import print_findings
    from tools.commands.tables import print_table

    energy = any(row.energy is not None for row in result.rows)
    rows = [
        {
            "workload": row.workload,
            f"baseline_{result.unit or 'performance'}": row.baseline,
            f"candidate_{result.unit or 'performance'}": row.candidate,
            **_ratio("speedup", row.speedup),
            **(_ratio("energy", row.energy) if energy else {}),
            "runs": f"{row.baseline_runs}/{row.candidate_runs}",
            "failed": row.failed,
        }
        for row in result.rows
    ]
    document = result.document() | {"combined": list(traces)}
    if place is not None:
        document["folder"] = str(place.folder)
    print_table(rows, form, document)
    if form is Form.TABLE:
        if result.findings:
            print_findings(result.findings)
        typer.echo(_in_words("all workloads", result.speedup, result))
        if result.energy is not None:
            typer.echo(_in_words("energy", result.energy, result))
        for trace in traces:
            typer.echo(f"combined: {trace}")
        if place is not None:
            typer.echo(f"runs: {place.folder}")


def _ratio(name: str, ratio: Ratio | None) -> dict[str, Any]:
    if ratio is None:
        return {name: None, f"{name}_low": None, f"{name}_high": None} | {
            f"{name}_verdict": None
        }
    return {
        name: ratio.value,
        f"{name}_low": ratio.low,
        f"{name}_high": ratio.high,
        f"{name}_verdict": ratio.verdict,
    }


def _in_words(name: str, ratio: Ratio, result: Comparison) -> str:
    ends = ""
    if ratio.low is not None and ratio.high is not None:
        ends = f" [{ratio.low:.4g}, {ratio.high:.4g}] at {result.method.confidence:.0%}"
    return f"{name}: {ratio.value:.4g}{ends}, {ratio.verdict}"
