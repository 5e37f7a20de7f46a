"""Recordings that are wrong in one way each, with the findings that they must raise."""

from __future__ import annotations

import polars as pl

from registry.documents.bundle import Bundle
from tests.simulators.bundles import changed, scaled
from tests.simulators.changes import (
    STEP,
    WALL,
    Change,
    kept,
    of_spec,
    runs,
    samples,
)

__all__ = ["RECORDINGS"]

PACKAGE = "rapl_package_0_joules_total"
PER_RUN = pl.col("run").is_null()


def without(*columns: str) -> Change:
    """Drop columns of samples.csv."""
    return lambda bundle: changed(
        bundle, samples=bundle.tables["samples"].drop(columns)
    )


def with_tdp(bundle: Bundle) -> Bundle:
    cpu = bundle.spec.cpu.model_dump(mode="json", exclude_none=True)
    return changed(bundle, spec={"cpu": cpu | {"tdp_watts": 70}})


def with_wrong_range(bundle: Bundle) -> Bundle:
    zone = {"zone": "dram_0", "max_joules": 2000.0}
    dram = pl.col("rapl_dram_0_joules_total")
    return changed(bundle, spec={"rapl_zones": [zone]}, samples=dram + 1500)


def with_small_range(bundle: Bundle) -> Bundle:
    zone = {"zone": "package_0", "max_joules": 150.0}
    steady = (pl.col(PACKAGE).diff().fill_null(0) % 262143.32885).cum_sum() % 150
    return changed(bundle, spec={"rapl_zones": [zone]}, samples=steady.alias(PACKAGE))


def derived(bundle: Bundle) -> Bundle:
    return changed(bundle, manifest={"derived": "rates"})


def many_runs(bundle: Bundle) -> Bundle:
    table = bundle.tables["runs"]
    more = pl.DataFrame(
        {
            "run": range(1000, 12000),
            "accepted": [0] * 11000,
            "workload": ["other"] * 11000,
            "rejected_because": ["other"] * 11000,
        }
    )
    return changed(bundle, runs=pl.concat([table, more], how="diagonal_relaxed"))


