"""`--trims-compatible`: the weights, draws and limits of TRIMS, bugs included."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tools.load.plan import Plan, make_plan
from tools.load.popularity import effective_items
from tools.load.streams import open_streams
from tools.load.trims import alias_draws, alias_table

NAMES = [f"model_{n:02}" for n in range(37)]
"""As many as TRIMS has models."""


def trims(**options: Any) -> Plan:
    return make_plan(NAMES, **{"requests": 2000, "trims_compatible": True} | options)


@given(
    weights=st.lists(st.integers(0, 1000), min_size=1, max_size=30).filter(any),
)
def test_the_alias_table_has_the_shares(weights: list[int]) -> None:
    shares = np.array(weights) / sum(weights)
    keep, other = alias_table(shares)
    found = np.zeros(len(shares))
    for column in range(len(shares)):
        found[column] += keep[column]
        found[other[column]] += 1 - keep[column]
    assert found / len(shares) == pytest.approx(shares, abs=1e-9)


def test_alias_draws_fit_the_shares() -> None:
    shares = np.array([0.5, 0.25, 0.125, 0.125, 0.0])
    drawn = alias_draws(shares, 40_000, open_streams(3).draws)
    counts = np.bincount(drawn, minlength=5)
    assert counts[4] == 0
    assert stats.chisquare(counts[:4], shares[:4] * 40_000).pvalue > 0.05


def test_one_weight_is_drawn_for_each_model_and_the_order_is_random() -> None:
    plan = trims(popularity="pareto:xm=1,alpha=1.5", seed=4)
    assert plan.header.popularity.weights == "unsorted"
    weights = [item.weight for item in plan.items]
    assert weights != sorted(weights, reverse=True)
    assert sum(weights) == pytest.approx(1)


def test_the_hottest_model_moves_with_the_seed() -> None:
    """The trait that bug report 15 is about; here it is asked for."""
    hottest = {
        max(trims(popularity="pareto", requests=1, seed=seed).items, key=_weight).name
        for seed in range(12)
    }
    assert len(hottest) > 6


def _weight(item: Any) -> float:
    return float(item.weight)


@pytest.mark.parametrize(
    ("popularity", "effective"),
    [
        ("pareto:1,1", 16),
        ("pareto:1,1.5", 27),
        ("pareto:1,3", 35),
        ("uniform", 31),
        ("exp", 25),
        ("weibull", 30),
        ("poisson", 21),
    ],
)
def test_the_medians_of_the_effective_number_of_models(
    popularity: str, effective: int
) -> None:
    """As simulated from TRIMS's own code: 37 models, the median of many weight sets."""
    found = []
    for seed in range(150):
        plan = trims(popularity=popularity, requests=1, seed=seed)
        found.append(effective_items(np.array([item.weight for item in plan.items])))
    assert np.median(found) == pytest.approx(effective, abs=1.6)


@pytest.mark.parametrize("limit", [2, 5, 30])
def test_a_draw_beyond_the_limit_is_skipped_and_consumes_an_iteration(
    limit: int,
) -> None:
    free = trims(popularity="pareto:1,1", seed=2)
    capped = trims(popularity="pareto:1,1", seed=2, max_per_item=limit)
    kept: list[str] = []
    counts: Counter[str] = Counter()
    for request in free.requests:
        counts[request.item] += 1
        if counts[request.item] <= limit:
            kept.append(request.item)
    assert [request.item for request in capped.requests] == kept
    assert capped.header.skipped == 2000 - len(kept) > 0
    assert [request.i for request in capped.requests] == list(range(len(kept)))


def test_a_negative_limit_is_none() -> None:
    assert len(trims(popularity="pareto", max_per_item=-1).requests) == 2000


def test_skipped_draws_take_their_times_with_them() -> None:
    options = {"popularity": "pareto:1,1", "arrivals": "poisson:rate=50", "seed": 2}
    free = trims(**options)
    capped = trims(**options, max_per_item=20)
    times = {request.t_ns for request in free.requests}
    assert {request.t_ns for request in capped.requests} < times


def test_without_a_distribution_every_model_is_run_in_turn() -> None:
    plan = make_plan(["a", "b"], "none:times=3")
    assert [request.item for request in plan.requests] == list("aaabbb")
    assert plan.header.arrivals.values["concurrency"] == 1
