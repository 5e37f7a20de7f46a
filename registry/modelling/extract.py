"""From a verified bundle to one typed frame of features and watts of a single node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import polars as pl

from registry.documents.bundle import Bundle
from registry.documents.classkey import class_key
from registry.documents.workloads import workload
from registry.modelling.blocks import load_blocks, time_blocks
from registry.modelling.series import intervals, per_second, values
from registry.modelling.table import Floats
from registry.modelling.targets import (
    CPU_TIME,
    Quantity,
    feature_quantities,
    target_quantities,
)

BETWEEN: Final = "between-runs"
"""Workload of intervals outside runs: transitions count too, Kepler meets them all."""
_BETWEEN: Final = (BETWEEN, float("nan"), True)
_FLOOR: Final = 0.02
"""Share of the lowest readings that stands for idle where no idle run was recorded."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """The usable rows of one bundle.

    Attributes:
        dataset: Id of the dataset.
        machine: Name of the machine, which is that of its spec.
        class_key: Key of its server class.
        rows: Columns ``run``, ``block``, ``workload``, ``load_ratio`` (share of all
            logical CPUs in use), ``seconds``, ``idle``, the features under Kepler's
            names in Kepler's units per second, and the targets such as
            ``acpi:platform`` in W of one node. Null where unknown.
        recorded: Whether the rows follow each other in time.
        idle: Watts of each target while the machine is idle.
    """

    dataset: str
    machine: str
    class_key: str
    rows: pl.DataFrame
    recorded: bool
    idle: Mapping[str, float] = field(default_factory=dict)


def extract(bundle: Bundle, key: str | None = None) -> Frame:
    """Extract a bundle.

    Load levels give their load, not their CPU time. We assume that a load of x per
    cent keeps x per cent of all logical CPUs busy, as Kepler's own SPECpower models
    do: ``bpf_cpu_time_ms`` = load · logical CPUs · 1000.

    Args:
        bundle: A bundle that the gate has opened.
        key: Key of its class, if a reviewed file says otherwise than its spec.
    """
    recorded = bundle.manifest.profile == "timeseries"
    rows = _recording(bundle) if recorded else _levels(bundle)
    targets = [name for name in rows.columns if ":" in name]
    return Frame(
        dataset=bundle.manifest.dataset,
        machine=bundle.spec.machine,
        class_key=key or class_key(bundle.spec),
        rows=rows,
        recorded=recorded,
        idle={name: _idle_level(rows, name) for name in targets if _known(rows, name)},
    )


def _recording(bundle: Bundle) -> pl.DataFrame:
    samples, runs = bundle.tables["samples"], bundle.tables["runs"]
    wanted = _quantities(samples.columns, "samples")
    where = intervals(samples, list(wanted.values()))
    zones = bundle.spec.rapl_zones or ()
    ranges = {zone.zone: float(zone.max_joules) for zone in zones}
    nodes = _nodes(bundle)
    columns = {
        name: per_second(samples, quantity, where, ranges)
        / (nodes if quantity.shared else 1)
        for name, quantity in wanted.items()
    }
    details = _details(runs)
    labels = [details.get(int(run), _BETWEEN) for run in where.run]
    load = np.array([label[1] for label in labels])
    if CPU_TIME in columns:
        load = columns[CPU_TIME] / (1000 * bundle.spec.logical_cpus)
    frame = pl.DataFrame(
        {
            "run": where.run,
            "workload": [label[0] for label in labels],
            "load_ratio": np.clip(load, 0.0, 1.0),
            "seconds": where.seconds,
            **columns,
        }
    )
    accepted = [label[2] for label in labels]
    return _finished(frame.filter(pl.Series(accepted)), recorded=True)


def _levels(bundle: Bundle) -> pl.DataFrame:
    levels, runs = bundle.tables["levels"], bundle.tables["runs"]
    details = _details(runs)
    nodes = _nodes(bundle)
    labels = [details[int(run)] for run in levels["run"]]
    load = np.clip(np.array([label[1] for label in labels]), 0.0, 1.0)
    columns: dict[str, Floats] = {CPU_TIME: load * bundle.spec.logical_cpus * 1000}
    for name, quantity in _quantities(levels.columns, "levels").items():
        total = sum(values(levels, c.name) * c.scale for c in quantity.columns)
        columns[name] = np.asarray(total) / (nodes if quantity.shared else 1)
    frame = pl.DataFrame(
        {
            "run": levels["run"].cast(pl.Int64),
            "workload": [label[0] for label in labels],
            "load_ratio": load,
            "seconds": np.full(len(levels), np.nan),
            **columns,
        }
    )
    accepted = [label[2] for label in labels]
    kept = frame.filter(pl.Series(accepted)).sort("load_ratio", "run")
    return _finished(kept, recorded=False)


def _finished(frame: pl.DataFrame, *, recorded: bool) -> pl.DataFrame:
    load = frame["load_ratio"].to_numpy()
    block = time_blocks(len(frame)) if recorded else load_blocks(load)
    idle = [
        entry is not None and entry.idle for entry in map(workload, frame["workload"])
    ]
    if not recorded:
        idle = [flag or at == 0 for flag, at in zip(idle, load, strict=True)]
    return frame.with_columns(
        pl.Series("block", block, dtype=pl.Int64),
        pl.Series("idle", idle, dtype=pl.Boolean),
    ).with_columns(pl.col(pl.Float64).fill_nan(None))


def _quantities(names: list[str], table: str) -> dict[str, Quantity]:
    return {**feature_quantities(names, table), **target_quantities(names, table)}


def _nodes(bundle: Bundle) -> int:
    return bundle.spec.nodes.count if bundle.spec.nodes.shared_power else 1


def _details(runs: pl.DataFrame) -> dict[int, tuple[str, float, bool]]:
    """Give workload, load and acceptance by run; the load reached, else that asked."""
    absent = pl.lit(None, dtype=pl.Float64)
    loads = [
        pl.col(name).cast(pl.Float64) if name in runs.columns else absent
        for name in ("load_achieved_ratio", "load_target_ratio")
    ]
    level = pl.coalesce(loads).fill_null(float("nan"))
    load = runs.with_columns(level.alias("load"))["load"]
    columns = (runs["run"], runs["workload"], load, runs["accepted"])
    return {
        int(run): (str(label), float(level), int(accepted) == 1)
        for run, label, level, accepted in zip(*columns, strict=True)
    }


def _known(rows: pl.DataFrame, target: str) -> bool:
    return rows[target].null_count() < len(rows)


def _idle_level(rows: pl.DataFrame, target: str) -> float:
    known = rows.filter(pl.col(target).is_not_null())
    idle = known.filter(pl.col("idle"))[target].to_numpy()
    if len(idle):
        return float(np.median(idle))
    lowest = np.sort(known[target].to_numpy())
    return float(lowest[int(_FLOOR * (len(lowest) - 1))])
