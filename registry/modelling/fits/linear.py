"""Linear models with nothing negative in them, the only form that Kepler's Go loads.

Least absolute deviations is a linear programme; its dual has one constraint a feature,
so HiGHS solves thousands of rows in milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from scipy.optimize import linprog, nnls

from registry.modelling.model import Linear
from registry.modelling.table import Floats, Table, significant, thinned

Loss = Literal["lad", "ls"]

LOSSES: Final[tuple[Loss, ...]] = ("lad", "ls")
"""Least absolute deviations and least squares, both in W."""

# Cycles and instructions say nearly the same of a CPU. Without the second, the fit
# cannot trade one against the other in ways that only hold for the measured workloads.
TWIN: Final = ("cpu_cycles", "cpu_instructions")

# The one feature that says most of a CPU's work, if all others mislead: a weight for a
# rare event (cache misses) reaches far where a new workload has a hundred times more.
MAIN: Final = ("cpu_cycles", "bpf_cpu_time_ms")

# A programme of a dozen rows costs HiGHS 2.4 ms of set-up; trying every line through
# two points is as exact and takes 0.1 ms, and most classes are a dozen rows.
_PAIRS: Final = 48
_TIE: Final = 1e-9


@dataclass(frozen=True, slots=True)
class LinearChoice:
    """What a linear fit minimises and which features it leaves at weight 0."""

    loss: Loss
    without: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Say it in a few words."""
        names = {
            "lad": "least absolute deviations",
            "ls": "least squares",
        }
        left_out = f" without {', '.join(self.without)}" if self.without else ""
        return f"nonnegative {names[self.loss]}{left_out}"


def linear_choices(table: Table) -> tuple[LinearChoice, ...]:
    """List what cross-validation chooses from, the simplest first."""
    observed = table.observed()
    left_out: list[tuple[str, ...]] = [()]
    if all(name in observed for name in TWIN):
        left_out.insert(0, (TWIN[1],))
    main = next((name for name in MAIN if name in observed), None)
    if main is not None and len(observed) > 1:
        left_out.insert(0, tuple(name for name in observed if name != main))
    return tuple(LinearChoice(loss, names) for names in left_out for loss in LOSSES)


def fit_linear(table: Table, choice: LinearChoice) -> Linear:
    """Fit bias and weights, none of them negative, to a table.

    Args:
        table: At least one row. Without ``intercept`` the bias is 0: no activity, no
            dynamic power.
        choice: Loss and features.

    Returns:
        Weights of every feature of the table, rounded to 6 significant digits, with
        scale = the feature's maximum so that x is in [0, 1]. A feature that was not
        observed has scale 1 and weight 0, as in Kepler's own model database.
    """
    table = thinned(table)
    used = [name for name in table.observed() if name not in choice.without]
    columns = table.columns()
    scales = {name: significant(float(columns[name].max())) for name in used}
    parts = [columns[name] / scales[name] for name in used]
    if table.intercept or not parts:
        parts.insert(0, np.ones(len(table)))
    design = np.column_stack(parts)
    weight = table.weight
    if choice.loss == "ls":
        root = np.sqrt(weight)
        found = nnls(design * root[:, None], table.watts * root)[0]
    else:
        found = _least_deviations(design, table.watts, weight)
    solution = [significant(max(float(value), 0.0)) for value in found]
    bias = solution.pop(0) if table.intercept or not used else 0.0
    fitted = dict(zip(used, solution, strict=True))
    weights = {
        name: (scales.get(name, 1.0), fitted.get(name, 0.0)) for name in table.names
    }
    return Linear(bias, weights)


def _least_deviations(design: Floats, watts: Floats, weight: Floats) -> Floats:
    """Minimise Σ weight · |watts − design · x| over x ≥ 0."""
    columns = design.shape[1]
    if columns == 1:
        return _middle(design[:, 0], watts, weight)
    if columns == 2 and len(watts) <= _PAIRS and np.all(design[:, 0] == 1):
        return _best_line(design[:, 1], watts, weight)
    # Features are in [0, 1], watts in the hundreds: scale the right side as well.
    unit = max(float(np.abs(watts).max()), 1e-12)
    bounds: Any = np.column_stack([-weight, weight])
    answer = linprog(
        -watts / unit,
        A_ub=design.T,
        b_ub=np.zeros(columns),
        bounds=bounds,
        method="highs-ds",
    )
    return -np.asarray(answer.ineqlin.marginals, dtype=np.float64) * unit


def _middle(x: Floats, watts: Floats, weight: Floats) -> Floats:
    """Minimise Σ weight · |watts − a · x| over a ≥ 0: a weighted median of ratios."""
    seen = x > 0
    if not seen.any():
        return np.zeros(1)
    ratio, share = watts[seen] / x[seen], (weight * x)[seen]
    order = np.lexsort((share, ratio))
    total = np.cumsum(share[order])
    at = int(np.searchsorted(total, total[-1] / 2 * (1 - 1e-12)))
    return np.array([max(ratio[order][at], 0.0)])


def _best_line(x: Floats, watts: Floats, weight: Floats) -> Floats:
    """Minimise Σ weight · |watts − a − b · x| over a, b ≥ 0 by trying all candidates.

    An optimum passes through two of the points, or lies on a bound (a or b is 0).
    """
    first, second = np.triu_indices(len(x), 1)
    apart = x[first] != x[second]
    first, second = first[apart], second[apart]
    slope = (watts[second] - watts[first]) / (x[second] - x[first])
    start = watts[first] - slope * x[first]
    flat = float(_middle(np.ones(len(x)), watts, weight)[0])
    through_zero = float(_middle(x, watts, weight)[0])
    start = np.append(start, [flat, 0.0])
    slope = np.append(slope, [0.0, through_zero])
    allowed = (start >= 0) & (slope >= 0)
    start, slope = start[allowed], slope[allowed]
    misses = np.abs(watts - start[:, None] - slope[:, None] * x)
    loss = np.sum(misses * weight, axis=1)
    best = loss <= loss.min() * (1 + _TIE) + _TIE
    at = np.lexsort((start[best], slope[best]))[0]
    return np.array([start[best][at], slope[best][at]])
