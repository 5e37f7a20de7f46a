"""Runs of experiments as the tables of a bundle: runs.csv and samples.csv.

    tables = make_tables(read_runs(folder), Wanted())
    write_tables(tables, Path("tables"))

What the monitors and traces of runs say becomes what `powerkit pack` takes. No name,
id, path or command of a run is in a table, only numbers and words of the catalogue.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from registry.documents import limits
from registry.documents.findings import Finding, RegistryError, Severity, code, finding
from registry.documents.strict_csv import read_table, write_table
from tools.experiments.record import Run
from tools.experiments.tables_labels import Labels
from tools.experiments.tables_loads import NO_FULL, LoadResult, full_load, with_loads
from tools.experiments.tables_rows import rows_of
from tools.experiments.tables_samples import (
    TIME,
    TOO_MANY,
    Samples,
    samples_of,
    thinned,
)
from tools.experiments.tables_spans import NO_COLUMN, Traced, traced
from tools.experiments.tables_windows import (
    Window,
    apart,
    counted,
    of_one_clock,
    run_window,
)

__all__ = ["Tables", "Wanted", "make_tables", "write_tables"]

TAKEN: Final = code(
    "B115",
    Severity.ERROR,
    "The folder of the tables is there already.",
    "Name a new one, or delete it.",
)
NONE_LEFT: Final = code(
    "B116",
    Severity.ERROR,
    "All runs are such that were made only to warm caches.",
    "Give a folder of runs that count.",
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """How tables are made.

    Attributes:
        labels: what workloads are called.
        span: spans of traces that become runs instead; None for whole runs.
        counters: whether counters of traces become columns.
        loads: results of loads.
        full: requests a second at full load, if somebody names it.
        every: keep about a row in so many seconds; None for all.
        without: columns of the samples to leave out.
    """

    labels: Labels
    span: str | None = None
    counters: bool = False
    loads: tuple[LoadResult, ...] = ()
    full: float | None = None
    every: float | None = None
    without: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables.

    Attributes:
        runs: the frame of runs.csv.
        samples: the frame of samples.csv.
        data: the bytes of each file by its name.
        days: the first and the last day of measurement, in UTC.
        zones: joules at which energy counters begin again, by zone of a spec.
        findings: what is left out or odd.
    """

    runs: pl.DataFrame
    samples: pl.DataFrame
    data: dict[str, bytes]
    days: tuple[str, str]
    zones: dict[str, float]
    findings: tuple[Finding, ...]


def make_tables(runs: Sequence[Run], wanted: Wanted) -> Tables:
    """Make the tables of runs.

    Raises:
        RegistryError: B080 to B116, what cannot become tables, and C codes, what can
            stand in none; V and O codes of traces and recordings.
        OSError: a file of a run cannot be read.
    """
    ordered = of_one_clock(runs)
    apart([run_window(run) for run in ordered])
    kept = counted(ordered)
    if not kept:
        raise RegistryError(finding(NONE_LEFT, ordered[0].run_id, f"{len(ordered)}"))
    traces = _traces(kept, wanted)
    windows = apart(with_loads(_windows(kept, traces, wanted), wanted.loads))
    samples = samples_of(ordered, traces, wanted.without)
    edges = [(one.begin_ns, one.end_ns) for one in windows]
    frame = samples.frame
    if wanted.every is not None:
        frame = thinned(frame, round(wanted.every * 1e9), edges)
    start = int(frame[TIME][0])
    table, counts = _labelled(frame, edges, start)
    full = full_load(wanted.loads, wanted.full)
    rows = rows_of(windows, counts, start, wanted.labels, full, samples.cut)
    found = [*samples.findings, *_of_traces(traces), *rows.findings]
    found += wanted.labels.findings()
    if wanted.loads and full is None:
        what = f"{len(wanted.loads)} results, and none of the offline scenario"
        found.append(finding(NO_FULL, wanted.loads[0].path, what))
    return Tables(
        rows.frame,
        table,
        _written({"runs": rows.frame, "samples": table}),
        (min(run.started for run in kept)[:10], max(run.started for run in kept)[:10]),
        _zones(samples),
        tuple(found),
    )


