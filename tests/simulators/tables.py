"""Small tables of features and watts, and bundles opened from hand-written tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from registry.gate.opening import open_bundle
from registry.modelling.blocks import load_blocks, time_blocks
from registry.modelling.catalogue import trusted
from registry.modelling.table import Floats, Table
from tests.simulators.machines import Machine
from tests.simulators.registry import NOW, Simulator

if TYPE_CHECKING:
    from registry.documents.bundle import Bundle

__all__ = ["levels", "opened", "recording", "table"]


def table(
    watts: Floats, *, recorded: bool = False, intercept: bool = True, **columns: Floats
) -> Table:
    """A table of one server and one workload, in five blocks of rows."""
    names = tuple(sorted(columns))
    rows = len(watts)
    return Table(
        names=names,
        values=np.column_stack([columns[name] for name in names]).astype(np.float64),
        watts=np.asarray(watts, dtype=np.float64),
        weight=np.ones(rows),
        load=np.linspace(0, 1, rows),
        machine=np.zeros(rows, dtype=np.int64),
        workload=np.zeros(rows, dtype=np.int64),
        block=time_blocks(rows) if recorded else load_blocks(np.linspace(0, 1, rows)),
        recorded=recorded,
        intercept=intercept,
    )


def levels(idle: float = 50.0, peak: float = 150.0, rows: int = 11) -> Table:
    """A load curve: a jump from idle and then a line, as servers have it."""
    load = np.linspace(0, 1, rows)
    watts = idle + (peak - idle) * (0.2 * (load > 0) + 0.8 * load)
    unseen = np.full(rows, np.nan)
    return table(watts, bpf_cpu_time_ms=load * 32_000, bpf_page_cache_hit=unseen)


def recording(rows: int = 300, seed: int = 1) -> Table:
    """A noisy recording in which cycles and misses draw power, in four workloads."""
    chance = np.random.default_rng(seed)
    cycles = chance.uniform(0, 1e11, rows)
    misses = chance.uniform(0, 1e8, rows)
    watts = 100 + 150 * cycles / 1e11 + 40 * misses / 1e8 + chance.normal(0, 2, rows)
    made = table(
        watts,
        recorded=True,
        cache_miss=misses,
        cpu_cycles=cycles,
        cpu_instructions=cycles * chance.uniform(0.9, 1.1, rows),
    )
    made.workload[:] = (np.arange(rows) * 4) // rows
    return made


def opened(
    tables: dict[str, str],
    machine: Machine | None = None,
    spec: dict[str, Any] | None = None,
    **fields: Any,
) -> Bundle:
    """A bundle of tables given as text, signed and opened by the gate.

    Args:
        tables: name of the table to its text; ``samples`` makes it a recording.
        machine: the server.
        spec: fields of the spec that differ from the machine's.
        fields: fields of the manifest that differ from the usual ones.
    """
    simulated = Simulator()
    simulated.enrol(7)
    server: dict[str, Any] = (machine or Machine("server-x")).spec() | (spec or {})
    profile = "timeseries" if "samples" in tables else "load-levels"
    files = {f"{name}.csv": text.encode() for name, text in tables.items()}
    lines = tables["runs"].splitlines()
    at = lines[0].split(",").index("workload")
    labels = sorted({line.split(",")[at] for line in lines[1:]})
    usual = {"profile": profile, "workloads": labels}
    simulated.add_bundle("bundle-x", 7, server, files, **usual | fields)
    tree = simulated.tree()
    return open_bundle(tree, "bundle-x", trust=trusted(tree), at=NOW)
