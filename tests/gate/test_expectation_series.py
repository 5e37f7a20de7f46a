"""Counters over time: wraps are undone, resets are told, means are of whole runs."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.documents.spec import RAPL_RANGE_JOULES, HardwareSpec
from registry.gate.expectations.series import (
    clock_of,
    counter_series,
    gauge_series,
)
from registry.gate.expectations.sources import (
    modulus,
    sources_of,
)
from tests.simulators.machines import Machine


def frame(values: list[float | None], runs: list[int | None]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "time_seconds": [float(place) for place in range(len(values))],
            "run": pl.Series(runs, dtype=pl.Int64),
            "x": pl.Series(values, dtype=pl.Float64),
        }
    )


def test_a_wrap_is_undone() -> None:
    table = frame([90.0, 98.0, 6.0, 14.0], [0, 0, 0, 0])
    series = counter_series(table["x"], clock_of(table, np.array([0])), 100.0)
    assert series.values.tolist() == [8.0, 8.0, 8.0]
    assert (series.wraps, series.resets) == (1, 0)
    assert series.means().tolist() == [8.0]


def test_a_fall_that_no_wrap_explains_is_a_reset() -> None:
    table = frame([5000.0, 5100.0, 3.0, 103.0], [0, 0, 0, 0])
    clock = clock_of(table, np.array([0]))
    for turn in (None, RAPL_RANGE_JOULES):
        series = counter_series(table["x"], clock, turn)
        assert (series.wraps, series.resets) == (0, 1)
        assert np.isnan(series.values[1])
        assert series.means().tolist() == [100.0]


def test_steps_between_runs_belong_to_none() -> None:
    table = frame([0.0, 10, 1000, 2000, 2030, 2060], [4, 4, None, None, 9, 9])
    series = counter_series(table["x"], clock_of(table, np.array([9, 4, 7])))
    assert series.means().tolist()[:2] == [30.0, 10.0]
    assert np.isnan(series.means()[2])


def test_missing_readings_are_bridged_within_a_run_only() -> None:
    table = frame([0.0, None, 20.0, None, None, 70.0], [1, 1, 1, 1, 2, 2])
    clock = clock_of(table, np.array([1, 2]))
    series = counter_series(table["x"], clock)
    assert series.seconds.tolist() == [2.0, 3.0]
    assert series.means()[0] == 10.0
    assert np.isnan(series.means()[1])
    readings = gauge_series(table["x"], clock)
    assert readings.means().tolist() == [10.0, 70.0]


def test_a_column_without_values_is_no_error() -> None:
    table = frame([None, None], [0, 0])
    clock = clock_of(table, np.array([0]))
    for series in (counter_series(table["x"], clock), gauge_series(table["x"], clock)):
        assert np.isnan(series.highest)
        assert np.isnan(series.means()).all()


def test_samples_without_runs_have_no_place() -> None:
    table = frame([1.0, 2.0], [0, 0]).drop("run")
    assert clock_of(table, np.array([0])).place.tolist() == [-1, -1]
    assert clock_of(frame([1.0], [3]), np.array([], dtype=np.int64)).runs == 0


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(1, 900), min_size=3, max_size=60),
    st.floats(1000, 5000),
    st.floats(0, 1000),
)
def test_watts_come_back_from_any_wrapping_counter(
    watts: list[float], turn: float, start: float
) -> None:
    joules = (start + np.concatenate([[0.0], np.cumsum(watts)])) % turn
    table = frame(joules.tolist(), [0] * len(joules))
    series = counter_series(table["x"], clock_of(table, np.array([0])), turn)
    assert series.resets == 0
    assert series.values == pytest.approx(np.array(watts), abs=1e-6)
    assert series.means()[0] == pytest.approx(np.mean(watts), abs=1e-6)


def test_each_zone_has_its_own_range() -> None:
    spec = HardwareSpec.model_validate(
        Machine("m", sockets=2).spec()
        | {"rapl_zones": [{"zone": "dram_1", "max_joules": 65712.999613}]}
    )
    table = pl.DataFrame(
        {
            "time_seconds": [0.0],
            "rapl_package_0_joules_total": [1.0],
            "rapl_dram_1_joules_total": [1.0],
            "rapl_psys_joules_total": [1.0],
            "gpu_3_joules_total": [1.0],
            "psu_1_input_watts": [1.0],
            "wall_watts": [1.0],
            "gpu_0_power_limit_watts": [1.0],
            "cpu_cycles_total": [1.0],
        }
    )
    found = {source.column: source for source in sources_of(table, "samples")}
    assert list(found) == table.columns[1:7]
    package, dram, psys, gpu, supply, wall = found.values()
    assert (package.zone, package.index, package.counter) == ("package", 0, True)
    assert (supply.zone, supply.index, supply.counter) == ("supply", 1, False)
    assert (wall.zone, wall.index) == ("platform", None)
    assert modulus(package, spec, 5.0) == RAPL_RANGE_JOULES
    assert modulus(package, spec, 300_000.0) is None
    assert modulus(dram, spec, 5.0) == 65712.999613
    assert modulus(dram, spec, 300_000.0) == 65712.999613
    assert modulus(psys, spec, 5.0) == RAPL_RANGE_JOULES
    assert modulus(gpu, spec, 5.0) is None
    assert modulus(wall, spec, 5.0) is None
