"""Runs that left samples and traces, and a whole experiment on an imagined server."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.experiments.experiment_samples import sample_run
from tests.simulators.machines import Machine, Point, points, sample_tables
from tools.experiments.record import Run, RunFile, write_run
from tools.readings.series import Kind, Series
from tools.recording.recording import Pace, Recording

__all__ = [
    "BOOT",
    "SECOND",
    "at",
    "experiment",
    "load_result",
    "recorded",
    "series",
    "trace",
]

SECOND = 1_000_000_000
BOOT = 1_767_225_600 * SECOND
"""1 January 2026: CLOCK_MONOTONIC is 0 there."""
RANGE = 262_143_328_850
_UNITS = ("joules", "watts", "seconds", "hertz", "bytes")
_DECIMALS = {"joules": 6, "watts": 3, "seconds": 6}


def series(name: str, **changes: Any) -> Series:
    """A series by the name of its column."""
    stem = name.removesuffix("_total")
    unit = next((one for one in _UNITS if stem.endswith(one)), "events")
    energy = unit == "joules"
    given: dict[str, Any] = {
        "name": name,
        "unit": unit,
        "decimals": _DECIMALS.get(unit, 0),
        "kind": Kind.COUNTER if name.endswith("_total") else Kind.INSTANT,
        "source": "fake",
        "device": "machine",
        "quantity": "anything",
        "coverage": "machine",
        "wraps": energy,
        "modulus": RANGE if energy else None,
    }
    return Series(**(given | changes))


def recorded(
    folder: Path,
    run: Run,
    rows: Iterable[tuple[float, Mapping[str, str]]] = (),
    files: Mapping[str, bytes] | None = None,
    columns: Sequence[Series] | None = None,
) -> Run:
    """Write the folder of a run.

    Args:
        folder: of all runs.
        run: its record, whose list of files is made here.
        rows: seconds after the boot, and texts of cells by column.
        files: what else it left.
        columns: what was sampled; by default what the first row has.
    """
    place = folder / run.run_id
    place.mkdir(parents=True)
    listed = list(rows)
    if listed:
        _samples(listed, columns).write_csv(place / "samples.csv")
    for name, data in (files or {}).items():
        (place / name).write_bytes(data)
    kept = tuple(
        RunFile(path=one.name, bytes=one.stat().st_size, sha256=_digest(one))
        for one in sorted(place.iterdir())
    )
    run = run.model_copy(update={"files": kept, "folder": place})
    write_run(run, place)
    return run


def _samples(
    rows: Sequence[tuple[float, Mapping[str, str]]], columns: Sequence[Series] | None
) -> Recording:
    chosen = tuple(columns or map(series, rows[0][1]))
    recording = Recording(chosen, Pace(SECOND))
    for seconds, cells in rows:
        now = round(seconds * SECOND)
        readings = [
            int(Decimal(text).scaleb(one.decimals))
            if (text := cells.get(one.name, ""))
            else None
            for one in chosen
        ]
        recording.append(now, {"fake": (now, 1000)}, readings)
    return recording


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def at(number: int, begin: float, end: float, **changes: Any) -> Run:
    """A run from some second after the boot to another one."""
    from datetime import UTC, datetime

    started = datetime.fromtimestamp(BOOT / SECOND + begin, UTC)
    given: dict[str, Any] = {
        "run_id": f"run-{number:04}",
        "started": started.isoformat(timespec="microseconds").replace("+00:00", "Z"),
        "started_monotonic_ns": round(begin * SECOND),
        "wall_seconds": end - begin,
    }
    return sample_run(0, **(given | changes))


def experiment(folder: Path, machine: Machine, offset: float = 1000.0) -> bytes:
    """An experiment at many frequencies; between its runs, short ones that warm up.

    Args:
        folder: where its runs go.
        machine: the server.
        offset: seconds after the boot when it begins.

    Returns:
        The samples as a recorder of the registry would write them.
    """
    plan = points()
    tables = sample_tables(machine, plan)
    rows = list(csv.DictReader(io.StringIO(tables["samples.csv"].decode())))
    numbers = [row.pop("run") for row in rows]
    times = [offset + float(row.pop("time_seconds")) for row in rows]
    start = 0
    for end in range(1, len(rows) + 1):
        if end < len(rows) and numbers[end] == numbers[start]:
            continue
        part = list(zip(times[start:end], rows[start:end], strict=True))
        number = len(list(folder.iterdir())) if folder.is_dir() else 0
        run = at(number, times[start], times[end - 1] + 1e-6)
        changes: dict[str, Any] = {"warm_up": True, "workload": "secret warm-up"}
        if numbers[start]:
            changes = _conditions(plan[int(numbers[start])], machine)
        recorded(folder, run.model_copy(update=changes), part)
        start = end
    return tables["samples.csv"]


def _conditions(point: Point, machine: Machine) -> dict[str, Any]:
    speed = point.load * point.hertz / 1e6 * machine.cores
    conditions: dict[str, str | float | int] = {
        "frequency_set_hertz": point.hertz,
        "load_target_ratio": str(point.load),
        "threads": machine.threads if point.load else 0,
        "placement": "compact",
        "concurrency": 1,
    }
    return {
        "workload": f"my {point.workload}",
        "parameters": conditions,
        "performance": speed or None,
        "performance_unit": "Bogo-ops per second",
    }


def trace(
    events: Sequence[Mapping[str, Any]], base_ns: int | None = None
) -> dict[str, bytes]:
    """The file of a trace, with the wall time of its 0."""
    document: dict[str, Any] = {"traceEvents": list(events)}
    if base_ns is not None:
        document["baseTimeNanoseconds"] = base_ns
    return {"trace.json": json.dumps(document).encode()}


def load_result(path: Path, begin: float, end: float, **changes: Any) -> Path:
    """The result of a load."""
    rate = {"nominal": 50.0, "planned": 50.0, "completed": 49.5, "verdict": "kept"}
    rate |= changes.pop("rate", {})
    value = {
        "schema": "load-result/1",
        "scenario": "server",
        "power_begin": {"monotonic_ns": round(begin * SECOND)},
        "power_end": {"monotonic_ns": round(end * SECOND)},
        "rate": rate,
        "interrupted": False,
        "valid": True,
    }
    path.write_text(json.dumps(value | changes))
    return path
