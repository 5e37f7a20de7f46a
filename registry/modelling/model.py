"""What a fitted power model is: its identity, its parameters and its error report.

A model document is plain JSON (`model_document`, `read_model`) and holds all that the
publish step needs: nothing else of the build survives it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Status = Literal["published", "withheld"]
Output = Literal["AbsPower", "DynPower"]

LINEAR: Final = "SGDRegressorTrainer"
TREES: Final = "GradientBoostingRegressorTrainer"
CURVE: Final = "PowerCurve"
TRAINERS: Final = (LINEAR, TREES, CURVE)
OUTPUTS: Final[tuple[Output, ...]] = ("AbsPower", "DynPower")
LOAD: Final = "load_ratio"

_ID = re.compile(
    r"(?P<source>acpi|rapl-sysfs)/(?P<output>AbsPower|DynPower)"
    r"/(?P<group>[A-Za-z]+)/(?P<trainer>[A-Za-z]+)_(?P<node>0|[1-9][0-9]{0,8})"
)


@dataclass(frozen=True, slots=True, order=True)
class ModelId:
    """The place of a model in Kepler's scheme, unique within a release."""

    source: str
    output: str
    group: str
    trainer: str
    node_type: int

    def __str__(self) -> str:
        """Write it as a path: ``acpi/AbsPower/BPFOnly/SGDRegressorTrainer_0``."""
        return f"{self.source}/{self.output}/{self.group}/{self.model_name}"

    @property
    def model_name(self) -> str:
        """Kepler's name of the model: the trainer, an underscore, the node type."""
        return f"{self.trainer}_{self.node_type}"


def parse_id(text: str) -> ModelId:
    """Read the string form of a model id.

    Raises:
        ValueError: The text is no model id.
    """
    match = _ID.fullmatch(text)
    if match is None or match["trainer"] not in TRAINERS:
        raise ValueError(f"{text!r} is not the id of a power model")
    return ModelId(
        match["source"],
        match["output"],
        match["group"],
        match["trainer"],
        int(match["node"]),
    )