def write_tables(tables: Tables, folder: Path) -> None:
    """Write both tables into a new folder, which appears whole.

    Raises:
        RegistryError: B115, there is something already.
        OSError: it cannot be written.
    """
    if folder.is_symlink() or (folder.exists() and not _empty(folder)):
        raise RegistryError(finding(TAKEN, str(folder), "it is not empty"))
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{folder.name[:100]}.", dir=folder.parent))
    try:
        for name, data in tables.data.items():
            (part / name).write_bytes(data)
        part.chmod(0o755)
        os.replace(part, folder)  # noqa: PTH105 - over an empty folder, too
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def _empty(folder: Path) -> bool:
    return folder.is_dir() and not any(folder.iterdir())


def _traces(runs: Sequence[Run], wanted: Wanted) -> dict[str, Traced]:
    if wanted.span is None and not wanted.counters:
        return {}
    made: dict[str, Traced] = {}
    problems: list[Finding] = []
    for run in runs:
        if not run.accepted:
            continue  # its trace may be anything; it stays one run that does not count
        try:
            made[run.run_id] = traced(run, wanted.span, counters=wanted.counters)
        except RegistryError as error:
            problems += error.findings
    if problems:
        raise RegistryError(problems)
    return made


def _windows(
    runs: Sequence[Run], traces: dict[str, Traced], wanted: Wanted
) -> list[Window]:
    windows: list[Window] = []
    for run in runs:
        extra = traces.get(run.run_id)
        spans = extra is not None and wanted.span is not None
        windows += extra.windows if spans and extra else [run_window(run)]
    return apart(windows)


def _of_traces(traces: dict[str, Traced]) -> list[Finding]:
    found = [one for extra in traces.values() for one in extra.findings]
    unknown = sorted({name for extra in traces.values() for name in extra.unknown})
    if unknown:
        what = f"{len(unknown)}: {', '.join(unknown[:20])}"
        found.append(finding(NO_COLUMN, "traces", what))
    return found


def _labelled(
    frame: pl.DataFrame, edges: Sequence[tuple[int, int]], start: int
) -> tuple[pl.DataFrame, list[tuple[int, float]]]:
    """Seconds and runs for each row, and samples and seconds of each run."""
    times = frame[TIME].to_numpy()
    runs = np.full(len(times), -1, dtype=np.int64)
    counts: list[tuple[int, float]] = []
    for number, (begin, end) in enumerate(edges):
        low, high = np.searchsorted(times, [begin, end + 1]).tolist()
        runs[low:high] = number
        span = (int(times[high - 1]) - int(times[low])) / 1e9 if high > low else 0.0
        counts.append((high - low, span))
    seconds = pl.Series("time_seconds", (times - start) // 1000 / 1e6)
    label = pl.Series("run", runs).replace(-1, None)
    return frame.drop(TIME).insert_column(0, seconds).insert_column(1, label), counts


def _written(frames: dict[str, pl.DataFrame]) -> dict[str, bytes]:
    """Write tables and read them back strictly, as the gate will."""
    made: dict[str, bytes] = {}
    problems: list[Finding] = []
    for name, frame in frames.items():
        file = f"{name}.csv"
        try:
            made[file] = write_table(frame, name)
            if len(made[file]) > limits.FILE_BYTES:
                what = f"{len(made[file]):,} bytes, at most {limits.FILE_BYTES:,}"
                raise RegistryError(finding(TOO_MANY, file, what))  # noqa: TRY301
            read_table(made[file], file, name)
        except RegistryError as error:
            problems += error.findings
    if problems:
        raise RegistryError(problems)
    return made


def _zones(samples: Samples) -> dict[str, float]:
    return {
        name.removeprefix("rapl_").removesuffix("_joules_total"): one.modulus
        / one.steps
        for name, one in samples.series.items()
        if name.startswith("rapl_") and one.modulus and name in samples.frame.columns
    }
