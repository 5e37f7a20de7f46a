"""Fit one component, and measure its error on whole blocks that it never saw.

Everything that is chosen (loss, features, size of trees) is chosen again inside each
training part, so the held-out rows have no say in it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy.special import stdtrit

from registry.modelling.blocks import INNER, Protocol, groups, protocols
from registry.modelling.fits.trainers import FITS, predict_table
from registry.modelling.model import (
    Component,
    ComponentError,
    ErrorReport,
)
from registry.modelling.table import Floats, Table, significant, thinned

COVER: Final = 0.95
FEW_SERVERS: Final = 19
"""Below so many servers no 95 % quantile over servers exists."""
SPREAD: Final = 0.25
"""Share of the mean power that 95 % of servers of one class lie within of each other.

Two servers that happen to agree promise too much of a third, and one promises nothing.
In the published SPECpower results, over the 98 groups with the same processor, cores,
memory and threads, 95 % of all levels are within 24.5 % of the same level of another
server. With this as the least half-width, 91 to 99 % of the levels of servers that a
model never saw lie inside it, for linear models, curves and trees fitted to 1, 2, 3 or
4 servers; without it, 54 to 95 %.
"""
_CHOICE_ROWS: Final = 2_500


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Every row of a table, predicted by a model that was fitted without its block.

    Attributes:
        protocol: What was held out.
        folds: How often.
        watts: Predictions, shape (n,).
        flat: Predictions of the better constant of the training part, shape (n,).
        fold: Number of the fold of each row, shape (n,).
    """

    protocol: Protocol
    folds: int
    watts: Floats
    flat: Floats
    fold: Any


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A component fitted to all rows, with its held-out errors."""

    part: Component
    chosen: str
    held_out: HeldOut
    error: ComponentError


def choose(table: Table, trainer: str) -> Any:
    """Choose how to fit a table by cross-validation over its own blocks.

    The trainer lists its choices from simple to rich. The first one wins whose error
    exceeds the least error by no more than one standard error of the difference over
    the folds (Breiman's rule): a few blocks cannot tell apart what is closer.

    Returns:
        One of the trainer's choices.
    """
    choices = FITS[trainer].choices(table)
    table = thinned(table, _CHOICE_ROWS)
    group = groups(table, protocols(table)[0], INNER)
    folds = int(group.max()) + 1
    if len(choices) == 1 or folds == 1:
        return choices[0]
    totals = np.empty((len(choices), folds))
    for fold in range(folds):
        train, test = table.take(group != fold), table.take(group == fold)
        for at, choice in enumerate(choices):
            miss = np.abs(FITS[trainer].guess(train, choice, test) - test.watts)
            totals[at, fold] = significant(math.fsum(miss * test.weight))
    sums = [significant(math.fsum(row)) for row in totals]
    behind = totals - totals[sums.index(min(sums))]
    reach = np.std(behind, axis=1, ddof=1) * math.sqrt(folds)
    close = np.sum(behind, axis=1) <= reach * (1 + 1e-9)
    return choices[int(np.argmax(close))]


def hold_out(table: Table, trainer: str, protocol: Protocol) -> HeldOut:
    """Predict each block of a table from the others."""
    group = groups(table, protocol)
    folds = int(group.max()) + 1
    watts, flats = np.empty(len(table)), np.empty((2, len(table)))
    for fold in range(folds):
        test = group == fold
        train = table.take(~test)
        choice = choose(train, trainer)
        watts[test] = FITS[trainer].guess(train, choice, table.take(test))
        flats[:, test] = np.array([[_mean(train)], [np.median(train.watts)]])
    losses = [math.fsum(np.abs(f - table.watts) * table.weight) for f in flats]
    return HeldOut(protocol, folds, watts, flats[int(losses[1] < losses[0])], group)


def evaluate(table: Table, trainer: str) -> Evaluation:
    """Fit a table and report the worst of the held-out protocols that it allows.

    Args:
        table: At least two rows in two blocks.
        trainer: Name of the fit.

    Returns:
        The component fitted to all rows, and errors of the blocked fits.

    Raises:
        ValueError: Nothing can be held out, so no honest error can be given.
    """
    allowed = protocols(table)
    if allowed == ("none",):
        raise ValueError("no block of rows can be held out")
    tried = [hold_out(table, trainer, protocol) for protocol in allowed]
    errors = [_mean_miss(table, held) for held in tried]
    worst = tried[errors.index(max(errors))]
    choice = choose(table, trainer)
    part = FITS[trainer].fit(table, choice)
    least = _least_width(table, part)
    error = component_error(table, part, worst, least)
    return Evaluation(part, str(choice), worst, error)


def _least_width(table: Table, part: Component) -> float:
    """Give the half-width that few servers must not go below; see `SPREAD`."""
    if len(np.unique(table.machine)) >= FEW_SERVERS:
        return 0.0
    least = SPREAD * _mean(table)
    if table.recorded:
        return least
    # A load level is a mean over minutes, not a sample: none may lie outside.
    return max(least, float(np.abs(predict_table(part, table) - table.watts).max()))


def component_error(
    table: Table, part: Component | None, held: HeldOut, least: float = 0.0
) -> ComponentError:
    """Sum up held-out predictions.

    Args:
        table: The rows, n of them.
        part: The component fitted to all rows; None reports the constant instead.
        held: Predictions of the same rows while held out.
        least: Least half-width to report, in W.
    """
    guess = held.flat if part is None else held.watts
    own = guess if part is None else predict_table(part, table)
    miss = np.abs(guess - table.watts)
    mae = _weighted(miss, table.weight)
    means = [
        _weighted(miss[held.fold == fold], table.weight[held.fold == fold])
        for fold in range(held.folds)
    ]
    spread = float(np.std(means, ddof=1)) / math.sqrt(held.folds)
    reach = float(stdtrit(held.folds - 1, 0.975)) * spread
    large = table.watts >= max(float(table.watts.max()) / 100, 1e-6)
    mape = None
    if large.any():
        share = miss[large] / table.watts[large]
        mape = significant(100 * _weighted(share, table.weight[large]))
    trained = np.abs(own - table.watts)
    width = max(half_width(miss, trained), least)
    return ComponentError(
        mae=significant(mae),
        mae_low=significant(max(mae - reach, 0.0)),
        mae_high=_upward(mae + reach),
        mape=mape,
        rmse=significant(math.sqrt(_weighted(miss**2, table.weight))),
        p95=_upward(width),
        worst=_upward(max(float(miss.max()), float(trained.max()), width)),
        baseline_mae=significant(
            _weighted(np.abs(held.flat - table.watts), table.weight)
        ),
    )


def half_width(held_out: Floats, trained: Floats) -> float:
    """Give the half-width that a prediction should be printed with.

    This is the split-conformal quantile: of n held-out misses the one of rank
    ⌈0.95 (n + 1)⌉, and the largest one when n is below 20. Held-out rows of one server
    are not independent, so this is a careful figure and no theorem. The published
    model has seen all rows, so its own misses on them count too: it never promises
    to be closer to a measurement than it is.

    Args:
        held_out: Absolute errors of held-out rows in W, shape (n,).
        trained: Absolute errors of the final model on its own rows in W, shape (n,).
    """
    return max(_quantile(held_out), _quantile(trained))


def combined(
    parts: Mapping[str, ComponentError], held: HeldOut, rows: int
) -> ErrorReport:
    """Put the errors of all components into one report: the largest of each figure."""

    def largest(name: str) -> float:
        return max(float(getattr(part, name) or 0.0) for part in parts.values())

    return ErrorReport(
        protocol=held.protocol,
        folds=held.folds,
        rows=rows,
        mae=largest("mae"),
        mae_low=largest("mae_low"),
        mae_high=largest("mae_high"),
        mape=largest("mape"),
        rmse=largest("rmse"),
        p95=largest("p95"),
        worst=largest("worst"),
        baseline_mae=largest("baseline_mae"),
        components=dict(parts),
    )


def _mean_miss(table: Table, held: HeldOut) -> float:
    return _weighted(np.abs(held.watts - table.watts), table.weight)


def _mean(table: Table) -> float:
    return _weighted(table.watts, table.weight)


def _weighted(values: Floats, weight: Floats) -> float:
    return math.fsum(values * weight) / math.fsum(weight)


def _quantile(misses: Floats) -> float:
    rank = min(math.ceil(COVER * (len(misses) + 1)), len(misses))
    return float(np.sort(misses)[rank - 1])


def _upward(value: float) -> float:
    rounded = significant(value)
    return rounded if rounded >= value else significant(value * (1 + 1e-5))