@dataclass(frozen=True, slots=True)
class Linear:
    """Watts = bias + Σ weight · (value / scale); nothing in it is negative.

    Attributes:
        bias: Watts at zero activity.
        weights: Feature name to (scale in the feature's unit, weight in watts).
            The scale is positive; an unobserved feature has scale 1 and weight 0.
    """

    bias: float
    weights: Mapping[str, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Trees:
    """Gradient-boosted trees as XGBoost's own JSON, monotone in every feature.

    Attributes:
        booster_json: What ``Booster.save_raw("json")`` holds, as canonical text.
        features: Names of the input columns in the booster's order.
    """

    booster_json: str
    features: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """A power curve that never falls: linear between points, flat beyond the ends.

    Attributes:
        points: (load as a share of all logical CPUs, watts), by rising load.
    """

    points: tuple[tuple[float, float], ...]


Component = Linear | Trees | Curve


@dataclass(frozen=True, slots=True)
class ComponentError:
    """Held-out errors of one component, in watts unless said otherwise.

    Attributes:
        mae: Mean absolute error.
        mae_low: Lower end of its 95 % interval over the held-out blocks.
        mae_high: Upper end of it.
        mape: Mean absolute error in per cent of the true power, over the rows with
            at least 1 % of the largest power; None when there is no such row.
        rmse: Root mean square error.
        p95: Half-width that 95 % of errors stay within (see evaluate.half_width).
        worst: The largest error of any held-out or training row, or p95 if larger.
        baseline_mae: What the best constant of the training blocks would have got.
    """

    mae: float
    mae_low: float
    mae_high: float
    mape: float | None
    rmse: float
    p95: float
    worst: float
    baseline_mae: float


@dataclass(frozen=True, slots=True)
class ErrorReport:
    """How far a model is off on data that it has not seen.

    Every top-level figure is the largest over the components.

    Attributes:
        protocol: What was held out: ``server``, ``workload``, ``time-block`` or
            ``load-block``; ``none`` when no row was left to hold out.
        folds: How many times something was held out.
        rows: Rows predicted while held out.
        components: The figures of each component by name.
    """

    protocol: str
    folds: int
    rows: int
    mae: float
    mae_low: float
    mae_high: float
    mape: float
    rmse: float
    p95: float
    worst: float
    baseline_mae: float
    components: Mapping[str, ComponentError] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Point:
    """One held-out row kept for comparisons that must not need the data again.

    Attributes:
        features: Kepler features (per second, Kepler's units) and ``load_ratio``.
        watts: Measured power of each component.
        held_out: What the model said of the row when it was held out.
    """

    features: Mapping[str, float]
    watts: Mapping[str, float]
    held_out: Mapping[str, float]


@dataclass(frozen=True, slots=True, order=True)
class Origin:
    """A signed bundle that a model was fitted to."""

    dataset: str
    manifest_sha256: str
    rows: int = 0


@dataclass(frozen=True, slots=True)
class Model:
    """A fitted model with its evidence.

    Attributes:
        id: Source, output, feature group, trainer and node type.
        class_key: Readable key of the server class, or ``generic``.
        components: Fitted part of each component (``platform`` or ``package`` …);
            empty when nothing could be fitted.
        features: Feature names of the group, in Kepler's order (sorted).
        error: Held-out errors.
        bundles: The signed bundles behind it, sorted.
        input_digest: SHA-256 (hex) of everything that decides the model's bytes.
        status: ``published`` or ``withheld``.
        why: Why it is withheld, or what was chosen; a sentence for people.
        machines: How many different servers were measured.
        points: Up to twelve held-out rows, for comparison with the generic model.
    """

    id: ModelId
    class_key: str
    components: Mapping[str, Component]
    features: tuple[str, ...]
    error: ErrorReport
    bundles: tuple[Origin, ...]
    input_digest: str
    status: Status
    why: str
    machines: int = 0
    points: tuple[Point, ...] = ()


def predict(model: Model, features: Mapping[str, float]) -> dict[str, float]:
    """Predict the watts of one node, as Kepler's clients do.

    Args:
        model: A model with components.
        features: Kepler features per second in Kepler's units; a curve needs
            ``load_ratio`` instead. A linear model takes a missing feature as 0, like
            Kepler; trees take it as missing.

    Returns:
        Watts by component, never negative.
    """
    row = {
        name: np.array([value], dtype=np.float64) for name, value in features.items()
    }
    return {
        name: float(predict_rows(part, row, 1)[0])
        for name, part in model.components.items()
    }


def predict_rows(part: Component, columns: Mapping[str, Floats], rows: int) -> Floats:
    """Predict many rows with one component.

    Args:
        part: The fitted component.
        columns: Feature name to values, each of shape (rows,).
        rows: Number of rows.

    Returns:
        Watts of shape (rows,), never negative.
    """
    if isinstance(part, Linear):
        watts = np.full(rows, part.bias)
        for name, (scale, weight) in part.weights.items():
            if name in columns and weight:
                watts = watts + columns[name] / scale * weight
        return watts
    if isinstance(part, Curve):
        loads, levels = np.array(part.points, dtype=np.float64).T
        return np.asarray(np.interp(columns[LOAD], loads, levels), dtype=np.float64)
    # XGBoost takes a second to import; linear models and curves do without it.
    from registry.modelling.fits.trees import predict_trees  # noqa: PLC0415

    missing = np.full(rows, np.nan)
    matrix = np.column_stack([columns.get(name, missing) for name in part.features])
    return np.maximum(predict_trees(part.booster_json, matrix), 0.0)


def _component_document(part: Component) -> dict[str, Any]:
    if isinstance(part, Linear):
        weights = {name: list(pair) for name, pair in part.weights.items()}
        return {"kind": "linear", "bias": part.bias, "weights": weights}
    if isinstance(part, Trees):
        return {
            "kind": "trees",
            "booster": part.booster_json,
            "features": list(part.features),
        }
    return {"kind": "curve", "points": [list(point) for point in part.points]}


def _read_component(value: Mapping[str, Any]) -> Component:
    if value["kind"] == "linear":
        weights = {n: (float(s), float(w)) for n, (s, w) in value["weights"].items()}
        return Linear(float(value["bias"]), weights)
    if value["kind"] == "trees":
        return Trees(value["booster"], tuple(value["features"]))
    return Curve(tuple((float(x), float(y)) for x, y in value["points"]))


_FIGURES: Final = (
    "mae",
    "mae_low",
    "mae_high",
    "mape",
    "rmse",
    "p95",
    "worst",
    "baseline_mae",
)


def _figures(report: ComponentError | ErrorReport) -> dict[str, Any]:
    return {name: getattr(report, name) for name in _FIGURES}


def error_document(error: ErrorReport) -> dict[str, Any]:
    """Give the error report as JSON values (floats in watts, mape in per cent)."""
    parts = {name: _figures(part) for name, part in error.components.items()}
    counts = {"protocol": error.protocol, "folds": error.folds, "rows": error.rows}
    return {**counts, **_figures(error), "components": parts}


def read_error(value: Mapping[str, Any]) -> ErrorReport:
    """Read what `error_document` wrote."""
    parts = {n: ComponentError(**part) for n, part in value["components"].items()}
    return ErrorReport(**{**value, "components": parts})


def model_document(model: Model) -> dict[str, Any]:
    """Give the model as JSON values, without a time, host or path in it.

    Returns:
        A mapping for canonical JSON with floats; equal models give equal bytes.
    """
    parts = {n: _component_document(part) for n, part in model.components.items()}
    return {
        "schema": "power-model/1",
        "id": str(model.id),
        "class": model.class_key,
        "components": parts,
        "features": list(model.features),
        "error": error_document(model.error),
        "bundles": [
            {"dataset": b.dataset, "manifest_sha256": b.manifest_sha256, "rows": b.rows}
            for b in model.bundles
        ],
        "input_digest": model.input_digest,
        "status": model.status,
        "why": model.why,
        "machines": model.machines,
        "points": [
            {
                "features": dict(p.features),
                "watts": dict(p.watts),
                "held_out": dict(p.held_out),
            }
            for p in model.points
        ],
    }


def read_model(value: Mapping[str, Any]) -> Model:
    """Read what `model_document` wrote.

    Raises:
        ValueError: The document is not a power model of this schema.
    """
    try:
        if value["schema"] != "power-model/1":
            raise ValueError(f"unknown model schema {value['schema']!r}")
        return Model(
            id=parse_id(value["id"]),
            class_key=value["class"],
            components={
                n: _read_component(part) for n, part in value["components"].items()
            },
            features=tuple(value["features"]),
            error=read_error(value["error"]),
            bundles=tuple(Origin(**item) for item in value["bundles"]),
            input_digest=value["input_digest"],
            status=value["status"],
            why=value["why"],
            machines=value["machines"],
            points=tuple(Point(**item) for item in value["points"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"this is no power model document: {error}") from error
