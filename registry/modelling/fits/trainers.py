"""One table from Kepler's trainer names to our fits, so that all are judged alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from registry.modelling.fits.curve import CurveChoice, curve_choices, fit_curve
from registry.modelling.fits.linear import LinearChoice, fit_linear, linear_choices
from registry.modelling.fits.trees import (
    TreeChoice,
    fit_trees,
    guess_trees,
    tree_choices,
)
from registry.modelling.model import (
    CURVE,
    LINEAR,
    TREES,
    Component,
    Linear,
    predict_rows,
)
from registry.modelling.table import Floats, Table, significant


@dataclass(frozen=True, slots=True)
class Trainer:
    """How one kind of model is fitted.

    Attributes:
        choices: What cross-validation may choose from for a table.
        fit: Table and choice to fitted component.
        guess: Fits one table by a choice and predicts the watts of another.
    """

    choices: Callable[[Table], tuple[Any, ...]]
    fit: Callable[[Table, Any], Component]
    guess: Callable[[Table, Any, Table], Floats]


def predict_table(part: Component, table: Table) -> Floats:
    """Predict the watts of every row of a table, shape (n,)."""
    return predict_rows(part, table.columns(), len(table))


def _guess_linear(train: Table, choice: LinearChoice, test: Table) -> Floats:
    return predict_table(fit_linear(train, choice), test)


def _guess_curve(train: Table, choice: CurveChoice, test: Table) -> Floats:
    return predict_table(fit_curve(train, choice), test)


FITS: Final[Mapping[str, Trainer]] = {
    LINEAR: Trainer(linear_choices, fit_linear, _guess_linear),
    TREES: Trainer(tree_choices, fit_trees, guess_trees),
    CURVE: Trainer(curve_choices, fit_curve, _guess_curve),
}


def constant(table: Table, trainer: str) -> Component:
    """Fit the median of a table, in the form of a linear model or of trees."""
    level = significant(max(float(np.median(table.watts)), 0.0))
    if trainer != TREES:
        return Linear(level, dict.fromkeys(table.names, (1.0, 0.0)))
    flat = replace(table, watts=np.full(len(table), level))
    return fit_trees(flat, TreeChoice(depth=1, rounds=0, rate=1.0, leaf=0.0))
