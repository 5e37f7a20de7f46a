"""Published measurements of real servers as bundles, where they are at hand."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from registry.documents.spec import HardwareSpec
from tests.simulators.bundles import levels_bundle

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from registry.documents.bundle import Bundle

__all__ = ["bursts", "disclosures", "load_curves", "results"]


def results(folder: Path) -> Iterator[Bundle]:
    """Every published SPECpower result as a load-levels bundle.

    Args:
        folder: the folder of published measurements.
    """
    template = levels_bundle()
    by_result: dict[str, list[dict[str, str]]] = {}
    with (folder / "specpower" / "specpower_levels.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            by_result.setdefault(row["result_id"], []).append(row)
    with (folder / "specpower" / "specpower_results.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if row["accepted"] == "yes":
                yield _published(template, row, by_result[row["result_id"]])


def _published(
    template: Bundle, row: dict[str, str], levels: list[dict[str, str]]
) -> Bundle:
    nodes = int(row["nodes"])
    meter = "wall_watts" if nodes == 1 else "chassis_watts"
    loads = [float(level["target_load_pct"]) / 100 for level in levels]
    runs = pl.DataFrame(
        {
            "run": list(range(len(levels))),
            "workload": ["ssj2008" if load else "idle" for load in loads],
            "load_target_ratio": loads,
            "load_achieved_ratio": [
                float(level["actual_load_pct"]) / 100 for level in levels
            ],
            "accepted": [1] * len(levels),
            "performance": [float(level["ssj_ops"]) for level in levels],
        }
    )
    watts = [float(level["avg_power_w"]) for level in levels]
    tables = {"runs": runs, "levels": pl.DataFrame({"run": runs["run"], meter: watts})}
    return replace(template, tables=tables, spec=_spec(row, nodes))


def _spec(row: dict[str, str], nodes: int) -> HardwareSpec:
    chips = max(1, int(row["chips"]))
    cores = max(1, round(int(row["cores"]) / chips)) * chips
    rated = re.findall(r"(\d+) x ([0-9]+)", row["psu"])
    supplies = [{"count": int(count), "watts": int(watts)} for count, watts in rated]
    return HardwareSpec.model_validate(
        {
            "schema": "hardware-spec/1",
            "machine": "published",
            "system": {"vendor": "V", "model": "M", "form_factor": "unknown"},
            "cpu": {
                "vendor": row["cpu_make"].lower(),
                "model": "M",
                "architecture": "x86_64",
                "sockets": {"populated": chips},
                "cores": cores,
                "threads_per_core": max(1, int(float(row["threads_per_core"] or 1))),
            },
            "memory": {"bytes": int(float(row["memory_gb"]) * 2**30)},
            "virtualisation": {"kind": "bare"},
            "nodes": {"count": nodes, "shared_power": nodes > 1},
            **({"power_supplies": supplies} if supplies else {}),
        }
    )


def bursts(folder: Path) -> dict[str, pl.DataFrame]:
    """The joined nx12 recording as derived tables: 144 bursts with their rests.

    Bursts of less than ten samples are not accepted. Loads, frequencies and the kind of
    each burst are as its description lists them.
    """
    joined = pl.read_csv(
        folder / "nx12" / "nx12_abs_joined.csv", infer_schema_length=5000
    )
    rests = 1000
    joined = joined.with_columns(
        time_seconds=(pl.col("timestamp") - pl.col("timestamp").min()).cast(float),
        number=pl.when(pl.col("state") == 1)
        .then(pl.col("run"))
        .otherwise(pl.col("run") + rests),
    )
    samples = joined.select(
        "time_seconds",
        pl.col("number").alias("run"),
        pl.col("bpf_cpu_time_us").truediv(1000).alias("bpf_cpu_seconds_per_second"),
        pl.col("cpu_cycles").alias("cpu_cycles_per_second"),
        pl.col("platform_power").cast(float).alias("acpi_watts"),
        pl.col("package_power").alias("rapl_package_0_watts"),
        pl.col("dram_power").alias("rapl_dram_0_watts"),
    )
    runs = (
        samples.group_by("run", maintain_order=True)
        .agg(
            pl.col("time_seconds").min().alias("start_seconds"),
            pl.col("time_seconds").max().alias("end_seconds"),
            pl.len().alias("count"),
        )
        .with_columns(
            workload=pl.when(pl.col("run") > rests)
            .then(pl.lit("idle"))
            .when(pl.col("run") < 22)
            .then(pl.lit("int"))
            .when(pl.col("run") < 40)
            .then(pl.lit("branch"))
            .when(pl.col("run") < 58)
            .then(pl.lit("other"))
            .when(pl.col("run") < 76)
            .then(pl.lit("l1"))
            .when(pl.col("run") < 94)
            .then(pl.lit("llc"))
            .when(pl.col("run") < 112)
            .then(pl.lit("membw"))
            .otherwise(pl.lit("other")),
            accepted=(pl.col("count") >= 10).cast(pl.Int64),
            rejected_because=pl.when(pl.col("count") < 10).then(
                pl.lit("too-few-samples")
            ),
        )
    )
    return {"samples": samples, "runs": runs.drop("count")}


def disclosures(folder: Path, columns: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Column and text of everything that SPECpower results say in some columns."""
    path = folder / "specpower" / "specpower_results.csv"
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for name in columns:
        for text in sorted({row[name] for row in rows}):
            yield name, text


def load_curves(folder: Path) -> Iterator[tuple[str, dict[str, pl.DataFrame]]]:
    """CodeCarbon's load steps against RAPL, by the name of the processor and file."""
    for path in sorted((folder / "codecarbon_load_rapl").glob("*/*.csv")):
        if path.stat().st_size < 100:
            continue  # empty where they come from as well
        steps = pl.read_csv(path)
        load, count = (steps["cpu_load"] / 100).round(3), steps.height
        runs = pl.DataFrame(
            {
                "run": range(count),
                "workload": ["idle"] + ["mix"] * (count - 1),
                "load_target_ratio": load,
                "load_achieved_ratio": load,
                "accepted": [1] * count,
            }
        )
        watts = steps["rapl_power"].alias("rapl_package_0_watts")
        name = f"{path.parent.name} {'all' if 'all_cores' in path.name else 'some'}"
        yield name, {"runs": runs, "levels": pl.DataFrame([runs["run"], watts])}
