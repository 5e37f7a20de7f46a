"""Measures: the named numbers of a bundle that the expectation suites judge."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["NAMES", "Measure", "Measures"]

NAMES: Final[dict[str, str]] = {
    # What ran.
    "runs": "runs that runs.csv lists",
    "idle_runs": "accepted runs in which the machine was idle",
    "target_workload_runs": "accepted runs of each target workload",
    "unexplained_runs": "runs that are rejected without a reason, or accepted with one",
    "rows_of_unknown_runs": "rows whose run is not in runs.csv",
    "rows_per_run": "rows of levels.csv for each accepted run",
    "samples_per_run": "samples of each accepted run",
    "seconds_per_run": "seconds from the first to the last sample of each accepted run",
    "seconds_outside_run": "seconds by which samples lie outside their run's times",
    "sampling_share": "samples of all accepted runs over those expected of the period",
    # What was varied.
    "frequencies": "distinct achieved frequencies of accepted runs that are not idle",
    "frequency_missed": "achieved over set frequency, for each run, less 1, absolute",
    "load_levels": "distinct loads above idle",
    "lowest_load": "lowest load above idle",
    "highest_load": "highest load",
    "load_missed": "achieved less target load of each run, absolute",
    # What was recorded.
    "power_sources": "columns that measure a whole processor or a whole node",
    "activity_columns": "columns that say how busy the machine was",
    "counters": "raw counters of the table",
    "source_named": "1 if the manifest says where derived data come from",
    "runs_measured": "share of the accepted runs for which a source gives power",
    "idle_measured": "idle runs for which a source gives power",
    # Counters.
    "resets": "decreases of a counter that no wrap-around explains",
    "turn_share": "largest step of an energy counter over the range where it wraps",
    "beyond_range": "largest value of an energy counter over the range of its zone",
    # Each source by itself.
    "sentinels": "readings that are a known mark of failure",
    "zero_share": "share of readings or steps that are exactly zero",
    "identical_share": "share of energy steps that repeat the step before to the digit",
    "resolution_steps": "range of a source's readings over its smallest step",
    "watts_package": "lowest and highest mean power of a run, processor package",
    "watts_dram": "the same, memory of a package",
    "watts_psys": "the same, platform zone of RAPL",
    "watts_platform": "the same, node",
    "watts_gpu": "the same, GPU",
    "watts_storage": "the same, drive or its supply rail",
    "watts_supply": "the same, power supply",
    "watts_cpu": "the same, the board's sensor of all processors",
    "watts_other": "the same, other channel",
    "over_tdp": "highest mean power of a package over its thermal design power",
    "over_supplies": "highest mean power of the node over its supplies' rated power",
    "peak_watts_per_core": "highest mean power of the node over its cores",
    # Power and load.
    "response": "power of the busiest run over idle power, less 1",
    "idle_over_busy": "idle power over the median power of the busier half of runs",
    "follows_load": "correlation of mean power with activity over runs, the best one",
    "fall": "largest fall of power from one load to the next, over the whole range",
    "performance_per_load": "performance over load, relative to that at full load",
    # Sources against each other.
    "core_over_package": "core or uncore power over package power, largest of any run",
    "dram_over_package": "memory over package power, median of runs that are not idle",
    "psys_over_parts": "platform zone over packages and memory, lowest of any run",
    "node_over_parts": "node over packages, memory and GPUs, median of runs",
    "node_slope": "rise of node power over the rise of its parts, idle to busiest",
    "follows_parts": "correlation of node power with that of its parts over runs",
    "meters_ratio": "one node meter over another, median of runs",
    "interfaces_ratio": "packages by one interface over another, median of runs",
    "sensor_over_package": "board's processor sensor over packages, median of runs",
    "supply_efficiency": "output over input of a power supply, highest of any run",
    "gpu_ratio": "power over energy per second of one GPU, median of runs",
    "lockstep": "share of steps in which two packages move by the same energy",
}
"""Every measure by its name, with what it is; the suites judge exactly these."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One number.

    Attributes:
        name: What it is, a key of ``NAMES``.
        subject: The column, run or workload that it is about; empty for the bundle.
        value: The number; None if it cannot be told, which no expectation judges.

    """

    name: str
    subject: str
    value: float | None


@dataclass(slots=True)
class Measures:
    """A growing list of measures that knows all names."""

    items: list[Measure] = field(default_factory=list)

    def __iter__(self) -> Iterator[Measure]:
        """Iterate in the order in which measures were taken."""
        return iter(self.items)

    def add(self, name: str, value: float | None, subject: str = "") -> None:
        """Take one measure; what is not finite cannot be told.

        Raises:
            KeyError: There is no such measure.

        """
        NAMES[name]
        known = value is not None and math.isfinite(value)
        number = float(f"{value:.6g}") if known else None
        self.items.append(Measure(name, subject, number))

    def add_runs(self, name: str, runs: Iterable[int], values: Iterable[float]) -> None:
        """Take one measure of several runs."""
        for run, value in zip(runs, values, strict=True):
            self.add(name, float(value), f"run {run}")

    def value(self, name: str, subject: str = "") -> float | None:
        """Return one measure, or None if it was not taken or cannot be told."""
        return next(
            (
                item.value
                for item in self.items
                if item.name == name and item.subject == subject
            ),
            None,
        )
