"""Turns a Prometheus dump of Kepler 0.7 into the tables of a timeseries bundle.

Node energy is measured: its dynamic and idle parts are added up, a column a zone.
Activity is summed over all containers, whose names are never kept. What Kepler itself
estimated (the energy of containers, a node's power by a trained model) is no
measurement and stays out.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from registry.documents.columns import catalogue
from registry.documents.findings import RegistryError, Severity, code, finding
from tools.importers.kepler_node import (
    fresh_rows,
    moving,
    node_groups,
    stretch,
    summed,
)
from tools.importers.prometheus import NOT_READ, increase, read_dump
from tools.importers.run_plan import Recording, one_run, plan_runs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from registry.documents.columns import Column
    from tools.importers.prometheus import Series

__all__ = ["NO_POWER", "Imported", "days_of", "import_query"]

NO_POWER = code(
    "L023",
    Severity.ERROR,
    "A recording holds no measured power.",
    "Record where Kepler reads RAPL, ACPI, Redfish or GPUs itself: an estimate by a"
    " model trains no model.",
)
_SLOWEST: Final = 1e5
"""No processor runs at so few hertz, or kilohertz: it was not read."""
_KILOHERTZ: Final = 1e7
"""No processor runs at fewer hertz: below, the number is of kilohertz, as Linux has."""
_NEVER_STILL: Final = frozenset(
    ("bpf_cpu_time_ms", "cpu_cycles", "cpu_instructions", "cache_miss")
)
"""Features of which no running machine has none: if they stay 0, nobody counted."""
_COPIED: Final = "cpu_ref_cycles"
"""Kepler exports its cycles once more under this name."""
_NAMES_OF_0_6: Final = {
    "kepler_container_bpf_cpu_time_us_total": "kepler_container_bpf_cpu_time_ms_total"
}
"""Kepler 0.6 counted milliseconds under a name that says microseconds."""


@dataclass(frozen=True, slots=True)
class Imported:
    """Tables of a bundle, and what was done to make them.

    Attributes:
        tables: The frames of samples and runs.
        first: First day of the recording, UTC, as ISO text.
        last: Last day.
        notes: What was left out or cut, one sentence each.

    """

    tables: Mapping[str, pl.DataFrame]
    first: str
    last: str
    notes: tuple[str, ...]


def import_query(
    data: bytes,
    path: str,
    *,
    instance: str | None = None,
    plan: tuple[bytes, str] | None = None,
) -> Imported:
    """Read a dump.

    Rows are the times at which Kepler was scraped, however uneven. A scrape that was
    seen again adds no row. If a counter of the node falls, its exporter was restarted
    and energy was lost: then the longest stretch between restarts is kept. A container
    that appears later counts from its second sample, and one that restarts from 0.

    Args:
        data: The bytes of the dump.
        path: Its name in findings.
        instance: The exporter to be read, if there are several.
        plan: Bytes and name of a plan of runs; without one there is one run, "other".

    Raises:
        RegistryError: L020 to L024.

    """
    dump = read_dump(data, path, instance=instance)
    if not dump:
        what = "there is no metric whose name begins with kepler_"
        raise RegistryError(finding(NOT_READ, path, what))
    notes: list[str] = []
    groups = node_groups(dump, notes)
    if not groups:
        raise RegistryError(finding(NO_POWER, path, "no node counter is left"))
    grid = np.unique(np.concatenate([s.times for g in groups.values() for s in g]))
    node = {
        name: summed(many, grid, name, path) for name, many in sorted(groups.items())
    }
    grid, node = stretch(grid, node, groups, notes)
    node = dict(moving(node, notes))
    if not node:
        raise RegistryError(finding(NO_POWER, path, "every node counter stands still"))
    fresh = fresh_rows(node, notes)
    if fresh.sum() < 2:
        raise RegistryError(finding(NO_POWER, path, "there are fewer than 2 scrapes"))
    activity = dict(_activity(dump, grid, notes))
    columns = {
        name: _from_zero(values[fresh]) for name, values in (node | activity).items()
    }
    frequency = _frequency(dump, grid, notes)
    if frequency is not None:
        columns["cpu_frequency_hertz"] = np.round(frequency[fresh])
    grid = grid[fresh]
    recording = Recording(np.round(grid - grid[0], 3), float(grid[0]))
    runs, labels = plan_runs(*plan, recording) if plan else one_run(recording)
    samples = pl.DataFrame(
        [
            pl.Series("time_seconds", recording.times),
            labels,
            *(pl.Series(k, v).fill_nan(None) for k, v in columns.items()),
        ]
    )
    first, last = days_of(grid)
    return Imported({"samples": samples, "runs": runs}, first, last, tuple(notes))


def days_of(times: NDArray[np.float64]) -> tuple[str, str]:
    """Return the first and last day (UTC) of times in seconds since 1970."""
    first, last = (
        dt.datetime.fromtimestamp(float(t), dt.UTC).date().isoformat()
        for t in (times[0], times[-1])
    )
    return first, last


def _activity(
    dump: Mapping[str, Sequence[Series]], grid: NDArray[np.float64], notes: list[str]
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Sum the counters of all containers, in the units of the catalogue."""
    known = {
        entry.aliases["kepler_v0_7"]: entry
        for entry in catalogue()
        if entry.feature not in ("", _COPIED) and "kepler_v0_7" in entry.aliases
    }
    left: list[str] = []
    for name, many in dump.items():
        if not name.startswith("kepler_container_"):
            continue
        entry = known.get(_NAMES_OF_0_6.get(name, name))
        if entry is None or entry.kind != "counter":
            left.append(name)
            continue
        if name in _NAMES_OF_0_6:
            notes.append(f"{name} holds milliseconds, whatever its name says")
        values = _total(many, grid) / entry.scale
        if _still(values, entry):
            notes.append(f"{name} never moves: nobody counted")
        elif not np.isnan(values).all():
            yield entry.name, values
    if left:
        notes.append(
            "left out, since they are estimates, copies or mixed with gauges: "
            + ", ".join(left)
        )


