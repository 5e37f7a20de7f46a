"""A power curve that never falls with load: isotonic regression, linear in between.

Kepler's Go misreads every curve, so this form is for our own reader and for people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.optimize import isotonic_regression

from registry.modelling.model import Curve
from registry.modelling.table import Table, significant

KNOTS: Final = 21
"""Most points of a curve: every 5 % of load is finer than any meter's repeatability."""


@dataclass(frozen=True, slots=True)
class CurveChoice:
    """A curve has nothing to choose."""

    def __str__(self) -> str:
        """Say it in a few words."""
        return "isotonic curve"


def curve_choices(table: Table) -> tuple[CurveChoice, ...]:
    """List what cross-validation chooses from: one curve, whatever the table."""
    del table
    return (CurveChoice(),)


def fit_curve(table: Table, choice: CurveChoice) -> Curve:
    """Fit watts as a function of load that never falls.

    Args:
        table: At least one row whose load is known (a share of all logical CPUs).
        choice: Nothing to choose; there for the shape of every fit.

    Returns:
        At most `KNOTS` points (load, watts), both rounded to 6 significant digits.

    Raises:
        ValueError: No row has a load.
    """
    del choice
    known = ~np.isnan(table.load)
    if not known.any():
        raise ValueError("a power curve needs the load of at least one row")
    load, watts, weight = table.load[known], table.watts[known], table.weight[known]
    # Servers reach a level at slightly different loads: unless these count as one, the
    # curve of a class climbs from one server to the next at every level.
    load_bin = np.round(load * (KNOTS - 1)).astype(np.int64)
    total = np.bincount(load_bin, weights=weight)
    filled = total > 0
    share = np.maximum(total, np.finfo(float).tiny)
    x = (np.bincount(load_bin, weights=weight * load) / share)[filled]
    y = (np.bincount(load_bin, weights=weight * watts) / share)[filled]
    rising = isotonic_regression(y, weights=total[filled], increasing=True).x
    points = {
        significant(float(at)): significant(max(float(level), 0.0))
        for at, level in zip(x, rising, strict=True)
    }
    return Curve(tuple(sorted(points.items())))
