"""XGBoost models that every version of the client reads alike, and linear ones too.

The model server pins XGBoost 2.1. It takes the base score of a file that XGBoost 3.1 or
later wrote (``"[9.4E1]"``), and for plain decimals, for another number without a word,
so that every prediction is off. Files written here use the form that versions 2.1 to
3.2 all read exactly.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from registry.documents.canonical import encode_numbers
from registry.documents.findings import RegistryError, Severity, code, finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.documents.canonical import Json
    from registry.modelling.model import Linear, Trees

__all__ = ["linear_booster", "tree_booster"]

NOT_PORTABLE = code(
    "R003",
    Severity.ERROR,
    "A tree model cannot be written so that every client computes the same.",
    "Fit numerical features with an identity link and without early stopping.",
)

_NOTATION: Final = re.compile(r"-?[0-9](?:\.[0-9]{1,8})?E-?[0-9]{1,2}")
_VERSION: Final[list[Json]] = [2, 1, 0]
_OBJECTIVE: Final[dict[str, Json]] = {
    "name": "reg:squarederror",
    "reg_loss_param": {"scale_pos_weight": "1"},
}
_IDENTITY: Final = frozenset(
    {
        "reg:squarederror",
        "reg:absoluteerror",
        "reg:pseudohubererror",
        "reg:quantileerror",
    }
)
"""Losses whose prediction is the plain sum of the leaves and the base score."""


def tree_booster(trees: Trees, path: str) -> bytes:
    """Write boosted trees as a component file of a model zip.

    Args:
        trees: The fitted trees.
        path: The model's name in findings.

    Raises:
        RegistryError: R003.

    """
    document: dict[str, Any] = json.loads(trees.booster_json)
    learner = document["learner"]
    model = learner["gradient_booster"]["model"]
    parameters = learner["learner_model_param"]
    features = len(trees.features)
    problems = [
        what
        for wrong, what in (
            (learner["gradient_booster"]["name"] != "gbtree", "it is no gbtree"),
            (learner["objective"]["name"] not in _IDENTITY, "its loss has a link"),
            ("best_iteration" in learner.get("attributes", {}), "it stopped early"),
            (int(parameters["num_feature"]) != features, f"not {features} features"),
            (any(any(t["split_type"]) for t in model["trees"]), "it has categories"),
            (int(parameters.get("num_target", 1)) != 1, "it has several targets"),
        )
        if wrong
    ]
    if problems:
        raise RegistryError([finding(NOT_PORTABLE, path, what) for what in problems])
    model.pop("cats", None)
    base = _scientific(str(parameters["base_score"]).strip("[]"))
    return _file({"model": model, "name": "gbtree"}, base, features)


def linear_booster(linear: Linear, features: Sequence[str]) -> bytes:
    """Write a linear model as XGBoost's ``gblinear``, without any pickle.

    Args:
        linear: Bias in watts, scale and weight a feature.
        features: The input columns in order; one without a weight counts nothing.

    """
    pairs = [linear.weights.get(name, (1.0, 0.0)) for name in features]
    weights = [*(float(weight / scale) for scale, weight in pairs), float(linear.bias)]
    model: dict[str, Json] = {"boosted_rounds": 1, "weights": list(weights)}
    return _file({"model": model, "name": "gblinear"}, "0E0", len(features))


def _scientific(number: str) -> str:
    """Write a number in XGBoost's own notation, with at most nine digits."""
    if _NOTATION.fullmatch(number):
        return number
    mantissa, exponent = f"{float(number):.8e}".split("e")
    return f"{mantissa.rstrip('0').rstrip('.')}E{int(exponent)}"


def _file(booster: dict[str, Json], base_score: str, features: int) -> bytes:
    return encode_numbers(
        {
            "learner": {
                "attributes": {},
                "feature_names": [],
                "feature_types": [],
                "gradient_booster": booster,
                "learner_model_param": {
                    "base_score": base_score,
                    "boost_from_average": "1",
                    "num_class": "0",
                    "num_feature": str(features),
                    "num_target": "1",
                },
                "objective": _OBJECTIVE,
            },
            "version": _VERSION,
        }
    )
