"""The samples of all runs as one table: one clock, united columns, readings as read.

Recordings follow each other on CLOCK_MONOTONIC, so they need no alignment. What is
missing stays empty. A column that the catalogue does not know is left out and named.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import polars as pl

from registry.documents import limits
from registry.documents.columns import Column, column
from registry.documents.findings import Finding, RegistryError, Severity, code, finding
from tools.experiments.record import Run
from tools.experiments.tables_spans import Traced
from tools.readings.series import Kind, Series
from tools.recording.counting import difference
from tools.recording.files import read_recording
from tools.recording.recording import Recording

__all__ = ["TIME", "Samples", "samples_of", "thinned"]

TIME: Final = "time_ns"
"""The column of CLOCK_MONOTONIC, before it becomes seconds."""

NO_SAMPLES: Final = code(
    "B095",
    Severity.ERROR,
    "No run has samples.",
    "Run with `--monitor all`, so that each run leaves samples.csv.",
)
LEFT_OUT: Final = code(
    "B096",
    Severity.INFO,
    "Columns of the samples are left out.",
    "See the reason; docs/columns.md lists what a table may have.",
)
RESET: Final = code(
    "B097",
    Severity.WARNING,
    "A counter goes down, and no turn explains it.",
    "Leave it out with `--without COLUMN`, or make tables of the runs before and after"
    " by themselves: the gate refuses such a counter.",
)
IMPOSSIBLE: Final = code(
    "B098",
    Severity.WARNING,
    "Readings are outside of what their column can be, so that they are left empty.",
    "Look at the source: a reading that failed may look like a number.",
)
TOO_MANY: Final = code(
    "B099",
    Severity.ERROR,
    "The samples are more than a table may have.",
    "Keep fewer, such as one a second: `--every 1`.",
)


@dataclass(slots=True)
class Samples:
    """All samples.

    Attributes:
        frame: `TIME`, then a column each; Int64 of whole numbers, else Float64.
        series: what each column of the recordings is.
        left_out: why a column is not there, by its name.
        cut: ids of runs whose recording stopped before their end.
        findings: what was done to readings, and what is odd about them.
    """

    frame: pl.DataFrame
    series: dict[str, Series] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    cut: set[str] = field(default_factory=set)
    findings: list[Finding] = field(default_factory=list)


def samples_of(
    runs: Sequence[Run], traces: Mapping[str, Traced], without: Collection[str] = ()
) -> Samples:
    """Put the samples of runs together.

    Args:
        runs: runs on one clock, in order of time.
        traces: what the traces of runs add, by the id of the run.
        without: columns to leave out.

    Raises:
        RegistryError: B095, there are none; B099, too many; O codes.
        OSError: samples cannot be read.
    """
    made = Samples(pl.DataFrame())
    frames: list[pl.DataFrame] = []
    for run in runs:
        path = run.file("samples.csv")
        if path is not None:
            recording = read_recording(path)
            frames.append(_frame(recording, made, without))
            made.cut.update([run.run_id] if recording.full else [])
        if sum(frame.height for frame in frames) > limits.ROWS:
            what = f"more than {limits.ROWS:,} rows"
            raise RegistryError(finding(TOO_MANY, run.run_id, what))
    if not any(frame.height for frame in frames):
        what = f"{len(runs)} runs without samples.csv"
        raise RegistryError(finding(NO_SAMPLES, runs[0].run_id, what))
    for extra in traces.values():
        frames += _of_trace(extra, made, without)
    whole = pl.concat(frames, how="diagonal_relaxed").sort(TIME, maintain_order=True)
    # Samples and counters of a trace may be of the same microsecond, which is one row.
    whole = whole.with_columns(pl.col(TIME) // 1000 * 1000)
    if whole[TIME].is_duplicated().any():
        whole = whole.group_by(TIME, maintain_order=True).agg(
            pl.all().drop_nulls().first()
        )
    made.frame = _possible(whole, made)
    made.findings += _resets(made)
    made.findings += [
        finding(LEFT_OUT, name, why) for name, why in sorted(made.left_out.items())
    ]
    return made


def _frame(
    recording: Recording, made: Samples, without: Collection[str]
) -> pl.DataFrame:
    columns = [pl.Series(TIME, np.array(recording.times_ns, dtype=np.int64))]
    for one in recording.columns:
        why = _why_not(one, without)
        if why is not None:
            made.left_out[one.name] = why
            continue
        made.series.setdefault(one.name, one)
        columns.append(_column(one, recording))
    return pl.DataFrame(columns)


def _column(one: Series, recording: Recording) -> pl.Series:
    """Readings in units: a division rounds to the number whose digits were read."""
    readings = pl.Series(one.name, recording.readings(one.name), dtype=pl.Int64)
    return readings if one.decimals == 0 else readings / one.steps


def _why_not(one: Series, without: Collection[str]) -> str | None:
    entry = column(one.name, "samples")
    if one.name in without:
        return "as was asked for"
    if entry is None or entry.kind not in ("counter", "gauge"):
        return "the catalogue does not know it"
    if entry.derived_from:
        return f"it is a rate of {entry.derived_from}, which is not raw"
    if entry.unit != one.unit:
        return f"it is in {one.unit}, the catalogue has {entry.unit}"
    return None


def _of_trace(
    extra: Traced, made: Samples, without: Collection[str]
) -> Iterator[pl.DataFrame]:
    for name, (times, values) in extra.columns.items():
        if name in made.series:
            made.left_out[name] = "counters of a trace; the samples have it themselves"
        elif name in without:
            made.left_out[name] = "as was asked for"
        else:
            frame = pl.DataFrame({TIME: np.array(times), name: np.array(values)})
            yield frame.unique(TIME, keep="last", maintain_order=True)


def _possible(whole: pl.DataFrame, made: Samples) -> pl.DataFrame:
    """Empty what cannot be, leave out what is empty."""
    for name in whole.columns[1:]:
        entry = _entry(name)
        bad = ~whole[name].is_between(entry.minimum, entry.maximum)
        count = int(bad.fill_null(value=False).sum())
        if count:
            what = (
                f"{count} of {whole[name].count()} are outside {entry.minimum:g} to"
                f" {entry.maximum:g} {entry.unit}"
            )
            made.findings.append(finding(IMPOSSIBLE, name, what))
            kept = pl.when(pl.col(name).is_between(entry.minimum, entry.maximum))
            whole = whole.with_columns(kept.then(pl.col(name)).alias(name))
        if whole[name].null_count() == whole.height:
            made.left_out.setdefault(name, "it has no reading")
            whole = whole.drop(name)
    return whole


def _entry(name: str) -> Column:
    entry = column(name, "samples")
    if entry is None:  # _why_not and the traces' reader let no other name pass
        raise KeyError(name)
    return entry


def _resets(made: Samples) -> Iterator[Finding]:
    """Counters that go down where they cannot have begun again at 0."""
    times = made.frame[TIME].to_numpy()
    for name in made.frame.columns[1:]:
        one = made.series.get(name)
        counter = one.kind is Kind.COUNTER if one else name.endswith("_total")
        values = made.frame[name]
        there = values.is_not_null().to_numpy()
        known, at = values.drop_nulls().to_numpy(), times[there]
        if not counter or len(known) < 2:
            continue
        falls = np.flatnonzero(np.diff(known) < 0).tolist()
        steps = one.steps if one else 1
        bad: list[tuple[float, str]] = []
        for row in falls:
            ends = [
                (int(at[k]), round(float(known[k]) * steps)) for k in (row, row + 1)
            ]
            why = "it was set back" if one is None else difference(one, *ends)[1]
            if why is not None:
                bad.append(((int(at[row + 1]) - int(times[0])) / 1e9, why))
        if bad:
            what = f"{len(bad)} times, first at {bad[0][0]:.3f} s: {bad[0][1]}"
            yield finding(RESET, name, what)


def thinned(
    frame: pl.DataFrame, every_ns: int, edges: Sequence[tuple[int, int]]
) -> pl.DataFrame:
    """Keep the fullest row of each period, and the first and last row of each window.

    Some sources are read less often than others, so that a fuller row says more.

    Args:
        frame: rows in order of `TIME`.
        every_ns: the length of a period.
        edges: begin and end of each window, inclusive.
    """
    times = frame[TIME].to_numpy()
    filled = np.zeros(len(times), dtype=np.int64)
    for name in frame.columns[1:]:
        filled += frame[name].is_not_null().to_numpy()
    period = (times - times[0]) // every_ns
    order = np.lexsort((times, -filled, period))
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = np.diff(period[order]) > 0
    keep = np.zeros(len(times), dtype=np.bool_)
    keep[order[first]] = True
    for begin, end in edges:
        inside = np.searchsorted(times, [begin, end + 1])
        if inside[1] > inside[0]:
            keep[[inside[0], inside[1] - 1]] = True
    return frame.filter(pl.Series(keep))
