"""Load levels that are wrong in one way each, with the findings that they raise."""

from __future__ import annotations

import polars as pl

from registry.documents.bundle import Bundle
from tests.simulators.bundles import changed, scaled
from tests.simulators.changes import WALL, Change, kept, levels, of_spec, runs

__all__ = ["LEVELS"]


def two_rows(bundle: Bundle) -> Bundle:
    frame = bundle.tables["levels"]
    return changed(bundle, levels=pl.concat([frame, frame.head(1)]))


LEVELS: dict[str, tuple[Change, set[str]]] = {
    "no idle": (
        lambda b: kept("runs", pl.col("workload") != "idle")(
            kept("levels", pl.col("run") < 10)(b)
        ),
        {"E002", "E014"},
    ),
    "nine levels": (
        lambda b: kept("runs", pl.col("run") != 4)(
            kept("levels", pl.col("run") != 4)(b)
        ),
        {"E004"},
    ),
    "ten levels within two points": (
        runs(
            pl.when(pl.col("workload") == "idle")
            .then(0.0)
            .otherwise(0.5 + pl.col("run") / 1000)
            .alias("load_target_ratio"),
            pl.col("load_achieved_ratio").clip(0, 0.5),
        ),
        {"E004", "E005", "E043", "E047"},
    ),
    "no light load": (
        runs(
            pl.col("load_target_ratio").clip(0.25, 1).alias("load_target_ratio"),
            pl.col("load_achieved_ratio").clip(0.25, 1).alias("load_achieved_ratio"),
        ),
        {"E004", "E005", "E047"},
    ),
    "unknown runs": (levels(pl.col("run") + 1), {"E009", "E046"}),
    "derived from nowhere": (
        lambda b: changed(b, manifest={"derived": "means"}),
        {"E012"},
    ),
    "parts only": (
        lambda b: changed(
            b, levels=b.tables["levels"].rename({"wall_watts": "rapl_dram_0_watts"})
        ),
        {"E013"},
    ),
    "a level of 0": (
        levels(
            pl.when(pl.col("run") == 5).then(0.0).otherwise(WALL).alias("wall_watts")
        ),
        {"E016", "E017", "E025"},
    ),
    "megawatts": (levels(scaled("wall_watts", 1e6)), {"E017", "E019", "E020"}),
    "beyond supplies": (of_spec(power_supplies=[{"count": 1, "watts": 300}]), {"E019"}),
    "constant": (levels(pl.lit(200.0).alias("wall_watts")), {"E022"}),
    "idle above busy": (
        levels((700 - WALL).alias("wall_watts")),
        {"E022", "E023", "E024", "E025"},
    ),
    "levels mixed up": (
        levels(
            pl.lit(
                pl.Series([250.0, 400, 150, 330, 210, 380, 120, 300, 170, 280, 65])
            ).alias("wall_watts")
        ),
        {"E024", "E025"},
    ),
    "one level falls": (
        levels(pl.when(pl.col("run") == 3).then(WALL - 90).otherwise(WALL)),
        {"E025"},
    ),
    "half of the node": (
        levels((WALL * 0.7).alias("rapl_package_0_watts"), WALL * 0.5),
        {"E033", "E034"},
    ),
    "two rows of one level": (two_rows, {"E046"}),
    "performance of another load": (
        runs(pl.col("performance") ** 2 / 4e6),
        {"E047"},
    ),
}
