"""The reported half-width holds on every published SPECpower result (issue 2, Shows 1).

Each of the 577 results is taken as a class of its own: fitted, judged by held-out load
blocks, and compared with its own published watts at every level.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from registry.modelling.assemble import fit_order
from registry.modelling.blocks import load_blocks
from registry.modelling.extract import Frame
from registry.modelling.model import CURVE, LINEAR, TREES, Model, ModelId, Origin
from registry.modelling.model import predict as predict_watts
from registry.modelling.plan import Order

MODELS = (
    ("AbsPower", LINEAR, 1),
    ("DynPower", LINEAR, 5),
    ("AbsPower", CURVE, 5),
    ("AbsPower", TREES, 40),
    ("DynPower", TREES, 40),
)


@pytest.fixture(scope="module")
def results(shared_data: Path) -> list[Frame]:
    rows = pl.read_csv(shared_data / "specpower" / "specpower_levels.csv")
    return [frame(str(name[0]), result) for name, result in rows.group_by("result_id")]


def frame(name: str, result: pl.DataFrame) -> Frame:
    result = result.sort("target_load_pct")
    load = np.clip(result["actual_load_pct"].to_numpy() / 100, 0, 1)
    watts = result["avg_power_w_per_node"].cast(pl.Float64)
    rows = pl.DataFrame(
        {
            "block": load_blocks(load),
            "workload": ["ssj2008"] * len(result),
            "load_ratio": load,
            "bpf_cpu_time_ms": load * result["threads"].to_numpy() * 1000,
            "acpi:platform": watts,
        }
    )
    return Frame(
        name, name, name, rows, recorded=False, idle={"acpi:platform": float(watts[0])}
    )


def fitted(result: Frame, output: str, trainer: str) -> Model:
    model = ModelId("acpi", output, "BPFOnly", trainer, 1)
    order = Order(model, result.class_key, (Origin(result.dataset, "0"),), "0")
    return fit_order(order, [result])


@pytest.mark.parametrize(("output", "trainer", "step"), MODELS)
def test_published_watts_lie_within_the_reported_error(
    results: list[Frame], output: str, trainer: str, step: int
) -> None:
    assert len(results) == 577
    outside: list[str] = []
    for result in sorted(results, key=lambda one: one.dataset)[::step]:
        model = fitted(result, output, trainer)
        assert model.status == "published"
        taken_off = result.idle["acpi:platform"] if output == "DynPower" else 0.0
        for row in result.rows.iter_rows(named=True):
            features = {name: row[name] for name in ("load_ratio", "bpf_cpu_time_ms")}
            guess = predict_watts(model, features)["platform"]
            if abs(guess - row["acpi:platform"] + taken_off) > model.error.p95:
                outside.append(f"{result.dataset} at {row['load_ratio']}")
    assert not outside


def test_the_reported_error_of_a_load_curve_is_of_a_useful_size(
    results: list[Frame],
) -> None:
    models = [fitted(result, "AbsPower", LINEAR) for result in results[::20]]
    peaks = [result.rows["acpi:platform"].max() for result in results[::20]]
    shares = [m.error.p95 / float(p) for m, p in zip(models, peaks, strict=True)]  # type: ignore[arg-type]
    assert np.median(shares) < 0.2
