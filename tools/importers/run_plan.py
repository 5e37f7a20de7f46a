"""Which part of a recording is which run, as the contributor says: never guessed.

A plan is a CSV table with a workload a row, the samples that it covers, and any other
column of runs.csv:

    first_burst,last_burst,state,workload        (bursts that the recording numbers)
    start_seconds,end_seconds,workload           (seconds since the first sample)
    start_unix,end_unix,workload                 (seconds since 1970)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from registry.documents import decimals, limits
from registry.documents.columns import column
from registry.documents.findings import RegistryError, Severity, code, finding, shown
from registry.documents.strict_csv import read_table
from registry.documents.workloads import OTHER

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["Recording", "one_run", "plan_runs"]

PLAN = code(
    "L022",
    Severity.ERROR,
    "A plan of runs does not fit the recording, or is no such plan.",
    "Give a workload and its bursts, seconds or Unix times in each line; runs must not"
    " overlap.",
)

_SPANS: Final = (
    ("first_burst", "last_burst"),
    ("start_seconds", "end_seconds"),
    ("start_unix", "end_unix"),
)
_OURS: Final = frozenset(
    ("run", "start_seconds", "end_seconds", "accepted", "rejected_because")
)
_ROWS: Final = 100_000
_CELL: Final = re.compile(r"[a-z0-9A-Z_.-]{0,64}")


@dataclass(frozen=True, slots=True)
class Recording:
    """What a plan is laid over.

    Attributes:
        times: Seconds since the first sample, of shape (n,).
        start: The first sample in seconds since 1970.
        bursts: The recording's own number of each sample's burst, or None.
        states: Whether each sample is of a burst (1) or after it (0), or None.

    """

    times: NDArray[np.float64]
    start: float
    bursts: NDArray[np.int64] | None = None
    states: NDArray[np.int64] | None = None


def one_run(recording: Recording) -> tuple[pl.DataFrame, pl.Series]:
    """Return runs.csv and the run of each sample where nobody says what ran."""
    line = {"workload": OTHER}
    whole = np.arange(len(recording.times))
    return _tables(recording, [(line, whole)], "runs.csv")


def plan_runs(
    data: bytes, path: str, recording: Recording
) -> tuple[pl.DataFrame, pl.Series]:
    """Lay a plan over a recording.

    Args:
        data: The bytes of the plan.
        path: Its name in findings.
        recording: Times and bursts of the samples.

    Returns:
        The frame of runs.csv, and the run of each sample, null outside of runs.

    Raises:
        RegistryError: L022, and C codes for what cannot stand in runs.csv.

    """
    header, rows = _read(data, path)
    span = _span(header, path)
    found: list[tuple[Mapping[str, str], NDArray[np.int64]]] = []
    for number, row in enumerate(rows, start=2):
        line = dict(zip(header, row, strict=True))
        first, last = (_number(line[key], key, path, number) for key in span)
        if last < first:
            what = f"{span[1]} is below {span[0]}"
            raise RegistryError(finding(PLAN, path, what, line=number))
        if span == _SPANS[0]:
            parts = list(_bursts(line, first, last, recording, path, number))
        else:
            offset = recording.start if span == _SPANS[2] else 0.0
            low, high = first - offset, last - offset
            inside = (recording.times >= low) & (recording.times <= high)
            parts = [np.flatnonzero(inside)]
        if not any(part.size for part in parts):
            what = f"no sample lies in {first:.15g} to {last:.15g}"
            raise RegistryError(finding(PLAN, path, what, line=number))
        rest = {
            key: value for key, value in line.items() if key not in (*span, "state")
        }
        found += [(rest, part) for part in parts if part.size]
    taken = np.concatenate([part for _, part in found])
    if len(np.unique(taken)) != len(taken):
        raise RegistryError(finding(PLAN, path, "two runs cover the same sample"))
    return _tables(recording, sorted(found, key=lambda one: int(one[1][0])), path)


def _read(data: bytes, path: str) -> tuple[list[str], list[list[str]]]:
    if len(data) > limits.MIB:
        raise RegistryError(finding(PLAN, path, "the plan is larger than 1 MiB"))
    try:
        lines = data.decode("ascii").replace("\r\n", "\n").rstrip("\n").split("\n")
    except UnicodeDecodeError:
        raise RegistryError(finding(PLAN, path, "the plan is no ASCII text")) from None
    rows = [line.split(",") for line in lines]
    header = rows[0]
    if len(rows) < 2 or len(rows) > _ROWS:
        what = f"{len(rows) - 1} lines below the header"
        raise RegistryError(finding(PLAN, path, what))
    for number, row in enumerate(rows, start=1):
        if len(row) != len(header) or not all(map(_CELL.fullmatch, row)):
            what = f"not {len(header)} plain cells"
            raise RegistryError(finding(PLAN, path, what, line=number))
    return header, rows[1:]


def _span(header: Sequence[str], path: str) -> tuple[str, str]:
    spans = [span for span in _SPANS if set(span) <= set(header)]
    if len(spans) != 1 or "workload" not in header or len(set(header)) < len(header):
        what = "the header needs workload and one of " + ", ".join(
            "/".join(span) for span in _SPANS
        )
        raise RegistryError(finding(PLAN, path, what, line=1))
    for name in header:
        ours = name in (*spans[0], "workload") or (
            name == "state" and spans[0] == _SPANS[0]
        )
        if not ours and (name in _OURS or column(name, "runs") is None):
            what = f'a plan cannot have the column "{shown(name)}"'
            raise RegistryError(finding(PLAN, path, what, line=1))
    return spans[0]


def _number(text: str, name: str, path: str, line: int) -> float:
    try:
        return decimals.read(text)
    except ValueError:
        what = f'{name} "{shown(text)}" is no plain number'
        raise RegistryError(finding(PLAN, path, what, line=line)) from None


def _bursts(
    line: Mapping[str, str],
    first: float,
    last: float,
    recording: Recording,
    path: str,
    number: int,
) -> Iterator[NDArray[np.int64]]:
    if recording.bursts is None:
        what = "the recording does not number its bursts"
        raise RegistryError(finding(PLAN, path, what, line=number))
    wanted = np.ones(len(recording.times), dtype=bool)
    if "state" in line:
        if recording.states is None or line["state"] not in ("0", "1"):
            what = "a state is 0 or 1, of a recording that has states"
            raise RegistryError(finding(PLAN, path, what, line=number))
        wanted = recording.states == int(line["state"])
    for burst in np.unique(recording.bursts):
        if first <= burst <= last:
            yield np.flatnonzero((recording.bursts == burst) & wanted)


def _tables(
    recording: Recording,
    found: Sequence[tuple[Mapping[str, str], NDArray[np.int64]]],
    path: str,
) -> tuple[pl.DataFrame, pl.Series]:
    """Write runs.csv and read it strictly, so that every cell is checked."""
    names = list(found[0][0])
    header = ["run", *names, "start_seconds", "end_seconds", "accepted"]
    runs = np.full(len(recording.times), -1, dtype=np.int64)
    lines = [",".join(header)]
    for run, (line, part) in enumerate(found):
        runs[part] = run
        ends = [decimals.plain(recording.times[at]) for at in (part[0], part[-1])]
        lines.append(",".join([str(run), *(line[name] for name in names), *ends, "1"]))
    frame = read_table(("\n".join(lines) + "\n").encode("ascii"), path, "runs")
    column_of_runs = pl.Series("run", runs).replace(-1, None)
    return frame, column_of_runs
