"""One run: a folder, a child with its environment, and a record whatever happens."""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

import tools
from registry.documents.findings import RegistryError
from registry.documents.instants import precise_instant
from tools.experiments.environment import RunPaths, host, run_environment
from tools.experiments.files import digest_of
from tools.experiments.folders import new_run_id
from tools.experiments.orders import Order, Target
from tools.experiments.record import Run, RunFile, write_run
from tools.experiments.results import read_result
from tools.experiments.sampling import Sampling
from tools.experiments.spec import ITEM, Spec
from tools.experiments.tracing import finished_trace
from tools.processes.child import Child, Ended

__all__ = ["Bench", "command_of", "perform"]

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_SLICE_SECONDS: Final = 0.2
"""How long a run goes on at most after it was asked to stop."""
OUTPUT_BYTES: Final = 1 << 30
"""A run that prints more is ended: else it would fill the disk."""
INTERRUPTED: Final = "it was interrupted"


@dataclass(frozen=True, slots=True)
class Bench:
    """What all runs of an experiment share.

    Attributes:
        spec: the experiment.
        folder: where the folders of its runs go.
        time_limit: seconds after which a run is ended; 0 for never.
        devices: GPUs that runs see.
        interval_ms: how often monitors sample.
        parameters: conditions by name, kept in every record.
        service: what runs against, for the record.
        comparison: a name of its own if variants are compared; then runs of different
            ones never go on at once.
        stopping: set when the experiment is to end.
    """

    spec: Spec
    folder: Path
    time_limit: float
    devices: str
    interval_ms: int
    parameters: Mapping[str, str | int | float | bool | None] = field(
        default_factory=dict
    )
    service: Mapping[str, Any] | None = None
    comparison: str | None = None
    stopping: threading.Event = field(default_factory=threading.Event)


@dataclass(slots=True)
class _Outcome:
    """What is known of a run so far."""

    started_epoch_ns: int
    started_ns: int
    ended: Ended | None = None
    monitors: dict[str, Any] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def command_of(
    target: Target,
    paths: RunPaths,
    *,
    trace: bool,
    launcher: Sequence[str] = (sys.executable, "-m", "tools"),
) -> tuple[str, ...]:
    """Fill in the placeholders of a command, or name a workload of the kit.

    Only ``{item}``, ``{trace}``, ``{result}`` and the item's parameters are filled in;
    ``{{item}}`` and the like leave ``{item}`` to it; other braces mean nothing here.

    Args:
        target: what runs.
        paths: where it writes.
        trace: whether a workload of the kit is to write a trace.
        launcher: how the kit is called.
    """
    if target.builtin is not None:
        return _builtin(target, paths, launcher, trace=trace)
    values = {f"{{{name}}}": value for name, value in target.parameters.items()}
    values |= {"{trace}": str(paths.trace), "{result}": str(paths.result)}
    if target.item is not None:
        values[ITEM] = target.item
    # A program with placeholders of its own, such as `powerkit load run`, gets them.
    values |= {f"{{{mark}}}": mark for mark in (*values, ITEM)}
    marks = re.compile("|".join(map(re.escape, sorted(values, key=len, reverse=True))))
    return tuple(
        marks.sub(lambda found: values[found[0]], word) for word in target.command
    )


def _builtin(
    target: Target, paths: RunPaths, launcher: Sequence[str], *, trace: bool
) -> tuple[str, ...]:
    name = (target.builtin or "").replace(ITEM, target.item or "")
    words = [*launcher, "workload", "run", name]
    words += ["--iterations", str(target.work), "--init", target.init.value]
    if trace:
        words += ["--trace", str(paths.trace)]
    return (*words, "--result", str(paths.result))


def perform(order: Order, bench: Bench, *, warm: bool) -> Run:
    """Make one run and write its record.

    Args:
        order: which.
        bench: what it shares with the others.
        warm: whether the same target had ended before.

    Raises:
        OSError: its folder or record cannot be written.
    """
    run_id = new_run_id()
    paths = _paths(bench.folder / run_id)
    environment, said = run_environment(bench.spec, order, run_id, paths, bench.devices)
    if order.target.builtin is not None:
        environment["PYTHONPATH"] = _with_ourselves(environment.get("PYTHONPATH"))
    command = command_of(order.target, paths, trace=bench.spec.trace)
    outcome = _executed(command, environment, order.target.cwd, paths, bench)
    result, complaints = read_result(paths.result)
    outcome.problems += complaints
    # Where this machine keeps things is nobody's business, so records name no folder.
    marks = RunPaths(Path("{folder}"), Path("{trace}"), Path("{result}"))
    command = command_of(
        order.target, marks, trace=bench.spec.trace, launcher=("powerkit",)
    )
    run = _recorded(order, bench, run_id, command, said, outcome, warm=warm)
    run = run.model_copy(update=result.model_dump())
    if bench.spec.trace and outcome.ended is not None:
        done = finished_trace(run, paths.trace, postprocess=bench.spec.postprocess)
        outcome.problems += done.problems
        run = run.model_copy(update={"trace": done.facts})
    files = _files(paths.folder)
    update = {"problems": tuple(outcome.problems), "files": files}
    run = run.model_copy(update=update | {"folder": paths.folder})
    write_run(run, paths.folder)
    return run


