"""Measures taken of small tables whose answers are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry.documents.bundle import Bundle
from registry.gate.expectations.measuring import measure
from registry.gate.expectations.plans import clusters
from registry.gate.expectations.points import MOST_RUNS, plan_of
from registry.gate.expectations.response import correlation, mean, median
from tests.simulators.bundles import changed, levels_bundle, samples_bundle, scaled


@pytest.fixture(scope="module")
def recorded() -> Bundle:
    return samples_bundle()


@pytest.fixture(scope="module")
def loaded() -> Bundle:
    return levels_bundle()


@pytest.mark.parametrize(
    ("values", "share", "step", "expected"),
    [
        ([], 0.02, 0, 0),
        ([1e9, 1.01e9, 1.019e9], 0.02, 0, 1),
        ([1e9, 1.021e9, 1.041e9], 0.02, 0, 2),
        ([3e9, 1e9, 2e9, 1e9], 0.02, 0, 3),
        ([0.1, 0.115, 0.2], 0, 0.02, 2),
    ],
)
def test_near_values_are_one(
    values: list[float], share: float, step: float, expected: int
) -> None:
    assert clusters(np.array(values), share=share, step=step) == expected


def test_correlation_and_means_know_when_they_cannot_be_told() -> None:
    rising = np.arange(6.0)
    every = np.ones(6, dtype=bool)
    assert correlation(rising, rising * 2 + 1, every) == pytest.approx(1)
    assert correlation(rising, -rising, every) == pytest.approx(-1)
    assert correlation(rising, np.full(6, 3.0), every) is None
    assert correlation(rising, np.full(6, np.nan), every) is None
    assert correlation(rising[:4], rising[:4], every[:4]) is None
    assert mean(rising, ~every) is None
    assert median(np.array([1.0, np.nan, 5.0, 9.0, 7.0, 3.0]), every) == 5.0


def test_wraps_do_not_change_any_measure_of_power(recorded: Bundle) -> None:
    """The same recording with counters that were unrolled by their recorder."""
    names = [name for name in recorded.tables["samples"].columns if "joules" in name]
    unrolled = [
        (pl.col(name).diff().fill_null(0) % 262143.32885).cum_sum() for name in names
    ]
    flat = changed(recorded, samples=unrolled)
    for one, other in zip(measure(recorded), measure(flat), strict=True):
        assert (one.name, one.subject) == (other.name, other.subject)
        if one.name not in ("turn_share", "beyond_range"):
            assert one.value == pytest.approx(other.value, rel=1e-4, abs=1e-6)


def test_a_wall_meter_may_dip_under_the_packages(recorded: Bundle) -> None:
    """As in genoa0: single samples below RAPL, the means of runs well above."""
    dips = pl.when(pl.int_range(pl.len()) % 25 == 7).then(pl.col("wall_watts") * 0.45)
    bundle = changed(recorded, samples=dips.otherwise(pl.col("wall_watts")))
    before, after = measure(recorded), measure(bundle)
    assert after.value("node_over_parts", "wall_watts") == pytest.approx(
        before.value("node_over_parts", "wall_watts"), rel=0.05
    )
    assert after.value("node_over_parts", "wall_watts") > 0.9  # type: ignore[operator]


def test_a_shared_meter_is_judged_for_one_node(loaded: Bundle) -> None:
    levels = loaded.tables["levels"].rename({"wall_watts": "chassis_watts"})
    bundle = changed(
        loaded,
        levels=levels.with_columns(scaled("chassis_watts", 4)),
        spec={"nodes": {"count": 4, "shared_power": True}},
    )
    one, four = measure(loaded), measure(bundle)
    assert four.value("over_supplies", "chassis_watts") == one.value(
        "over_supplies", "wall_watts"
    )


def test_psys_is_never_summed(recorded: Bundle) -> None:
    psys = (pl.int_range(pl.len()) * 900.0).alias("rapl_psys_joules_total")
    bundle = changed(recorded, samples=psys)
    for name in ("node_over_parts", "node_slope"):
        assert measure(bundle).value(name, "wall_watts") == measure(recorded).value(
            name, "wall_watts"
        )


def test_a_gpu_that_nobody_measured_leaves_the_slope_untold(recorded: Bundle) -> None:
    gpu = {"count": 1, "vendor": "nvidia", "model": "A100"}
    bundle = changed(recorded, spec={"gpus": [gpu]})
    assert measure(bundle).value("node_slope", "wall_watts") is None
    watts = (pl.col("wall_watts") * 0 + 50).alias("gpu_0_watts")
    measured = changed(bundle, samples=watts)
    assert measure(measured).value("node_slope", "wall_watts") is not None


def test_the_frequency_of_the_samples_stands_in(recorded: Bundle) -> None:
    bundle = changed(
        recorded, runs=recorded.tables["runs"].drop("frequency_achieved_hertz")
    )
    assert measure(bundle).value("frequencies") == 12
    bare = changed(bundle, samples=bundle.tables["samples"].drop("cpu_frequency_hertz"))
    assert measure(bare).value("frequencies") == 0


def test_a_plan_is_read_up_to_a_bound() -> None:
    count = MOST_RUNS + 5
    table = pl.DataFrame(
        {"run": range(count), "workload": ["idle"] * count, "accepted": [1] * count}
    )
    points = plan_of(table)
    assert len(points.runs) == MOST_RUNS
    assert points.idle.all()
    assert np.isnan(points.load).all()


def test_a_load_of_nothing_is_idle() -> None:
    table = pl.DataFrame(
        {
            "run": [0, 1],
            "workload": ["ssj2008", "ssj2008"],
            "accepted": [1, 1],
            "load_target_ratio": [0.0, 0.5],
        }
    )
    assert plan_of(table).idle.tolist() == [True, False]


columns = st.sampled_from(
    [
        "rapl_package_0_joules_total",
        "rapl_dram_0_joules_total",
        "amd_socket_0_joules_total",
        "wall_watts",
        "chassis_watts",
        "gpu_0_watts",
        "gpu_0_joules_total",
        "psu_0_input_watts",
        "cpu_cycles_total",
        "cpu_frequency_hertz",
        "node_cpu_watts",
    ]
)
numbers = st.none() | st.floats(0, 1e6) | st.sampled_from([0.0, 1.0, 262143.0])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_no_table_is_too_odd_to_be_measured(data: st.DataObject) -> None:
    template = samples_bundle if data.draw(st.booleans()) else levels_bundle
    bundle = _TEMPLATES.setdefault(template.__name__, template())
    rows = data.draw(st.integers(1, 12))
    names = data.draw(st.lists(columns, max_size=5, unique=True))
    table = {
        "time_seconds": pl.Series(np.cumsum(np.full(rows, 0.5)), dtype=pl.Float64),
        "run": pl.Series(
            data.draw(
                st.lists(st.none() | st.integers(0, 4), min_size=rows, max_size=rows)
            ),
            dtype=pl.Int64,
        ),
    }
    for name in names:
        drawn = data.draw(st.lists(numbers, min_size=rows, max_size=rows))
        table[name] = pl.Series(drawn, dtype=pl.Float64)
    runs = pl.DataFrame(
        {
            "run": [0, 1, 2],
            "workload": ["idle", "int", "w_abcdefgh2345"],
            "accepted": data.draw(st.lists(st.integers(0, 1), min_size=3, max_size=3)),
            "load_target_ratio": pl.Series([0.0, 1.0, None], dtype=pl.Float64),
        }
    )
    frame = pl.DataFrame(table)
    main = "samples" if "samples" in bundle.tables else "levels"
    if main == "levels":
        frame = frame.drop("time_seconds")
    frames: dict[str, Any] = {"runs": runs, main: frame}
    measures = measure(changed(bundle, **frames))
    assert measures.value("runs") == 3


_TEMPLATES: dict[str, Bundle] = {}
