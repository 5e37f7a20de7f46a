"""Watts from counters: wraps are followed, resets and gaps are not guessed over."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.documents.spec import RAPL_RANGE_JOULES
from registry.modelling.energy import counter_rate, zone_watts


def seconds(count: int) -> np.ndarray:
    return np.arange(count, dtype=np.float64)


def test_power_is_energy_over_the_interval_s_own_length() -> None:
    time = np.array([0.0, 1.0, 4.0, 4.5])
    joules = np.array([0.0, 100.0, 400.0, 450.0])
    assert zone_watts(joules, time)[1:].tolist() == [100.0, 100.0, 100.0]


def test_the_first_reading_has_no_interval() -> None:
    assert np.isnan(zone_watts(np.array([5.0, 6.0]), seconds(2))[0])
    assert np.isnan(zone_watts(np.array([5.0]), seconds(1))).tolist() == [True]


@given(
    watts=st.lists(st.floats(20, 300), min_size=4, max_size=40),
    start=st.floats(0, RAPL_RANGE_JOULES - 1),
    modulus=st.sampled_from([RAPL_RANGE_JOULES, 65_712.999613, 65_536.0]),
)
def test_a_counter_that_goes_round_gives_the_same_power(
    watts: list[float], start: float, modulus: float
) -> None:
    total = (start % modulus) + np.concatenate([[0.0], np.cumsum(watts)])
    found = zone_watts(total % modulus, seconds(len(total)), modulus)
    limit = 4 * float(np.quantile(watts, 0.99))
    unclear = [w for w in watts if w > limit]
    if not unclear:
        known = ~np.isnan(found[1:])
        assert found[1:][known] == pytest.approx(np.array(watts)[known], abs=1e-6)
        assert known.mean() >= 1 - 1 / len(watts)


def test_each_zone_has_its_own_range() -> None:
    joules = np.array([65_600.0, 65_700.0, 87.000387])
    assert zone_watts(joules, seconds(3), 65_712.999613)[2] == pytest.approx(100.0)


def test_a_reset_is_no_wrap() -> None:
    joules = np.array([1000.0, 1100.0, 1200.0, 10.0, 110.0])
    found = zone_watts(joules, seconds(5))
    assert np.isnan(found).tolist() == [True, False, False, True, False]
    assert found[4] == 100.0


def test_missing_readings_leave_both_their_intervals_missing() -> None:
    joules = np.array([0.0, 100.0, np.nan, 300.0, 400.0])
    assert np.isnan(zone_watts(joules, seconds(5))).tolist() == [
        True, False, True, True, False,
    ]  # fmt: skip


def test_an_interval_that_could_hide_a_whole_turn_is_missing() -> None:
    time = np.array([0.0, 1.0, 2.0, 3.0, 10.0])
    joules = np.array([0.0, 100.0, 200.0, 300.0, 390.0])
    assert np.isnan(zone_watts(joules, time, 1_000.0)[4])
    assert not np.isnan(zone_watts(joules, time)[4])


def test_other_counters_never_wrap() -> None:
    found = counter_rate(np.array([10.0, 40.0, 5.0, 15.0]), seconds(4) * 2)
    assert found[1] == 15.0
    assert np.isnan(found[2])
    assert found[3] == 5.0
