"""`powerkit monitor`: what a command, or the machine, draws and uses over a while."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from registry.gate import terminal
from tools.commands.after_dashes import CommandAfterDashes, after_dashes
from tools.commands.kernel_roots import Procroot, Sysroot
from tools.processes.orders import OrderedEndError, orders_unwind

if TYPE_CHECKING:
    from tools.processes.child import Ended
    from tools.recording.monitor import Monitor, Opened, Recording

__all__ = ["Format", "app", "monitor"]

app = typer.Typer(
    help="Watch power and use while CMD runs.",
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
)

_STANDARD_ERROR: Final = 2
_STEP_SECONDS: Final = 0.5  # how often the line at the terminal is renewed


class Format(StrEnum):
    """How the report is written."""

    TABLE = "table"
    CSV = "csv"
    TSV = "tsv"
    JSON = "json"
    YAML = "yaml"


@app.command(cls=CommandAfterDashes)
def monitor(
    ctx: typer.Context,
    sources: Annotated[
        str | None,
        typer.Option(
            help="What to read, with commas between: cpu, memory, process, rapl, nvml."
            " By default all that are there; those that you name must be there."
        ),
    ] = None,
    interval_ms: Annotated[
        int | None,
        typer.Option(
            min=1, max=3_600_000, help="From one sample to the next. [default: 50]"
        ),
    ] = None,
    devices: Annotated[
        str | None,
        typer.Option(
            help="GPUs: all, none, or indices and UUIDs with commas between. For all,"
            " CUDA_VISIBLE_DEVICES decides where it is set. [default: all]"
        ),
    ] = None,
    format: Annotated[  # noqa: A002 - the option's name
        Format, typer.Option(help="How the report is written.")
    ] = Format.TABLE,
    samples: Annotated[
        Path | None,
        typer.Option(help="Write all samples to this file, as CSV.", dir_okay=False),
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option(
            help="Write them as Chrome counter events; gzip if it ends in .gz.",
            dir_okay=False,
        ),
    ] = None,
    duration: Annotated[
        float | None,
        typer.Option(
            min=0.001, help="Watch for so many seconds; without it, until Ctrl-C."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write the report to this file.", dir_okay=False
        ),
    ] = None,
    sysroot: Sysroot = Path("/sys"),
    procroot: Procroot = Path("/proc"),
    *,
    full: Annotated[
        bool, typer.Option("--full", help="Report every sample too.")
    ] = False,
    gpu_processes: Annotated[
        bool,
        typer.Option(
            "--gpu-processes",
            help="At the end, show the processes on the GPUs on standard error; their"
            " numbers and names are in no file.",
        ),
    ] = False,
    live: Annotated[
        bool | None,
        typer.Option(help="Show a line meanwhile; by default only without CMD."),
    ] = None,
    json_output: Annotated[
        bool, typer.Option("--json", help="The same as --format json.")
    ] = False,
) -> None:
    """Watch power and use while CMD runs, or for a while.

    CMD's own output goes where ours would, but to standard error if the report is not a
    table and has no file. Exit code: 0, or 1 if CMD did not end with 0.
    """
    from tools.recording.monitor import Monitor, open_sources
    from tools.recording.opening import NAMES
    from tools.settings.resolved import setting

    command = after_dashes(ctx)
    if duration is not None and not math.isfinite(duration):
        raise typer.BadParameter("--duration is a number of seconds")
    if command is not None and duration is not None:
        raise typer.BadParameter("give --duration or a command, not both")
    _places(samples, trace, output)
    form = Format.JSON if json_output else format
    names = _asked(sources, with_process=command is not None)
    interval = setting("monitor_interval_ms", interval_ms)
    if interval < 1:
        raise typer.BadParameter("the setting monitor_interval_ms is less than 1")
    opened = open_sources(
        names if names is not None else [n for n in NAMES if command or n != "process"],
        devices=setting("visible_devices", devices),
        sysroot=sysroot,
        procroot=procroot,
    )
    with opened:
        _demand(opened, asked=names is not None)
        recorder = Monitor(opened, interval * 1_000_000)
        ended: Ended | None = None
        whole = True
        if command is None:
            whole = _watch(recorder, duration, live=live is not False)
        else:
            quiet = form is Format.TABLE or output is not None
            ended = _run(command, opened, recorder, live=bool(live), ours=quiet)
        if gpu_processes:
            _tell_processes(opened)
    recording = recorder.recording
    # The report first: it is not lost if a file cannot be written.
    _report(recording, form, output, command, ended, full=full)
    _keep(recording, samples, trace, command, ended)
    if not (whole if command is None else ended is not None and ended.ok):
        raise typer.Exit(terminal.EXIT_FINDINGS)


def _asked(sources: str | None, *, with_process: bool) -> list[str] | None:
    if sources is None:
        return None
    names = [name.strip() for name in sources.split(",") if name.strip()]
    if not names:
        raise typer.BadParameter("--sources names nothing")
    if "process" in names and not with_process:
        raise typer.BadParameter("the source process needs a command after --")
    return names


def _places(*paths: Path | None) -> None:
    """Refuse files that cannot be written before anything is measured."""
    given = [path for path in paths if path is not None]
    for path in given:
        if not path.parent.is_dir():
            raise typer.BadParameter(f"there is no folder {path.parent}")
        if path.exists() and not path.is_file():
            # A device such as /dev/null would be replaced by the file.
            raise typer.BadParameter(f"{path} is no plain file")
        try:
            # The name is as long as that of the part that is written first.
            with NamedTemporaryFile(prefix=f".{path.name}.", dir=path.parent):
                pass
        except OSError as error:
            what = f"{path} cannot be written: {error.strerror}"
            raise typer.BadParameter(what) from None
    if len({path.resolve() for path in given}) < len(given):
        raise typer.BadParameter("two outputs have the same file")


def _demand(opened: Opened, *, asked: bool) -> None:
    """Refuse to go on without what was asked for, or with nothing at all."""
    from registry.documents.findings import RegistryError, Severity

    lacking = [one for one in opened.findings() if one.severity is Severity.ERROR]
    if lacking and (asked or not opened.sources):
        raise RegistryError(lacking)


def _watch(recorder: Monitor, duration: float | None, *, live: bool) -> bool:
    """Record until the time is over or somebody orders the end.

    Returns:
        Whether it was as long as was asked for.
    """
    from registry.gate.progress import progress_line

    start = time.monotonic()
    end = float("inf") if duration is None else start + duration
    try:
        with orders_unwind(), progress_line(hidden=not live) as show, recorder:
            while (left := end - time.monotonic()) > 0 and not recorder.stopped:
                time.sleep(min(left, _STEP_SECONDS))
                show(_line(recorder, time.monotonic() - start))
    except OrderedEndError:
        return duration is None
    return True


def _run(
    command: tuple[str, ...],
    opened: Opened,
    recorder: Monitor,
    *,
    live: bool,
    ours: bool,
) -> Ended | None:
    """Record while a command runs; None if somebody ordered the end before its own."""
    from registry.gate.progress import progress_line
    from tools.processes.child import Child

    start = time.monotonic()
    stdin = subprocess.DEVNULL if os.isatty(0) else 0
    out = None if ours else _STANDARD_ERROR
    try:
        with (
            orders_unwind(),
            progress_line(hidden=not live) as show,
            Child(command, stdin=stdin, stdout=out) as child,
        ):
            opened.follow(child.pid)
            with recorder:
                while (ended := child.wait(_STEP_SECONDS)) is None:
                    show(_line(recorder, time.monotonic() - start))
            return ended
    except OrderedEndError:
        typer.echo("Ended before CMD was done.", err=True)
        return None


def _line(recorder: Monitor, seconds: float) -> str:
    """The latest of the few numbers that people look for."""
    from tools.recording.table import human_bytes

    recording = recorder.recording
    parts = [f"{seconds:.0f} s"]
    if len(recording):
        for one, value in zip(recording.columns, recording.row(-1), strict=True):
            if value is None:
                continue
            if one.quantity in ("power", "average_power", "usage_power"):
                parts.append(f"{one.device} {value / one.steps:.0f} W")
            elif one.quantity == "utilisation":
                parts.append(f"{value / one.steps:.0%}")
            elif one.quantity == "memory_used":
                parts.append(f"{one.device} {human_bytes(value)}")
    return ", ".join(parts[:12])


def _tell_processes(opened: Opened) -> None:
    from tools.recording.table import human_bytes
    from tools.sources.nvml import NvmlSource

    for source in opened.sources:
        if isinstance(source, NvmlSource):
            for one in source.processes(names=True):
                held = "?" if one.memory is None else human_bytes(one.memory)
                name = one.name or "?"
                typer.echo(f"gpu {one.device}: {one.pid} {name} {held}", err=True)


def _keep(
    recording: Recording,
    samples: Path | None,
    trace: Path | None,
    command: tuple[str, ...] | None,
    ended: Ended | None,
) -> None:
    if samples is not None:
        recording.write_csv(samples)
    if trace is None:
        return
    from tools.traces.writing import TraceWriter, microseconds

    pid = 1  # a number of its own: ours would say nothing, and names this machine's
    with TraceWriter(trace) as writer:
        writer.write(recording.counter_events(pid))
        if command is not None and ended is not None:
            writer.write(
                [
                    {
                        "name": Path(command[0]).name,
                        "cat": "command",
                        "ph": "X",
                        "pid": pid,
                        "tid": 0,
                        "ts": microseconds(ended.started_ns),
                        "dur": microseconds(ended.wall_ns),
                        "args": {"returncode": ended.returncode},
                    }
                ]
            )


def _report(
    recording: Recording,
    form: Format,
    output: Path | None,
    command: tuple[str, ...] | None,
    ended: Ended | None,
    *,
    full: bool,
) -> None:
    from registry.gate.report import print_findings
    from tools.commands import monitor_report

    summary = recording.summary()
    if form in (Format.JSON, Format.YAML):
        about: dict[str, Any] | None = None
        if command is not None:
            about = None if ended is None else asdict(ended)
            about = {"command": list(command), "ended": about}
        document = monitor_report.document(recording, summary, about, full=full)
        text = monitor_report.dumped(document, yaml=form is Format.YAML)
        monitor_report.put(text, output)
        return
    if form is Format.TABLE:
        text = monitor_report.table(recording, summary, full=full, to_file=output)
        text += monitor_report.notes(recording, summary)
        if command is not None:
            text += monitor_report.how_it_ended(command, ended)
    else:
        separator = "," if form is Format.CSV else "\t"
        text = monitor_report.separated_rows(recording, summary, separator, full=full)
    monitor_report.put(text, output)
    sys.stdout.flush()  # the table stands before what is said of it
    print_findings(summary.findings, file=sys.stderr)
