"""Our boosted trees: XGBoost's rules, and the same bits wherever they are grown."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import pytest
import xgboost

from registry.modelling.fits.boosting import Growth, boost, predict
from registry.modelling.fits.ranges import RANGES, binned
from registry.modelling.fits.trees import FEW_ROWS, MANY_ROWS, TreeChoice, fit_trees
from registry.modelling.table import Floats, Table
from tests.simulators.tables import levels, recording, table

GROWTH = Growth(depth=3, rounds=20, rate=0.3, ridge=0.0, least=1e-6)


def spread(rows: int) -> Table:
    """Rows of whole numbers only, which every computer draws alike."""
    number = np.arange(rows, dtype=np.int64)
    cycles, misses = (number * 7919) % 10_007, (number * number * 31) % 4_999
    noise = (number * 104_729) % 97
    return table(
        100.0 + (cycles // 64) + (misses // 128) + noise / 4,
        recorded=True,
        cache_miss=misses.astype(np.float64),
        cpu_cycles=cycles * 1_000_003.0,
        cpu_instructions=(cycles + noise) * 1_000_003.0,
    )


def peer(made: Table, growth: Growth, start: float) -> Floats:
    """What XGBoost's exact method predicts for its own training rows."""
    rows = {"label": made.watts, "weight": made.weight}
    matrix = xgboost.DMatrix(made.values, nthread=1, **rows)
    settings = {
        "tree_method": "exact",
        "max_depth": growth.depth,
        "eta": growth.rate,
        "lambda": growth.ridge,
        "min_child_weight": growth.least,
        "monotone_constraints": tuple(1 for _ in made.names),
        "base_score": start,
        "nthread": 1,
    }
    found = xgboost.train(settings, matrix, growth.rounds).predict(matrix)
    return np.asarray(found, dtype=np.float64)


@pytest.mark.parametrize("rows", [12, 60, 199])
@pytest.mark.parametrize("ridge", [0.0, 1.0])
def test_trees_are_those_of_xgboost(rows: int, ridge: float) -> None:
    weight = 1.0 + np.arange(rows) % 3
    made, growth = replace(spread(rows), weight=weight), replace(GROWTH, ridge=ridge)
    values = made.values.astype(np.float32)
    grown = boost(values, made.watts, made.weight, 200.0, growth)
    ours = predict(grown, values, 200.0)
    assert np.abs(ours - peer(made, growth, 200.0)).max() < 1e-2


@pytest.mark.parametrize(
    ("rows", "choice", "digest"),
    [
        (150, FEW_ROWS, "5e80b79d43edddf9"),
        (2_000, MANY_ROWS[0], "0bb8d06e9b2668da"),
        (2_000, MANY_ROWS[1], "95896e1dad99208e"),
    ],
)
def test_the_same_rows_give_the_same_bytes_on_every_processor(
    rows: int, choice: TreeChoice, digest: str
) -> None:
    """The digests were computed on x86 and came out of an emulated Arm as well."""
    text = fit_trees(spread(rows), choice).booster_json
    assert hashlib.sha256(text.encode()).hexdigest().startswith(digest)


def test_of_equal_splits_the_first_feature_and_cut_are_taken() -> None:
    made = levels()
    column = made.values[:, :1].astype(np.float32)
    grown = boost(
        np.column_stack([column, column]), made.watts, made.weight, 100.0, GROWTH
    )
    assert {int(one) for tree in grown for one in tree.feature} == {0}


def test_values_that_differ_are_told_apart_at_the_last_bit() -> None:
    low = np.float32(1e9)
    values = np.array([[low], [np.nextafter(low, np.float32(np.inf))]])
    growth = replace(GROWTH, rounds=1, rate=1.0)
    grown = boost(values, np.array([1.0, 3.0]), np.ones(2), 2.0, growth)
    assert predict(grown, values, 2.0).tolist() == [1.0, 3.0]


def test_many_values_are_put_together_by_weight() -> None:
    column = np.arange(5_000)
    weight = np.where(column < 4_000, 1.0, 12.0)
    made = binned(column.astype(np.float32)[:, None], weight)
    assert made.cuts.shape[1] <= RANGES
    ends = made.cuts[0][np.isfinite(made.cuts[0])]
    assert np.count_nonzero(ends < 4_000) == pytest.approx(RANGES / 4, abs=2)
    assert made.codes[0].tolist() == np.searchsorted(ends, column, "right").tolist()
    assert np.bincount(made.codes[0]).min() > 0
    assert made.mass[0, 0, -1] == weight.sum()


@pytest.mark.parametrize("rows", [700, 1_500])
def test_ranges_end_where_those_of_xgboost_do(rows: int) -> None:
    made, weight = spread(rows), 1.0 + np.arange(rows) % 3
    values = made.values.astype(np.float32)
    peers = xgboost.QuantileDMatrix(values, weight=weight, max_bin=RANGES, nthread=1)
    first, ends = peers.get_quantile_cut()
    for at, cuts in enumerate(binned(values, weight).cuts):
        # XGBoost adds one cut below the least value and one beyond the greatest.
        theirs = ends[first[at] + 1 : first[at + 1] - 1]
        assert np.array_equal(cuts[np.isfinite(cuts)], theirs)


def test_small_leaves_are_not_grown() -> None:
    made = recording()
    growth = replace(GROWTH, least=40.0)
    values = made.values.astype(np.float32)
    for tree in boost(values, made.watts, made.weight, 150.0, growth):
        leaves = tree.left == np.arange(len(tree.left))
        assert tree.rows[leaves].min() >= 40
        assert tree.rows[leaves].sum() == pytest.approx(len(made))


def test_without_features_or_splits_there_is_one_leaf() -> None:
    watts = np.array([1.0, 5.0])
    for values, growth in (
        (np.empty((2, 0), np.float32), GROWTH),
        (np.array([[1], [2]], np.float32), replace(GROWTH, depth=0)),
        (np.array([[1], [1]], np.float32), GROWTH),
    ):
        grown = boost(values, watts, np.ones(2), 0.0, growth)
        assert all(len(tree.left) == 1 for tree in grown)
        assert predict(grown, values, 0.0) == pytest.approx([3, 3], abs=0.01)
