"""The rows of runs.csv: what ran, when, under which conditions, and how well."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from registry.documents import decimals
from registry.documents.columns import Column, catalogue, column
from registry.documents.findings import Finding, Severity, code, finding, shown
from registry.documents.workloads import workload
from tools.experiments.files import read_document
from tools.experiments.record import Run
from tools.experiments.tables_labels import Labels
from tools.experiments.tables_loads import ratios
from tools.experiments.tables_windows import Window

__all__ = ["Rows", "rows_of"]

CONDITION: Final = code(
    "B110",
    Severity.WARNING,
    "A condition of a run has the name of a column, and a value that it cannot have.",
    "Use a value that docs/columns.md allows.",
)
UNIT: Final = code(
    "B111",
    Severity.WARNING,
    "The performance of a workload is left out: its unit is none of the catalogue's.",
    "Report one of ssj_ops, bogo_ops, operations, requests, transactions, bytes, flops,"
    " images or tokens a second.",
)
NOT_ITS_OWN: Final = code(
    "B112",
    Severity.INFO,
    "The performance of a run is left out, since it is not of its parts.",
    "Choose a span that a run has once.",
)
FEW: Final = code(
    "B113",
    Severity.WARNING,
    "Runs have less than two samples, so that they are not accepted.",
    "Measure longer, or sample more often.",
)
SHORT: Final = code(
    "B114",
    Severity.WARNING,
    "Accepted runs are shorter than the gate asks for.",
    "Measure each for 30 seconds or more, with ten samples or more.",
)

_OURS: Final = frozenset(
    ("run", "workload", "start_seconds", "end_seconds", "repeat", "accepted",
     "rejected_because", "performance", "performance_unit")
)  # fmt: skip
_A_SECOND: Final = re.compile(
    r"[\s_]*(?:/\s*s(?:ec(?:ond)?)?|(?:per|a|each)[\s_]second)$"
)
_SAMPLES, _SECONDS = 10, 20  # E006 and E007 of the gate's suite
_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of runs.csv, and what limits them."""

    frame: pl.DataFrame
    findings: tuple[Finding, ...]


def rows_of(
    windows: Sequence[Window],
    counts: Sequence[tuple[int, float]],
    start_ns: int,
    labels: Labels,
    full: float | None,
    cut: Collection[str] = (),
) -> Rows:
    """Make the table.

    Args:
        windows: its rows, in order of time and apart.
        counts: how many samples each has, and their span in seconds.
        start_ns: CLOCK_MONOTONIC of the first sample.
        labels: what workloads are called.
        full: requests a second at full load; None if unknown.
        cut: ids of runs whose recording stopped before their end.
    """
    found: list[Finding] = []
    rows: list[dict[str, Any]] = []
    repeats: dict[tuple[Any, ...], int] = {}
    for number, (window, count) in enumerate(zip(windows, counts, strict=True)):
        row = _conditions(window.run, found)
        row |= _load(window, full)
        row["run"] = number
        names = (window.span, _load_name(window))
        row["workload"] = labels.of(window.run, names)
        row["threads"] = _threads(window, row)
        row["start_seconds"] = _seconds(window.begin_ns, start_ns)
        row["end_seconds"] = _seconds(window.end_ns, start_ns)
        key = (row["workload"], *_key(window))
        row["repeat"] = repeats[key] = repeats.get(key, -1) + 1
        row |= _performance(window, found)
        whole = window.run.run_id not in cut
        reason = _reason(window, count[0]) if whole else "recorder-failure"
        row["accepted"] = int(reason is None)
        row["rejected_because"] = reason
        rows.append(row)
    found += _lengths(rows, counts)
    return Rows(_frame(rows), tuple(dict.fromkeys(found)))


def _seconds(instant: int, start: int) -> float:
    # A child begins a little before its first sample, and no time is negative.
    return max(instant - start, 0) // 1000 / 1e6


def _key(window: Window) -> tuple[Any, ...]:
    run = window.run
    conditions = tuple(sorted((k, str(v)) for k, v in run.parameters.items()))
    load = None if window.load is None else (window.load.scenario, window.load.asked)
    return run.workload, run.item, run.variant, window.span, load, conditions


def _load_name(window: Window) -> str | None:
    return None if window.load is None else f"load:{window.load.scenario}"


def _conditions(run: Run, found: list[Finding]) -> dict[str, Any]:
    """Conditions of an experiment that are columns of runs.csv by their names."""
    row: dict[str, Any] = {}
    for name, value in run.parameters.items():
        entry = column(name, "runs")
        if entry is None or name in _OURS or value is None:
            continue
        good = _value(entry, value)
        if good is None:
            what = f"{name} is {shown(value)}"
            found.append(finding(CONDITION, run.run_id, what))
        row[name] = good
    return row


