"""Draws: counts under caps and cover, the law they keep, and what is impossible."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from registry.documents.findings import RegistryError
from tools.load.drawing import draw
from tools.load.plan import make_plan
from tools.load.streams import open_streams


def counted(names: list[str], **options: Any) -> Counter[str]:
    plan = make_plan(names, **options)
    assert len(plan.requests) == plan.header.requests
    return Counter(request.item for request in plan.requests)


@given(
    items=st.integers(1, 12),
    requests=st.integers(1, 60),
    cap=st.none() | st.integers(1, 20),
    covering=st.booleans(),
    popularity=st.sampled_from(["zipf:s=2", "equal", "poisson", "pareto:1,0.7"]),
    seed=st.integers(0, 2**53 - 1),
    drawn=st.booleans(),
)
def test_counts_keep_their_limits(
    items: int,
    requests: int,
    cap: int | None,
    covering: bool,
    popularity: str,
    seed: int,
    drawn: bool,
) -> None:
    names = [f"i{n}" for n in range(items)]
    random = popularity.partition(":")[0] in {"poisson", "pareto"}
    try:
        counts = counted(
            names,
            popularity=popularity,
            requests=requests,
            max_per_item=cap,
            covering=covering,
            seed=seed,
            drawn_weights=drawn and random,
        )
    except RegistryError as refused:
        codes = {found.code for found in refused.findings}
        assert codes <= {"Q003", "Q007"}
        impossible = (cap is not None and cap * items < requests) or (
            covering and items > requests
        )
        assert impossible or popularity == "poisson"
        return
    assert counts.total() == requests  # no draw is wasted
    assert cap is None or max(counts.values()) <= cap
    assert not covering or len(counts) == items


def test_a_cap_that_never_binds_changes_nothing() -> None:
    names = [f"i{n}" for n in range(50)]
    free = make_plan(names, "zipf", requests=400, seed=3)
    capped = make_plan(names, "zipf", requests=400, seed=3, max_per_item=399)
    assert free.requests.drawn == capped.requests.drawn


def test_after_a_cap_the_rest_keep_their_proportions() -> None:
    """Shares 1/2, 1/3, 1/6; the first item is capped, then 2 to 1 remains."""
    shares = np.array([1 / 2, 1 / 3, 1 / 6])
    drawn = draw(shares, 28_000, open_streams(6).draws, None)
    capped = draw(shares, 28_000, open_streams(6).draws, 12_000)
    full = int(np.flatnonzero(drawn == 0)[11_999]) + 1
    assert (drawn[:full] == capped[:full]).all()
    rest = Counter(capped[full:].tolist())
    assert rest[0] == 0
    total = rest[1] + rest[2]
    assert total > 3000
    assert stats.chisquare([rest[1], rest[2]], [total * 2 / 3, total / 3]).pvalue > 0.05


def test_draws_with_a_cap_are_those_of_drawing_again() -> None:
    """The law of redrawing until a free item comes, against a plain simulation."""
    shares = np.array([0.7, 0.2, 0.1])
    chances = np.random.default_rng(1)
    ours: Counter[tuple[int, ...]] = Counter()
    plain: Counter[tuple[int, ...]] = Counter()
    stream = open_streams(2).draws
    for _ in range(1500):
        ours[tuple(draw(shares, 4, stream, 2).tolist())] += 1
        seen: list[int] = []
        while len(seen) < 4:
            item = int(chances.choice(3, p=shares))
            if seen.count(item) < 2:
                seen.append(item)
        plain[tuple(seen)] += 1
    keys = sorted(set(ours) | set(plain))
    table = [[ours[key] for key in keys], [plain[key] for key in keys]]
    assert stats.chi2_contingency(table).pvalue > 0.05


def test_an_item_without_weight_is_never_drawn() -> None:
    shares = np.array([0.5, 0.0, 0.5, 0.0])
    for cap in (None, 500):
        counts = Counter(draw(shares, 1000, open_streams(9).draws, cap).tolist())
        assert set(counts) == {0, 2}


def test_covering_changes_as_little_as_possible() -> None:
    names = [f"i{n}" for n in range(40)]
    plain = make_plan(names, "zipf:s=2", requests=60, seed=5)
    covered = make_plan(names, "zipf:s=2", requests=60, seed=5, covering=True)
    changed = sum(
        a != b
        for a, b in zip(plain.requests.drawn, covered.requests.drawn, strict=True)
    )
    missing = 40 - len(set(plain.requests.drawn))
    assert changed == missing == covered.header.covered > 0
    assert len(set(covered.requests.drawn)) == 40


def test_the_whole_load_can_be_capped_and_covered() -> None:
    counts = counted(
        ["a", "b", "c"],
        popularity="zipf:s=9",
        requests=6,
        max_per_item=2,
        covering=True,
    )
    assert counts == {"a": 2, "b": 2, "c": 2}


@pytest.mark.parametrize(
    ("options", "path", "what"),
    [
        (
            {"requests": 7, "max_per_item": 2},
            "--max-per-item",
            "3 items with a weight, 2 times each, make 6 requests at most, not 7",
        ),
        (
            {"requests": 2, "covering": True},
            "--cover",
            "2 requests cannot ask for each of 3 items",
        ),
        (
            {"requests": 9, "max_per_item": 1, "trims_compatible": True},
            "--max-per-item",
            "under TRIMS's rule a limit of 0 or 1 runs nothing",
        ),
    ],
)
def test_what_is_impossible_is_told(
    options: dict[str, Any], path: str, what: str
) -> None:
    with pytest.raises(RegistryError) as refused:
        make_plan(["a", "b", "c"], "equal", **options)
    (found,) = refused.value.findings
    assert (found.code, found.path, found.what) == ("Q007", path, what)


@pytest.mark.parametrize(
    ("options", "path", "what"),
    [
        ({}, "--requests", "give either --requests or --duration, not neither"),
        (
            {"requests": 1, "duration": 1, "arrivals": "poisson:rate=1"},
            "--requests",
            "give either --requests or --duration, not both",
        ),
        (
            {"duration": 3.0},
            "--duration",
            "closed has no times of arrival: give --requests",
        ),
        (
            {"duration": 3.0, "arrivals": "offline"},
            "--duration",
            "offline has no times of arrival: give --requests",
        ),
        ({"requests": 0}, "--requests", "0 requests, from 1 to 10000000 are possible"),
        (
            {"duration": float("nan"), "arrivals": "poisson:rate=1"},
            "--duration",
            "nan seconds, up to 9007199 are possible",
        ),
        (
            {"requests": 1, "seed": -1},
            "--seed",
            "a seed is from 0 to 2**53 - 1, not -1",
        ),
        (
            {"requests": 1, "max_per_item": 0},
            "--max-per-item",
            "a cap must be at least 1, not 0",
        ),
        (
            {"popularity": "none", "requests": 3},
            "--requests",
            "popularity none:times=N has N of each item; or name another",
        ),
        (
            {"popularity": "none", "max_per_item": 3},
            "--max-per-item",
            "not possible here: the popularity none asks for every item alike",
        ),
        (
            {"requests": 1, "trims_compatible": True, "covering": True},
            "--cover",
            "not possible here: TRIMS has nothing like it",
        ),
        (
            {"requests": 1, "drawn_weights": True},
            "--popularity",
            "zipf weighs by rank: nothing is drawn from it",
        ),
        (
            {"popularity": "none:times=1000000", "items": [f"i{n}" for n in range(11)]},
            "--requests",
            "11000000 requests, at most 10000000 are possible",
        ),
        (
            {"items": [], "requests": 1},
            "--items",
            "0 items, from 1 to 100000 are possi",
        ),
        ({"items": ["a", "a"], "requests": 1}, "--items", "a name is there twice: a"),
    ],
)
def test_options_that_contradict_each_other(
    options: dict[str, Any], path: str, what: str
) -> None:
    items = options.pop("items", ["a", "b"])
    with pytest.raises(RegistryError) as refused:
        make_plan(items, **{"popularity": "zipf"} | options)
    found = refused.value.findings[0]
    assert (found.path, found.what[: len(what)]) == (path, what)


def test_all_arguments_are_looked_at_in_one_go() -> None:
    with pytest.raises(RegistryError) as refused:
        make_plan(["a", "a"], "zip", "poissn:1", requests=-1, seed=-1)
    assert [found.code for found in refused.value.findings] == [
        "Q001",
        "Q001",
        "Q004",
        "Q014",
        "Q014",
    ]