def _still(values: NDArray[np.float64], entry: Column) -> bool:
    known = values[~np.isnan(values)]
    return entry.feature in _NEVER_STILL and (
        known.size == 0 or float(known.max()) == float(known.min())
    )


def _total(many: Sequence[Series], grid: NDArray[np.float64]) -> NDArray[np.float64]:
    """Grow by the increase of every series; NaN where no series has a sample.

    A container that appears after the others began in between: it counts from 0.
    """
    filled = [one for one in many if one.times.size]
    if not filled:
        return np.full(len(grid), np.nan)
    times = np.unique(np.concatenate([one.times for one in filled]))
    steps = np.zeros(len(times))
    for one in filled:
        at = np.searchsorted(times, one.times)
        steps[at] += increase(one)
        if at[0] > 0:
            steps[at[0]] += one.values[0]
    at = np.minimum(np.searchsorted(times, grid), len(times) - 1)
    return np.where(times[at] == grid, np.cumsum(steps)[at], np.nan)


def _frequency(
    dump: Mapping[str, Sequence[Series]], grid: NDArray[np.float64], notes: list[str]
) -> NDArray[np.float64] | None:
    """Return the mean frequency over all processors, if it is one."""
    name = "kepler_node_cpu_scaling_frequency_hertz"
    total, count = np.zeros(len(grid)), np.zeros(len(grid))
    for one in dump.get(name, ()):
        inside = np.isin(one.times, grid)
        at = np.searchsorted(grid, one.times[inside])
        total[at] += one.values[inside]
        count[at] += 1
    if not count.any():
        return None
    with np.errstate(invalid="ignore"):
        mean = total / count
    if np.nanmin(mean) < _SLOWEST:
        notes.append(f"{name} was not read everywhere, and is left out")
        return None
    if np.nanmax(mean) < _KILOHERTZ:
        notes.append(f"{name} is in kilohertz, whatever its name says")
        mean *= 1000
    return mean


def _from_zero(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Count from the first sample, which hides how long the machine was up."""
    known = values[~np.isnan(values)]
    return np.round(values - known[0], 9) if known.size else values
