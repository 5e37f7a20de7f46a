"""Bundles in memory, simulated or published, for tests of what judges their content."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from registry.documents import canonical
from registry.documents.bundle import Bundle
from registry.documents.manifest import Manifest, read_manifest
from registry.documents.spec import HardwareSpec, read_spec
from registry.documents.strict_csv import read_table
from tests.simulators.registry import Simulator

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.simulators.machines import Machine

__all__ = ["changed", "levels_bundle", "published", "samples_bundle", "scaled"]


def levels_bundle(machine: Machine | None = None) -> Bundle:
    """A load-levels bundle that is as it should be."""
    simulated = Simulator()
    simulated.enrol(42)
    simulated.add_levels("server-a", 42, machine)
    return read_bundle(simulated, "server-a")


def samples_bundle(machine: Machine | None = None, **options: Any) -> Bundle:
    """A timeseries bundle that is as it should be."""
    simulated = Simulator()
    simulated.enrol(42)
    simulated.add_samples("server-b", 42, machine, **options)
    return read_bundle(simulated, "server-b")


def read_bundle(simulated: Simulator, dataset: str) -> Bundle:
    """A bundle of a simulated registry, signature and digests not looked at."""
    folder = f"datasets/{dataset}"
    content = simulated.files[f"{folder}/manifest.json"]
    manifest = read_manifest(content, f"{folder}/manifest.json")
    path = manifest.spec.path
    tables = {
        entry.path.removesuffix(".csv"): read_table(
            simulated.files[f"{folder}/{entry.path}"],
            entry.path,
            entry.path.removesuffix(".csv"),
        )
        for entry in manifest.files
    }
    return Bundle(
        manifest,
        canonical.sha256(content),
        read_spec(simulated.files[path], path),
        tables,
    )


def changed(
    bundle: Bundle,
    *,
    spec: dict[str, Any] | None = None,
    manifest: dict[str, Any] | None = None,
    **tables: pl.DataFrame | pl.Expr | list[pl.Expr],
) -> Bundle:
    """The same bundle with other tables, or with parts of documents replaced.

    Args:
        bundle: where it starts from.
        spec: top level fields of the spec that differ, as a spec's author writes them.
        manifest: fields of the manifest that differ.
        tables: frames, or expressions that replace columns of the frame.
    """
    frames = dict(bundle.tables)
    for name, change in tables.items():
        whole = isinstance(change, pl.DataFrame)
        frames[name] = change if whole else frames[name].with_columns(change)
    described = bundle.spec.model_dump(mode="json", by_alias=True, exclude_none=True)
    stated = bundle.manifest.model_dump(mode="json", by_alias=True)
    return replace(
        bundle,
        tables=frames,
        spec=HardwareSpec.model_validate(described | (spec or {})),
        manifest=Manifest.model_validate(stated | manifest)
        if manifest
        else bundle.manifest,
    )


def scaled(column: str, factor: float) -> pl.Expr:
    """A column times a factor."""
    return pl.col(column) * factor


def published(folder: Path) -> Iterator[Bundle]:
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


def burst_tables(folder: Path) -> dict[str, pl.DataFrame]:
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
