"""Boosted trees as the JSON that XGBoost 2.1 to 3.2 load, written without XGBoost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from registry.modelling.fits.boosting import Tree
from registry.modelling.fits.ranges import Singles

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["booster_json", "scientific"]

_NO_PARENT: Final = 2**31 - 1
_ABSENT: Final = ("categories", "categories_nodes", "categories_segments")


def booster_json(
    trees: Sequence[Tree], start: float, columns: Sequence[int], features: int
) -> str:
    """Write trees as an XGBoost model.

    Args:
        trees: The trees.
        start: Base score in W, 5 significant digits.
        columns: Number of each of the trees' features among all features.
        features: Number of all features.
    """
    model = {
        "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": str(len(trees))},
        "iteration_indptr": list(range(len(trees) + 1)),
        "tree_info": [0] * len(trees),
        "trees": [
            _tree(number, tree, columns, features) for number, tree in enumerate(trees)
        ],
    }
    learner = {
        "attributes": {},
        "feature_names": [],
        "feature_types": [],
        "gradient_booster": {"model": model, "name": "gbtree"},
        "learner_model_param": {
            "base_score": scientific(start),
            "boost_from_average": "1",
            "num_class": "0",
            "num_feature": str(features),
            "num_target": "1",
        },
        "objective": {
            "name": "reg:squarederror",
            "reg_loss_param": {"scale_pos_weight": "1"},
        },
    }
    document = {"learner": learner, "version": [2, 1, 0]}
    return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)


def scientific(value: float) -> str:
    """Write a number in XGBoost's own notation: 200.02 becomes ``2.0002E2``.

    Version 2.1 takes lists and plain decimals, too, for 0.5 without a word.
    """
    mantissa, exponent = f"{value:.4e}".split("e")
    digits = mantissa.rstrip("0").rstrip(".")
    return f"{digits}E{int(exponent)}"


def _tree(
    number: int, tree: Tree, columns: Sequence[int], features: int
) -> dict[str, Any]:
    nodes = len(tree.left)
    inner = tree.left != np.arange(nodes)
    parents = np.full(nodes, _NO_PARENT)
    above = np.flatnonzero(inner)
    parents[tree.left[above]] = parents[tree.left[above] + 1] = above
    named = np.array([*columns, 0])[tree.feature]
    return {
        **{name: [] for name in (*_ABSENT, "categories_sizes")},
        "base_weights": _shortest(np.where(inner, tree.weight, tree.value)),
        "default_left": inner.astype(int).tolist(),
        "id": number,
        "left_children": np.where(inner, tree.left, -1).tolist(),
        "loss_changes": _shortest(tree.gain),
        "parents": parents.tolist(),
        "right_children": np.where(inner, tree.left + 1, -1).tolist(),
        "split_conditions": _shortest(np.where(inner, tree.threshold, tree.value)),
        "split_indices": np.where(inner, named, 0).tolist(),
        "split_type": [0] * nodes,
        "sum_hessian": _shortest(tree.rows),
        "tree_param": {
            "num_deleted": "0",
            "num_feature": str(features),
            "num_nodes": str(nodes),
            "size_leaf_vector": "1",
        },
    }


def _shortest(values: Singles) -> list[float]:
    """The shortest decimals that single precision reads back exactly."""
    return [float(str(value)) + 0.0 for value in values.astype(np.float32)]