RECORDINGS: dict[str, tuple[Change, set[str]]] = {
    "a workload is missing": (
        runs(pl.col("workload").replace("fp", "other")),
        {"E001"},
    ),
    "a workload was never accepted": (
        runs(
            pl.when(workload := pl.col("workload") == "llc")
            .then(0)
            .otherwise(1)
            .alias("accepted"),
            pl.when(workload).then(pl.lit("other")).alias("rejected_because"),
        ),
        {"E001"},
    ),
    "no idle run": (
        runs(
            pl.col("workload").replace("idle", "int"),
            pl.when(pl.col("workload") == "idle")
            .then(0.5)
            .otherwise(pl.col("load_target_ratio"))
            .alias("load_target_ratio"),
        ),
        {"E001", "E002", "E014", "E043"},
    ),
    "two frequencies": (
        runs(
            (pl.col("frequency_achieved_hertz") > 2e9)
            .cast(float)
            .mul(1e9)
            .add(2e9)
            .alias("frequency_achieved_hertz")
        ),
        {"E003", "E044"},
    ),
    "the noise of one frequency": (
        runs(
            (3e9 + 1e6 * pl.col("run").cast(float)).alias("frequency_achieved_hertz"),
            pl.lit(3e9).alias("frequency_set_hertz"),
        ),
        {"E003"},
    ),
    "few samples": (kept("samples", PER_RUN | (STEP % 4 == 0)), {"E006"}),
    "short runs": (
        kept("samples", PER_RUN | (pl.col("time_seconds") % 35 < 17)),
        {"E007"},
    ),
    "samples of other times": (
        runs(pl.col("start_seconds") + 12, pl.col("end_seconds") + 12),
        {"E008"},
    ),
    "unknown runs": (
        samples(pl.col("run").fill_null(77)),
        {"E009"},
    ),
    "gaps": (
        kept("samples", PER_RUN | (STEP % 10 > 1)),
        {"E010"},
    ),
    "no counters": (
        lambda bundle: without(
            *(c for c in bundle.tables["samples"].columns if c.endswith("_total"))
        )(bundle),
        {"E011", "E045"},
    ),
    "derived from nowhere": (derived, {"E012"}),
    "parts only": (
        without(PACKAGE, "rapl_package_1_joules_total", "wall_watts"),
        {"E013"},
    ),
    "silent in runs": (
        samples(pl.when(PER_RUN | (pl.col("run") < 20)).then(WALL).alias("wall_watts")),
        {"E014"},
    ),
    "silent at idle": (
        samples(
            pl.when(pl.col("run").is_in([0, 31]).not_()).then(WALL).alias("wall_watts")
        ),
        {"E014"},
    ),
    "the ACPI sentinel": (
        samples(
            pl.when(STEP == 150).then(4294967.295).otherwise(WALL).alias("wall_watts")
        ),
        {"E015", "E017", "E019", "E020", "E024", "E048"},
    ),
    "a 16-bit sentinel outside runs": (
        samples(pl.when(STEP == 2).then(65535.0).otherwise(WALL).alias("wall_watts")),
        {"E015"},
    ),
    "zeros": (
        samples(pl.when(STEP % 20 == 0).then(0.0).otherwise(WALL).alias("wall_watts")),
        {"E016"},
    ),
    "a zone that is always 0": (
        samples(pl.lit(7.0).alias("rapl_core_0_joules_total")),
        {"E016"},
    ),
    "kilowatts": (
        samples(scaled("wall_watts", 0.001)),
        {"E017", "E020", "E033", "E034"},
    ),
    "millijoules": (
        lambda bundle: changed(
            bundle,
            samples=[
                scaled(PACKAGE, 1000),
                scaled("rapl_package_1_joules_total", 1000),
            ],
            spec={"rapl_zones": [{"zone": "psys", "max_joules": 1e9}]},
        ),
        {"E017", "E026", "E033", "E034"},
    ),
    "beyond design power": (with_tdp, {"E018"}),
    "beyond supplies": (
        of_spec(power_supplies=[{"count": 1, "watts": 300}]),
        {"E019"},
    ),
    "coarse": (samples((WALL / 40).round() * 40), {"E021"}),
    "a flat line": (
        samples((300 + 0.01 * (STEP % 7)).alias("wall_watts")),
        {"E021", "E022", "E034"},
    ),
    "idle above busy": (
        samples((600 - WALL).alias("wall_watts")),
        {"E022", "E023", "E024", "E034", "E048"},
    ),
    "power of other runs": (
        samples(WALL.shift(420).fill_null(strategy="backward").alias("wall_watts")),
        {"E048"},
    ),
    "a counter goes back": (
        samples(
            pl.when(STEP > 500)
            .then(pl.col("cpu_cycles_total") - 9e15)
            .otherwise(pl.col("cpu_cycles_total"))
            .alias("cpu_cycles_total")
        ),
        {"E026"},
    ),
    "an energy counter is reset": (
        samples(
            pl.when(STEP > 500)
            .then(pl.col("rapl_dram_0_joules_total") - 3000)
            .otherwise(pl.col("rapl_dram_0_joules_total"))
            .alias("rapl_dram_0_joules_total")
        ),
        {"E026"},
    ),
    "beyond the range": (with_wrong_range, {"E027"}),
    "half a turn": (with_small_range, {"E028"}),
    "made by a formula": (
        samples((STEP * 90).alias(PACKAGE)),
        {"E022", "E029"},
    ),
    "cores above the package": (
        samples(
            (
                (pl.col(PACKAGE).diff().fill_null(0) % 262143.32885).cum_sum() * 1.2
            ).alias("rapl_core_0_joules_total")
        ),
        {"E030"},
    ),
    "memory at thirty times the unit": (
        lambda bundle: changed(
            bundle,
            samples=scaled("rapl_dram_0_joules_total", 30),
            spec={"rapl_zones": []},
        ),
        {"E031", "E033", "E034"},
    ),
    "psys below its parts": (
        samples((STEP * 50).alias("rapl_psys_joules_total")),
        {"E029", "E032"},
    ),
    "half of the node": (samples(scaled("wall_watts", 0.5)), {"E033", "E034"}),
    "twice the node": (samples(scaled("wall_watts", 2.2)), {"E034"}),
    "ten times the node": (
        samples(scaled("wall_watts", 10)),
        {"E019", "E034"},
    ),
    "two meters disagree": (
        samples((WALL * 0.45).alias("acpi_watts")),
        {"E033", "E034", "E035"},
    ),
    "supplies disagree": (
        samples((WALL * 0.5).alias("psu_0_input_watts")),
        {"E035"},
    ),
    "a GPU's power and energy": (
        samples(
            (20 + WALL / 8).alias("gpu_0_watts"),
            ((20 + WALL / 8) * 0.8).cum_sum().alias("gpu_0_joules_total"),
        ),
        {"E036"},
    ),
    "two interfaces": (
        samples((WALL / 3).alias("hsmp_socket_0_watts")),
        {"E037"},
    ),
    "the board's sensor": (
        samples((pl.lit(10.0) + WALL / 8).alias("node_cpu_watts")),
        {"E038"},
    ),
    "a supply that makes power": (
        samples(
            WALL.alias("psu_0_input_watts"), (WALL * 1.2).alias("psu_0_output_watts")
        ),
        {"E039"},
    ),
    "mirrored packages": (
        samples(pl.col(PACKAGE).alias("rapl_package_1_joules_total")),
        {"E040"},
    ),
    "no reason": (
        runs(pl.when(pl.col("run") == 20).then(0).otherwise(1).alias("accepted")),
        {"E041"},
    ),
    "too many runs": (many_runs, {"E042"}),
    "loads missed": (runs(scaled("load_achieved_ratio", 0.8)), {"E043"}),
    "frequencies missed": (runs(scaled("frequency_set_hertz", 1.2)), {"E044"}),
    "nothing says how busy": (
        without("cpu_seconds_total", "bpf_cpu_seconds_total", "cpu_cycles_total"),
        {"E045"},
    ),
}
