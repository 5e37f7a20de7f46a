"""Models of several components: what is published, left out, constant or withheld."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from registry.modelling.assemble import (
    GENERIC_ROWS,
    NOTHING,
    fit_order,
    make_table,
    reduced,
)
from registry.modelling.blocks import time_blocks
from registry.modelling.extract import Frame
from registry.modelling.model import (
    CURVE,
    LINEAR,
    TREES,
    Linear,
    Model,
    ModelId,
    Origin,
    predict,
)
from registry.modelling.plan import Order

ROWS = 120


def recorded(name: str = "one", *, rows: int = ROWS, key: str = "alike") -> Frame:
    """Package power that follows cycles, memory power that falls with it."""
    chance = np.random.default_rng(len(name))
    cycles = chance.uniform(0, 1e11, rows)
    table = pl.DataFrame(
        {
            "block": time_blocks(rows),
            "workload": ["int"] * (rows // 2) + ["fp"] * (rows - rows // 2),
            "load_ratio": cycles / 1e11,
            "idle": [False] * rows,
            "cpu_cycles": cycles,
            "cpu_instructions": cycles * 1.1,
            "cache_miss": np.zeros(rows),
            "rapl-sysfs:package": 40 + cycles / 1e9 + chance.normal(0, 1, rows),
            "rapl-sysfs:dram": 25 - cycles / 1e10 + chance.normal(0, 1, rows),
            "rapl-sysfs:core": np.zeros(rows),
        }
    )
    idle = {"rapl-sysfs:package": 40.0, "rapl-sysfs:dram": 14.0, "rapl-sysfs:core": 0.0}
    return Frame(name, name, key, table, recorded=True, idle=idle)


def order(
    output: str = "AbsPower",
    trainer: str = LINEAR,
    source: str = "rapl-sysfs",
    key: str = "alike",
) -> Order:
    model = ModelId(source, output, "CounterOnly", trainer, 5)
    return Order(model, key, (Origin("one", "0" * 64),), "1" * 64)


@pytest.mark.parametrize("trainer", [LINEAR, TREES])
def test_a_zone_that_nothing_explains_is_a_constant(trainer: str) -> None:
    model = fit_order(order(trainer=trainer), [recorded()])
    assert model.status == "published"
    assert set(model.components) == {"package", "core", "dram"}
    low = predict(model, {"cpu_cycles": 0.0, "cpu_instructions": 0.0, "cache_miss": 0})
    high = predict(model, dict.fromkeys(model.features, 1e11))
    assert low["dram"] == high["dram"] == pytest.approx(20, abs=1)
    assert low["core"] == high["core"] == 0
    assert high["package"] > low["package"] + 50
    assert "dram is a constant: no fit was better" in model.why
    assert model.error.components["dram"].mape is not None
    assert model.error.components["core"].mape is None
    assert model.error.mae == max(e.mae for e in model.error.components.values())


def test_dynamic_power_leaves_out_what_nothing_explains() -> None:
    model = fit_order(order("DynPower"), [recorded()])
    assert model.status == "published"
    assert set(model.components) == {"package"}
    assert "dram is left out" in model.why
    assert isinstance(part := model.components["package"], Linear)
    assert part.bias == 0


def test_a_model_that_is_no_better_than_a_constant_is_withheld() -> None:
    frame = recorded()
    shuffled = frame.rows.with_columns(pl.col("rapl-sysfs:package").reverse())
    worse = Frame("one", "one", "alike", shuffled, recorded=True, idle=frame.idle)
    model = fit_order(order(trainer=TREES), [worse])
    assert model.status == "withheld"
    assert "no better than a constant" in model.why
    assert model.error.mae >= model.error.baseline_mae


def test_without_usable_rows_nothing_is_fitted() -> None:
    model = fit_order(order(source="acpi"), [recorded()])
    assert (model.status, model.components) == ("withheld", {})
    assert model.error == NOTHING
    assert model.why == "no row has both the features and the power"


def test_one_block_cannot_be_judged() -> None:
    one = recorded(rows=1)
    model = fit_order(order(), [one])
    assert model.status == "withheld"
    assert "no block of rows can be held out" in model.why


def test_rows_without_a_needed_feature_are_left_out() -> None:
    frame = recorded()
    holes = frame.rows.with_columns(
        pl.when(pl.int_range(ROWS) % 2 == 0).then(pl.col("cpu_cycles"))
    )
    sparse = Frame("one", "one", "alike", holes, recorded=True, idle=frame.idle)
    made = make_table(order().id, "alike", [sparse], "rapl-sysfs:package")
    assert made is not None
    assert len(made) == ROWS // 2
    unknown = frame.rows.with_columns(load_ratio=pl.lit(None, dtype=pl.Float64))
    blind = Frame("one", "one", "alike", unknown, recorded=True, idle=frame.idle)
    curve = order(trainer=CURVE).id
    assert make_table(curve, "alike", [blind], "rapl-sysfs:package") is None
    assert make_table(curve, "alike", [frame], "acpi:platform") is None


def test_every_server_weighs_the_same() -> None:
    frames = [recorded("one"), recorded("three", rows=30)]
    made = make_table(order().id, "alike", frames, "rapl-sysfs:package")
    assert made is not None
    totals = [made.weight[made.machine == at].sum() for at in (0, 1)]
    assert totals[0] == pytest.approx(totals[1])
    assert made.weight.sum() == pytest.approx(len(made))


def test_the_generic_class_holds_servers_of_one_class_together() -> None:
    frames = [recorded("one"), recorded("three"), recorded("eleven", key="other")]
    made = make_table(order().id, "generic", frames, "rapl-sysfs:package")
    assert made is not None
    assert sorted(np.unique(made.machine, return_counts=True)[1]) == [ROWS, 2 * ROWS]


def test_large_classes_are_thinned() -> None:
    frames = [recorded("one", rows=15_000), recorded("three", rows=15_000)]
    made = make_table(order().id, "alike", frames, "rapl-sysfs:package")
    assert made is not None
    assert len(made) == 20_000
    small = reduced(frames[0], GENERIC_ROWS)
    assert len(small.rows) == GENERIC_ROWS
    assert small.idle == frames[0].idle
    assert reduced(small, GENERIC_ROWS) is small


def test_frames_may_come_in_any_order() -> None:
    frames = [recorded("one"), recorded("three")]
    forward = fit_order(order(), frames)
    assert forward == fit_order(order(), frames[::-1])
    assert isinstance(forward, Model)
    assert forward.machines == 2
    assert forward.error.protocol == "server"
