"""Boosted trees for least squares that rise with every feature, alike on every CPU.

XGBoost compares splits by sums in single precision, which compilers for Arm contract
and compilers for x86 do not: of two splits that are nearly as good, each takes another
one, and all later trees differ. Here each step is an addition, product, quotient or
comparison of doubles that NumPy takes one by one, as IEEE 754 says. The rules for gains
and for weights that rise are XGBoost's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from registry.modelling.fits.ranges import Bins, Singles, binned, sums_of
from registry.modelling.table import Codes, Floats

_LEAST_GAIN: Final = 1e-6
"""Splits that gain no more than this, in W² times rows, are rounding."""


@dataclass(frozen=True, slots=True)
class Growth:
    """How trees grow.

    Attributes:
        depth: Most splits from root to leaf; 0 for a constant.
        rounds: Number of trees.
        rate: Share of each tree that is added.
        ridge: Added to the weight of a node's rows, so that few rows step carefully.
        least: Least weight of the rows of a leaf.
    """

    depth: int
    rounds: int
    rate: float
    ridge: float
    least: float


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """One tree; children lie side by side, after their parent. All shapes (nodes,).

    Attributes:
        feature: Number of the feature that is asked for; 0 in a leaf.
        threshold: Rows below it go left; infinite in a leaf.
        left: Number of the left child, which the right one follows; a leaf's own.
        weight: Best step in W for all rows of the node, before the rate.
        value: What a leaf adds in W.
        gain: By how much the split lessens the sum of squares; 0 in a leaf.
        rows: Weight of the node's rows.
    """

    feature: Codes
    threshold: Singles
    left: Codes
    weight: Singles
    value: Singles
    gain: Singles
    rows: Singles


@dataclass(frozen=True, slots=True, eq=False)
class _Level:
    """The nodes of one level of a tree, arrays of shape (nodes,).

    Attributes:
        weight: Best step in W.
        rows: Weight of the rows.
        lower: Least step that keeps the tree rising.
        upper: Greatest step that does.
    """

    weight: Floats
    rows: Floats
    lower: Floats
    upper: Floats


@dataclass(frozen=True, slots=True, eq=False)
class _Splits:
    """The best splits of a level, arrays of shape (splits,).

    Attributes:
        parents: Numbers of the nodes on the level that are split.
        gain: What each split takes off the weighted squares.
        feature: The feature.
        cut: Number of the last range that goes left.
        weight: Best steps of the left and of the right children, shape (2, splits).
        rows: Weights of their rows, shape (2, splits).
    """

    parents: Codes
    gain: Floats
    feature: Codes
    cut: Codes
    weight: Floats
    rows: Floats


def boost(
    values: Singles, watts: Floats, weight: Floats, start: float, growth: Growth
) -> list[Tree]:
    """Fit trees one after the other, each to what the ones before leave over.

    Args:
        values: Observed features, shape (n, features), none missing.
        watts: Shape (n,).
        weight: Weights of the rows, shape (n,).
        start: What is predicted before the first tree, in W.
        growth: Size and number of the trees.
    """
    bins = binned(values, weight)
    predicted = np.full(len(watts), np.float64(np.float32(start)))
    trees: list[Tree] = []
    with np.errstate(divide="ignore", invalid="ignore"):  # of splits without rows
        for _ in range(growth.rounds):
            tree, leaf = _grow(bins, (predicted - watts) * weight, growth)
            predicted += tree.value[leaf]
            trees.append(tree)
    return trees


def predict(trees: list[Tree], values: Singles, start: float) -> Floats:
    """Predict watts as XGBoost does: single precision, tree after tree.

    Args:
        trees: What `boost` gave.
        values: The same features, shape (n, features); what is missing goes left.
        start: As in `boost`.

    Returns:
        Shape (n,).
    """
    ends = np.cumsum([len(tree.left) for tree in trees])
    roots = ends - [len(tree.left) for tree in trees]
    left = np.concatenate(
        [tree.left + root for tree, root in zip(trees, roots, strict=True)]
    )
    feature = np.concatenate([tree.feature for tree in trees])
    threshold = np.concatenate([tree.threshold for tree in trees])
    value = np.concatenate([tree.value for tree in trees])
    rows = np.arange(len(values))[:, None]
    node = np.tile(roots, (len(values), 1))
    while values.shape[1]:
        below = left[node] + (values[rows, feature[node]] >= threshold[node])
        if np.array_equal(below, node):
            break
        node = below
    first = np.full((len(values), 1), start, np.float32)
    steps = np.concatenate([first, value[node]], axis=1)
    return np.cumsum(steps, axis=1, dtype=np.float32)[:, -1].astype(np.float64)


def _grow(bins: Bins, slope: Floats, growth: Growth) -> tuple[Tree, Codes]:
    """Grow one tree level by level; gives the leaf of each row as well."""
    width = bins.cuts.shape[1]
    # Each row's node on the level, one beyond the last for rows in leaves above it.
    slot = leaf = np.zeros(len(slope), np.int64)
    level = _root(bins, slope, growth)
    levels: list[tuple[_Level, _Splits]] = []
    first = 0
    while width > 1 and len(levels) < growth.depth and len(level.rows):
        nodes = len(level.rows)
        sums = sums_of(bins.codes, width, slot, slope, nodes)
        mass = (
            sums_of(bins.codes, width, slot, bins.weight, nodes)
            if levels
            else bins.mass
        )
        splits = _best(level, sums, mass, growth)
        levels.append((level, splits))
        first += nodes
        parents = splits.parents
        child = np.full(nodes + 1, 2 * len(parents))
        child[parents] = 2 * np.arange(len(parents))
        feature, cut = np.zeros(nodes + 1, np.int64), np.full(nodes + 1, width)
        feature[parents], cut[parents] = splits.feature, splits.cut
        codes = bins.codes[feature[slot], np.arange(len(slot))]
        slot = child[slot] + (codes > cut[slot])
        leaf = np.where(slot < 2 * len(parents), first + slot, leaf)
        level = _children(level, splits)
    return _tree(levels, level, bins, growth.rate), leaf


def _root(bins: Bins, slope: Floats, growth: Growth) -> _Level:
    rows = bins.weight.cumsum()[-1:]
    step = -slope.cumsum()[-1:] / (rows + growth.ridge)
    return _Level(step, rows, np.full(1, -np.inf), np.full(1, np.inf))


def _best(level: _Level, slope: Floats, mass: Floats, growth: Growth) -> _Splits:
    """The best split of each node; of equal ones, that of the first feature and cut."""
    nodes, features, width = slope.shape
    lower, upper = level.lower[:, None, None], level.upper[:, None, None]
    left, left_mass = slope[..., :-1], mass[..., :-1]
    right, right_mass = slope[:, :1, -1:] - left, mass[:, :1, -1:] - left_mass
    gain, steps = np.zeros(left.shape), []
    for sums, rows in ((left, left_mass), (right, right_mass)):
        ridged = rows + growth.ridge
        step = np.minimum(np.maximum(-sums / ridged, lower), upper)
        gain += _gain(sums, ridged, step)
        steps.append(step)
    enough = (left_mass >= growth.least) & (right_mass >= growth.least)
    gain = np.where(enough & (steps[0] <= steps[1]), gain, -np.inf)
    flat = gain.reshape(nodes, features * (width - 1))
    at = flat.argmax(axis=1)
    whole = _gain(slope[:, 0, -1], mass[:, 0, -1] + growth.ridge, level.weight)
    raised = flat[np.arange(nodes), at] - whole
    parents = np.flatnonzero(raised > _LEAST_GAIN)
    feature, cut = np.divmod(at[parents], width - 1)
    place = parents, feature, cut
    return _Splits(
        parents=parents,
        gain=raised[parents],
        feature=feature,
        cut=cut,
        weight=np.array([step[place] for step in steps]),
        rows=np.array([left_mass[place], right_mass[place]]),
    )


def _gain(slope: Floats, mass: Floats, step: Floats) -> Floats:
    """What a step takes off the weighted squares, given the sums of its rows."""
    return -step * (2 * slope + mass * step)


def _children(level: _Level, splits: _Splits) -> _Level:
    middle = (splits.weight[0] + splits.weight[1]) / 2
    lower = np.array([level.lower[splits.parents], middle])
    upper = np.array([middle, level.upper[splits.parents]])
    sides = (splits.weight, splits.rows, lower, upper)
    return _Level(*(one.T.ravel() for one in sides))


def _tree(
    levels: list[tuple[_Level, _Splits]], last: _Level, bins: Bins, rate: float
) -> Tree:
    weight = np.concatenate([*(level.weight for level, _ in levels), last.weight])
    rows = np.concatenate([*(level.rows for level, _ in levels), last.rows])
    nodes = len(rows)
    feature, left = np.zeros(nodes, np.int64), np.arange(nodes)
    threshold, gain = np.full(nodes, np.inf, np.float32), np.zeros(nodes, np.float32)
    first = 0
    for level, splits in levels:
        at = first + splits.parents
        first += len(level.rows)
        feature[at], gain[at] = splits.feature, splits.gain
        threshold[at] = bins.cuts[splits.feature, splits.cut]
        left[at] = first + 2 * np.arange(len(at))
    return Tree(
        feature=feature,
        threshold=threshold,
        left=left,
        weight=weight.astype(np.float32),
        value=np.where(np.isinf(threshold), rate * weight, 0.0).astype(np.float32),
        gain=gain,
        rows=rows.astype(np.float32),
    )
