"""Percentiles, and what so many queries prove about them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tools.load.latencies import (
    PERCENTILES,
    allowed_over,
    percentile,
    queries_needed,
    summary,
)


@pytest.mark.parametrize(
    ("share", "value"),
    [(0.5, 50), (0.9, 90), (0.95, 95), (0.97, 97), (0.99, 99), (0.999, 100)],
)
def test_percentiles_of_a_hundred_values(share: float, value: int) -> None:
    assert percentile(np.arange(1.0, 101.0), share) == value


@given(
    values=st.lists(st.floats(0, 1e6), min_size=1, max_size=200),
    share=st.sampled_from(list(PERCENTILES.values())),
)
def test_a_percentile_is_the_smallest_value_that_suffices(
    values: list[float], share: float
) -> None:
    found = percentile(np.sort(values), share)
    enough = share * len(values) - 1e-6
    assert sum(value <= found for value in values) >= enough
    below = [value for value in values if value < found]
    assert len(below) < share * len(values) + 1e-6


def test_a_summary_of_nothing_has_no_numbers() -> None:
    facts = summary(np.zeros(0))
    assert facts.pop("count") == 0
    assert set(facts.values()) == {None}


def test_a_summary() -> None:
    facts = summary(np.array([3.0, 1.0, 2.0]))
    assert (facts["count"], facts["min"], facts["mean"], facts["max"]) == (3, 1, 2, 3)
    assert facts["p50"] == 2


@pytest.mark.parametrize(
    ("over", "share", "needed"),
    [(0, 0.99, 459), (1, 0.99, 662), (1, 0.90, 64), (0, 0.90, 44)],
)
def test_the_numbers_of_early_stopping(over: int, share: float, needed: int) -> None:
    """MLPerf's own: 64 queries for a single stream, 662 for multi-stream."""
    assert queries_needed(over, share) == needed


@given(over=st.integers(0, 300), share=st.sampled_from([0.9, 0.97, 0.99]))
def test_the_number_needed_is_the_smallest_that_proves_it(
    over: int, share: float
) -> None:
    needed = queries_needed(over, share)
    assert stats.binom.cdf(over, needed, 1 - share) <= 0.01 + 1e-12
    assert stats.binom.cdf(over, needed - 1, 1 - share) > 0.01 - 1e-12


@given(queries=st.integers(1, 20_000), share=st.sampled_from([0.9, 0.99]))
def test_as_many_over_are_allowed_as_are_proven(queries: int, share: float) -> None:
    over = allowed_over(queries, share)
    if over is None:
        assert queries < queries_needed(0, share)
    else:
        assert queries_needed(over, share) <= queries < queries_needed(over + 1, share)


def test_the_bound_holds_as_often_as_it_says() -> None:
    """Of 4,000 samples of 700 exponential latencies, 1 % may be wrong about the p99."""
    random = np.random.default_rng(1)
    over = allowed_over(700, 0.99)
    assert over is not None
    samples = np.sort(random.exponential(size=(4000, 700)), axis=1)
    bounds = samples[:, 700 - 1 - over]
    wrong = int((bounds < -np.log(0.01)).sum())
    assert 5 < wrong < 60
