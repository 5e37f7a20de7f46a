"""Gradient-boosted trees that rise with every feature, for Kepler's Python estimator.

Free trees on CPU time go wrong where a workload lies outside the training data, and
nothing in the training data shows it. Monotone ones stay between the lowest and the
highest measured power, and more activity never means less power.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import xgboost

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
    """Fit trees to a table; one thread, no chance: the same rows give the same bytes.

    Args:
        table: At least one row. A feature that some row lacks counts as not observed
            and is missing for all, so that no tree splits on it.
        choice: Size and number of the trees.

    Returns:
        Trees over all features of the table, in its order.
    """
    booster, start = _train(table, choice)
    return Trees(_portable(booster, start), table.names)


def guess_trees(train: Table, choice: TreeChoice, test: Table) -> Floats:
    """Fit to one table and predict another, shape (len(test),), without storing."""
    booster, _ = _train(train, choice)
    return np.maximum(_predict(booster, test.values), 0.0)


def _train(table: Table, choice: TreeChoice) -> tuple[xgboost.Booster, float]:
    table = thinned(table)
    observed = table.observed()
    values = table.values.copy()
    for at, name in enumerate(table.names):
        if name not in observed:
            values[:, at] = np.nan
    rows = len(table)
    weight = table.weight * (rows / table.weight.sum())
    start = significant(float((table.watts * weight).sum() / rows), 5)
    matrix = xgboost.DMatrix(values, label=table.watts, weight=weight, nthread=1)
    settings: dict[str, Any] = {
        "objective": "reg:squarederror",
        "tree_method": "exact" if rows < SMALL else "hist",
        "max_depth": choice.depth,
        "eta": choice.rate,
        "lambda": 0.0 if rows < SMALL else 1.0,
        "gamma": 0.0 if choice.rounds else 1e30,
        "min_child_weight": max(choice.leaf * rows, 1e-6),
        "monotone_constraints": tuple(1 for _ in table.names),
        "base_score": start,
        "nthread": 1,
        "seed": 0,
        "verbosity": 0,
    }
    return xgboost.train(settings, matrix, max(choice.rounds, 1)), start


def _portable(booster: xgboost.Booster, start: float) -> str:
    """Write a booster so that the XGBoost 2.1 of Kepler's estimator reads it too.

    XGBoost 3.1 writes the base score as a list. Version 2.1 takes that, and plain
    decimals too, for 0.5 without a word; it reads only its own short E notation.
    """
    document = json.loads(bytes(booster.save_raw("json")))
    document["learner"]["learner_model_param"]["base_score"] = scientific(start)
    return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)


def scientific(value: float) -> str:
    """Write a number in XGBoost's own notation: 200.02 becomes ``2.0002E2``."""
    mantissa, exponent = f"{value:.4e}".split("e")
    digits = mantissa.rstrip("0").rstrip(".")
    return f"{digits}E{int(exponent)}"


def predict_trees(booster_json: str, values: Floats) -> Floats:
    """Predict with a stored booster.

    Args:
        booster_json: Text of `Trees.booster_json`.
        values: Features in the booster's order, shape (n, features); NaN is missing.

    Returns:
        Watts, shape (n,).
    """
    booster = xgboost.Booster()
    booster.load_model(bytearray(booster_json.encode()))
    booster.set_param({"nthread": 1})
    return _predict(booster, values)


def _predict(booster: xgboost.Booster, values: Floats) -> Floats:
    matrix = xgboost.DMatrix(values, nthread=1)
    return np.asarray(booster.predict(matrix), dtype=np.float64)
