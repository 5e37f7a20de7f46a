"""Popularity: every distribution fits itself, and ranks stay where they are."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from registry.documents.findings import RegistryError
from tools.load.plan import make_plan
from tools.load.popularity import (
    effective_items,
    entropy,
    parse_popularity,
    shares,
    weights_at,
)
from tools.load.streams import open_streams

CONTINUOUS = {
    "pareto:xm=2,alpha=1.5": stats.pareto(1.5, scale=2),
    "pareto:1,3": stats.pareto(3),
    "uniform:min=1,max=4": stats.uniform(1, 3),
    "exponential:rate=0.5": stats.expon(scale=2),
    "weibull:k=0.5,lambda=2": stats.weibull_min(0.5, scale=2),
    "weibull:k=5,lambda=1": stats.weibull_min(5),
    "lognormal:mu=0.3,sigma=1.2": stats.lognorm(1.2, scale=math.exp(0.3)),
}
DISCRETE = {"poisson:lambda=1": stats.poisson(1), "poisson:40": stats.poisson(40)}
ALL = [*CONTINUOUS, *DISCRETE, "zipf:s=1.1", "equal"]


@pytest.mark.parametrize("text", CONTINUOUS)
def test_drawn_weights_fit_the_distribution(text: str) -> None:
    drawn = weights_at(parse_popularity(text), 5000, open_streams(11).weights)
    assert stats.kstest(drawn, CONTINUOUS[text].cdf).pvalue > 0.05


@pytest.mark.parametrize("text", CONTINUOUS)
def test_quantile_weights_are_the_closest_to_the_distribution(text: str) -> None:
    """No n values are closer: half a step of the empirical distribution function."""
    weights = weights_at(parse_popularity(text), 500, None)
    found = stats.kstest(weights, CONTINUOUS[text].cdf).statistic
    assert found == pytest.approx(0.5 / 500, rel=1e-6)
    assert (np.diff(weights) < 0).all()


@pytest.mark.parametrize("text", DISCRETE)
def test_drawn_poisson_weights_fit(text: str) -> None:
    drawn = weights_at(parse_popularity(text), 20_000, open_streams(5).weights)
    law = DISCRETE[text]
    low, high = int(law.ppf(0.002)), int(law.ppf(0.998))
    edges = np.clip(drawn, low, high).astype(int)
    observed = np.bincount(edges - low, minlength=high - low + 1)
    chances = law.pmf(np.arange(low, high + 1))
    chances[0], chances[-1] = law.cdf(low), law.sf(high - 1)
    assert stats.chisquare(observed, chances * 20_000).pvalue > 0.05


@pytest.mark.parametrize("text", DISCRETE)
def test_quantile_poisson_weights_are_those_of_scipy(text: str) -> None:
    weights = weights_at(parse_popularity(text), 999, None)
    tail = (np.arange(1, 1000) - 0.5) / 999
    assert (weights == DISCRETE[text].isf(tail)).all()


@pytest.mark.parametrize("text", ALL)
def test_draws_fit_the_weights(text: str) -> None:
    plan = make_plan([f"i{n}" for n in range(30)], text, requests=60_000, seed=21)
    weights = np.array([item.weight for item in plan.items])
    counts = np.bincount(plan.requests.drawn, minlength=30)
    assert (counts[weights == 0] == 0).all()
    some = weights > 0
    expected = weights[some] / weights[some].sum() * 60_000
    assert stats.chisquare(counts[some], expected).pvalue > 0.05


def test_draws_are_independent_of_one_another() -> None:
    plan = make_plan(["a", "b"], "equal", requests=50_000, seed=8)
    pairs = np.array(plan.requests.drawn).reshape(-1, 2)
    counts = np.bincount(pairs[:, 0] * 2 + pairs[:, 1], minlength=4)
    assert stats.chisquare(counts).pvalue > 0.05


def test_zipf_is_a_law_of_ranks() -> None:
    weights = weights_at(parse_popularity("zipf:s=1"), 4, None)
    assert weights.tolist() == [1, 1 / 2, 1 / 3, 1 / 4]
    assert shares(weights).tolist() == [0.48, 0.24, 0.16, 0.12]


@pytest.mark.parametrize(
    ("text", "drawn"),
    [("zipf:s=1.1", False)]
    + [
        (text, drawn) for text in (*CONTINUOUS, "poisson:40") for drawn in (True, False)
    ],
)
def test_report_15_no_seed_moves_the_hottest_item(text: str, drawn: bool) -> None:
    """axboe/fio PR 1155: under another seed, another file was the most popular."""
    names = [f"i{n}" for n in range(20)]
    for seed in range(1, 8):
        plan = make_plan(names, text, requests=10, seed=seed, drawn_weights=drawn)
        weights = [item.weight for item in plan.items]
        assert weights == sorted(weights, reverse=True)
        assert weights[0] > weights[-1]


def test_report_15_shuffled_ranks_are_explicit_and_move_with_the_seed() -> None:
    names = [f"i{n}" for n in range(20)]
    hottest = set()
    for seed in range(10):
        plan = make_plan(names, "zipf", requests=10, seed=seed, shuffle_ranks=True)
        assert plan.header.popularity.shuffled
        weights = [item.weight for item in plan.items]
        plain = make_plan(names, "zipf", requests=10, seed=seed)
        assert sorted(weights) == sorted(item.weight for item in plain.items)
        hottest.add(weights.index(max(weights)))
    assert len(hottest) > 3


def test_shuffled_ranks_are_uniform() -> None:
    stream = open_streams(1).ranks
    orders = Counter(tuple(stream.permutation(4)) for _ in range(4800))
    assert len(orders) == 24
    assert stats.chisquare(list(orders.values())).pvalue > 0.05


def test_entropy_and_the_effective_number_of_items() -> None:
    assert entropy(np.array([1.0, 0.0])) == 0.0
    assert entropy(np.full(8, 1 / 8)) == pytest.approx(math.log(8))
    assert effective_items(np.full(8, 1 / 8)) == pytest.approx(8)
    skewed = shares(weights_at(parse_popularity("zipf:s=2"), 100, None))
    assert 1 < effective_items(skewed) < 10


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("pareto:1,1.5", "pareto:alpha=1.5,xm=1"),
        ("pareto", "pareto:1,1.5"),
        ("exp:0.5", "exponential:rate=.5"),
        ("WEIBULL: 1.5 , 1 ", "weibull:k=1.5"),
        ("uniform", "uniform:0,1"),
        ("poisson", "poisson:lambda=1"),
    ],
)
def test_names_order_and_defaults_say_the_same(short: str, long: str) -> None:
    assert parse_popularity(short) == parse_popularity(long)


@pytest.mark.parametrize(
    ("text", "code", "what"),
    [
        ("zipff", "Q001", "no such kind: zipff; known: zipf, pareto"),
        ("", "Q001", "no such kind: nothing"),
        ("x" * 5000, "Q001", "5000 characters, at most 4096 are read"),
        ("pareto:1", "Q002", "pareto takes 2 numbers, not 1: pareto:xm=1,alpha=1.5"),
        ("pareto:1,2,3", "Q002", "pareto takes 2 numbers, not 3"),
        ("equal:1", "Q002", "equal takes 0 numbers, not 1: equal"),
        ("pareto:alpha=x", "Q002", "alpha is no number: x"),
        ("pareto:alpha=", "Q002", "alpha is no number: nothing"),
        ("pareto:alpha=nan", "Q002", "alpha is no number: nan"),
        ("pareto:alpha=1_0", "Q002", "alpha is no number: 1_0"),
        ("pareto:alpha=inf", "Q002", "alpha may be at most 1e+12, not inf"),
        ("pareto:alpha=-1", "Q002", "alpha must be more than 0, not -1"),
        ("pareto:alpha=0", "Q002", "alpha must be more than 0, not 0"),
        ("pareto:beta=1", "Q002", "pareto has no parameter beta"),
        ("pareto:alpha=1,alpha=2", "Q002", "alpha is given twice"),
        ("pareto:alpha=1,2", "Q002", "2 has no name beside named ones"),
        ("uniform:-1,1", "Q002", "min must be at least 0, not -1"),
        ("uniform:2,1", "Q002", "min is more than max: 2 and 1"),
        ("none:times=1.5", "Q002", "times must be a whole number, not 1.5"),
        ("weights:", "Q002", "weights needs a file"),
    ],
)
def test_a_wrong_popularity_is_told(text: str, code: str, what: str) -> None:
    with pytest.raises(RegistryError) as refused:
        parse_popularity(text)
    found = refused.value.findings[0]
    assert (found.code, found.path) == (code, "--popularity")
    assert found.what.startswith(what)


def test_all_problems_of_a_text_are_told_at_once() -> None:
    with pytest.raises(RegistryError) as refused:
        parse_popularity("weibull:k=-1,lambda=inf,z=3")
    assert len(refused.value.findings) == 3


@pytest.mark.parametrize(
    ("text", "items", "what"),
    [
        ("pareto:1,1e-9", 10, "weights are infinite, negative or no number"),
        ("poisson:1e-9", 5, "all 5 weights are 0: no item would ever be asked for"),
    ],
)
def test_weights_that_cannot_be_normalised(text: str, items: int, what: str) -> None:
    with pytest.raises(RegistryError) as refused:
        make_plan([f"i{n}" for n in range(items)], text, requests=3)
    assert refused.value.findings[0].code == "Q003"
    assert what in refused.value.findings[0].what