def _paths(folder: Path) -> RunPaths:
    folder.mkdir()
    return RunPaths(folder, folder / "trace.json", folder / "result.json")


def _with_ourselves(path: str | None) -> str:
    """Have the child find this kit where we were found."""
    ours = str(Path(tools.__file__).resolve().parent.parent)
    return ours if not path else f"{ours}:{path}"


def _executed(
    command: tuple[str, ...],
    environment: Mapping[str, str],
    cwd: Path | None,
    paths: RunPaths,
    bench: Bench,
) -> _Outcome:
    """Run the child to its end, to that of its time or until all is to stop."""
    outcome = _Outcome(time.time_ns(), time.monotonic_ns())
    with ExitStack() as stack:
        out = stack.enter_context((paths.folder / "stdout").open("wb"))
        err = stack.enter_context((paths.folder / "stderr").open("wb"))
        try:
            sampling = stack.enter_context(
                Sampling(bench.spec.monitors, bench.interval_ms, bench.devices)
            )
            child = stack.enter_context(
                Child(command, env=environment, cwd=cwd, stdout=out, stderr=err)
            )
        except RegistryError as error:
            outcome.problems += [f"{one.code} {one.what}" for one in error.findings]
            return outcome
        outcome.started_epoch_ns = child.started_epoch_ns
        outcome.started_ns = child.started_ns
        with sampling.of(child.pid):
            outcome.ended = _waited(child, bench, (out, err), outcome.problems)
        outcome.monitors = sampling.finish(paths.folder / "samples.csv")
        outcome.problems += sampling.problems
    return outcome


def _waited(
    child: Child, bench: Bench, outputs: Sequence[IO[bytes]], problems: list[str]
) -> Ended:
    """Wait in slices: the thread that waits is not the one that signals reach."""
    limit = bench.time_limit or float("inf")
    end = child.started_ns / 1e9 + limit
    while True:
        left = end - time.monotonic()
        if left <= 0:
            problems.append(f"it was ended after {limit:g} s")
            return child.time_out()
        ended = child.wait(min(left, _SLICE_SECONDS))
        if ended is not None:
            return ended
        if bench.stopping.is_set():
            problems.append(INTERRUPTED)
            return child.stop()
        if max(os.fstat(one.fileno()).st_size for one in outputs) > OUTPUT_BYTES:
            problems.append(f"it was ended since it printed over {OUTPUT_BYTES} bytes")
            return child.stop()


def _recorded(
    order: Order,
    bench: Bench,
    run_id: str,
    command: tuple[str, ...],
    said: Mapping[str, str],
    outcome: _Outcome,
    *,
    warm: bool,
) -> Run:
    target, spec, ended = order.target, bench.spec, outcome.ended
    service = None if bench.service is None else dict(bench.service)
    return Run(
        run_id=run_id,
        experiment=spec.name,
        description=spec.description,
        workload=target.workload,
        item=target.item,
        variant=target.variant,
        iteration=order.iteration,
        repeat=order.repeat,
        comparison=bench.comparison,
        warm_up=order.warm_up,
        command=command,
        environment=dict(said),
        parameters=dict(bench.parameters),
        init=target.init,
        warm=warm,
        started=precise_instant(outcome.started_epoch_ns),
        started_monotonic_ns=outcome.started_ns,
        wall_seconds=0 if ended is None else ended.wall_ns / 1e9,
        user_seconds=0 if ended is None else ended.user_seconds,
        system_seconds=0 if ended is None else ended.system_seconds,
        max_rss_bytes=None if ended is None else ended.max_rss_bytes,
        returncode=None if ended is None else ended.returncode,
        timed_out=ended is not None and ended.timed_out,
        monitors=outcome.monitors,
        service=service,
        host=host(),
    )


def _files(folder: Path) -> tuple[RunFile, ...]:
    """List what lies in the folder of a run; links and odd names are left out."""
    return tuple(
        RunFile(path=one.name, bytes=one.stat().st_size, sha256=digest_of(one))
        for one in sorted(folder.iterdir())
        if _NAME.fullmatch(one.name) and one.is_file() and not one.is_symlink()
    )
