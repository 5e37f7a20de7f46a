"""Gradient-boosted trees that rise with every feature, for Kepler's Python estimator.

Free trees on CPU time go wrong where a workload lies outside the training data, and
nothing in the training data shows it. Monotone ones stay between the lowest and the
highest measured power, and more activity never means less power.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import xgboost

from registry.modelling.fits.booster import booster_json
from registry.modelling.fits.boosting import Growth, Tree, boost, predict
from registry.modelling.model import Trees
from registry.modelling.table import Floats, Table, significant, thinned

SMALL: Final = 200
"""Below so many rows there is nothing to choose: cross-validation would be noise."""


@dataclass(frozen=True, slots=True)
class TreeChoice:
    """How large and how many the trees are.

    Attributes:
        depth: Most splits from root to leaf.
        rounds: Number of trees; 0 for a constant.
        rate: Share of each tree that is added.
        leaf: Least share of all rows in a leaf.
    """

    depth: int
    rounds: int
    rate: float
    leaf: float

    def __str__(self) -> str:
        """Say it in a few words."""
        return f"{self.rounds} monotone trees of depth {self.depth}"


FEW_ROWS: Final = TreeChoice(depth=2, rounds=30, rate=0.3, leaf=0.0)
MANY_ROWS: Final = (
    TreeChoice(depth=3, rounds=50, rate=0.2, leaf=0.01),
    TreeChoice(depth=5, rounds=50, rate=0.2, leaf=0.01),
)


def tree_choices(table: Table) -> tuple[TreeChoice, ...]:
    """List what cross-validation chooses from, the simplest first."""
    return (FEW_ROWS,) if len(table) < SMALL else MANY_ROWS


def fit_trees(table: Table, choice: TreeChoice) -> Trees:
    """Fit trees to a table: the same rows give the same bytes on every processor.

    Args:
        table: At least one row. A feature that some row lacks counts as not observed,
            so that no tree splits on it.
        choice: Size and number of the trees.

    Returns:
        Trees over all features of the table, in its order.
    """
    trees, start, columns = _train(table, choice)
    return Trees(booster_json(trees, start, columns, len(table.names)), table.names)


def guess_trees(train: Table, choice: TreeChoice, test: Table) -> Floats:
    """Fit to one table and predict another, shape (len(test),), without storing."""
    trees, start, columns = _train(train, choice)
    values = test.values[:, columns].astype(np.float32)
    return np.maximum(predict(trees, values, start), 0.0)


def _train(table: Table, choice: TreeChoice) -> tuple[list[Tree], float, list[int]]:
    """Fit trees; gives them, the base score and the columns that they ask for."""
    table = thinned(table)
    observed = table.observed()
    columns = [at for at, name in enumerate(table.names) if name in observed]
    rows = len(table)
    weight = table.weight * (rows / table.weight.sum())
    start = significant(float((table.watts * weight).sum() / rows), 5)
    growth = Growth(
        depth=choice.depth if choice.rounds else 0,
        rounds=max(choice.rounds, 1),
        rate=choice.rate,
        ridge=0.0 if rows < SMALL else 1.0,
        least=max(choice.leaf * rows, 1e-6),
    )
    values = table.values[:, columns].astype(np.float32)
    return boost(values, table.watts, weight, start, growth), start, columns


def predict_trees(document: str, values: Floats) -> Floats:
    """Predict with a stored booster.

    Args:
        document: Text of `Trees.booster_json`.
        values: Features in the booster's order, shape (n, features); NaN is missing.

    Returns:
        Watts, shape (n,).
    """
    booster = xgboost.Booster()
    booster.load_model(bytearray(document.encode()))
    booster.set_param({"nthread": 1})
    matrix = xgboost.DMatrix(values, nthread=1)
    return np.asarray(booster.predict(matrix), dtype=np.float64)