def _value(entry: Column, value: str | float | bool) -> str | float | None:
    if isinstance(value, bool):
        value = "on" if value else "off"
    if entry.kind == "text":
        text = str(value)
        return text if text in entry.values else None
    try:
        number = decimals.read(value.strip()) if isinstance(value, str) else value
    except ValueError:
        return None
    if not entry.minimum <= number <= entry.maximum:
        return None
    if entry.kind == "id":
        return int(number) if number == int(number) else None
    return float(number)


def _load(window: Window, full: float | None) -> dict[str, Any]:
    if window.load is None:
        return {}
    asked, reached = ratios(window.load, full)
    return {"load_target_ratio": asked, "load_achieved_ratio": reached}


def _threads(window: Window, row: Mapping[str, Any]) -> int | None:
    """Threads by a condition, by the workload's own result, or by our pin."""
    if row.get("threads") is not None:
        return int(row["threads"])
    kind = workload(str(row["workload"]))
    if kind is not None and kind.idle:
        return 0
    path = window.run.file("result.json")
    stated: object = None
    if path is not None and window.run.accepted:
        stated = read_document(path).get("threads")
    if not isinstance(stated, int) or isinstance(stated, bool):
        text = window.run.environment.get("OMP_NUM_THREADS", "")
        stated = int(text) if text.isascii() and text.isdigit() else None
    return stated if stated is not None and 0 <= stated <= 65_536 else None


def _performance(window: Window, found: list[Finding]) -> dict[str, Any]:
    run, load = window.run, window.load
    value, unit = run.performance, run.performance_unit
    if load is not None:
        value, unit = load.completed, "requests"
    elif value is not None and not window.measured:
        what = f"{shown(run.label)} has several spans {shown(window.span)}"
        found.append(finding(NOT_ITS_OWN, shown(run.label), what))
        return {}
    if value is None:
        return {}
    known = _unit(unit)
    entry = column("performance", "runs")
    if known is None or entry is None or not 0 <= value <= entry.maximum:
        what = f"{value:g} {shown(unit or 'without a unit')}"
        found.append(finding(UNIT, shown(run.label), what))
        return {}
    return {"performance": value, "performance_unit": known}


def _unit(unit: str | None) -> str | None:
    """The catalogue's word for a unit a second."""
    entry = column("performance_unit", "runs")
    allowed = () if entry is None else entry.values
    plain = _A_SECOND.sub("", (unit or "").strip().lower()).strip()
    plain = re.sub(r"[\s-]+", "_", plain)
    return next((word for word in (plain, f"{plain}s") if word in allowed), None)


def _reason(window: Window, samples: int) -> str | None:
    """Why a row does not count, in the catalogue's words; None if it does."""
    run, load = window.run, window.load
    if not run.accepted:
        return _failure(run)
    if load is not None and not load.valid:
        if load.interrupted:
            return "aborted"
        return "load-off-target" if load.missed else "other"
    return None if samples >= 2 else "too-few-samples"


def _failure(run: Run) -> str:
    """The catalogue's word for a run that failed."""
    if run.returncode is None:
        return "recorder-failure"
    interrupted = any("interrupted" in one for one in run.problems)
    # Those that were ended by us or by a signal did not fail by themselves.
    if run.timed_out or run.returncode < 0 or interrupted:
        return "aborted"
    return "other" if run.returncode else "recorder-failure"


def _lengths(
    rows: Sequence[Mapping[str, Any]], counts: Sequence[tuple[int, float]]
) -> list[Finding]:
    found: list[Finding] = []
    few = [row["run"] for row in rows if row["rejected_because"] == "too-few-samples"]
    if few:
        found.append(finding(FEW, "runs.csv", f"runs {_numbers(few)}"))
    short = [
        row["run"]
        for row, (samples, seconds) in zip(rows, counts, strict=True)
        if row["accepted"] and (samples < _SAMPLES or seconds < _SECONDS)
    ]
    if short:
        what = (
            f"runs {_numbers(short)} have less than {_SAMPLES} samples or"
            f" {_SECONDS} s between first and last"
        )
        found.append(finding(SHORT, "runs.csv", what))
    return found


def _numbers(runs: Sequence[int]) -> str:
    more = f" and {len(runs) - _SHOWN} more" if len(runs) > _SHOWN else ""
    return ", ".join(map(str, runs[:_SHOWN])) + more


def _frame(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Columns in the catalogue's order; those without any value are left out."""
    kinds = {"text": pl.String(), "id": pl.Int64()}
    made: list[pl.Series] = []
    for entry in catalogue():
        if "runs" not in entry.tables:
            continue
        values = [row.get(entry.name) for row in rows]
        if any(value is not None for value in values):
            kind = kinds.get(entry.kind, pl.Float64())
            made.append(pl.Series(entry.name, values, dtype=kind))
    return pl.DataFrame(made)
