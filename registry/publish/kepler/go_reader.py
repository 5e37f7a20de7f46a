"""What Kepler Go (0.7.12 to 0.9.0) makes of a weight file, reproduced to the digit.

    model = load(body, "https://example.org/SGDRegressorTrainer_0.json")
    platform_milliwatts(model, {"bpf_cpu_time_ms": 4000.0})

It decodes like encoding/json, chooses the formula like Kepler and shares its traps: a
scale of 0 mutes a feature, and a negative power wraps around to 1.8e19 milliwatts.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NoReturn

from registry.publish.kepler.vocabulary import CLIENT_FEATURES, WEIGHT_TRAINERS

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "GoModel",
    "GoPanicError",
    "GoRejectsError",
    "GoSpec",
    "GoWeights",
    "component_milliwatts",
    "load",
    "platform_milliwatts",
    "uint64",
    "watts",
]

_PARTS: Final = ("platform", "core", "uncore", "package", "dram")
_CURVE_LENGTH: Final = dict(zip(WEIGHT_TRAINERS[1:], (3, 4, 3), strict=True))
_NOT_A_NUMBER: Final = 1 << 63
_WORD: Final = 1 << 64
_INT64: Final = 1 << 63


class GoRejectsError(ValueError):
    """Kepler refuses the whole file and runs without a model."""


class GoPanicError(ValueError):
    """Kepler dies: it uses a predictor that could not be created."""


@dataclass(frozen=True, slots=True)
class GoWeights:
    """One component's weights after decoding; what was missing is 0 or empty."""

    bias: float = 0.0
    categorical: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    numerical: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    curve: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class GoSpec:
    """The machine of a model as Kepler decodes it."""

    vendor: str = ""
    processor: str = ""
    cores: int = 0
    chips: int = 0
    memory: int = 0
    frequency: int = 0
    threads_per_core: int = 0


@dataclass(frozen=True, slots=True)
class GoModel:
    """A weight file that Kepler accepted.

    Attributes:
        model_name: From the file, or from the last segment of its URL.
        trainer: The trainer that the name tells; empty if Kepler does not know it.
        spec: The machine, or None.
        components: Weights by component; ``platform`` alone counts when it is there.
    """

    model_name: str
    trainer: str
    spec: GoSpec | None
    components: Mapping[str, GoWeights]


def load(body: bytes, url: str = "") -> GoModel:
    """Decode a weight file as Kepler does at start.

    Args:
        body: What the URL or the file gave.
        url: The configured URL, which names the model if the file does not.

    Raises:
        GoRejectsError: encoding/json refuses the file.
        GoPanicError: the trainer and the weights do not fit together.

    """
    value = _object(_parse(body), "the file")
    name = _text(value, "model_name") or url.rpartition("/")[2].partition(".")[0]
    trainer = name.rpartition("_")[0]
    trainer = trainer if trainer in WEIGHT_TRAINERS else ""
    parts = {part: _weights(value, part) for part in _PARTS}
    components = {part: found for part, found in parts.items() if found is not None}
    if "platform" in components:
        components = {"platform": components["platform"]}
    spec = _member(value, "machine_spec")
    model = GoModel(name, trainer, None if spec is None else _spec(spec), components)
    for part, weights in components.items():
        expected = _CURVE_LENGTH.get(trainer, 0)
        if len(weights.curve) != expected:
            raise GoPanicError(
                f"{part}: {len(weights.curve)} curve weights for the trainer"
                f" {trainer or 'linear'!r}, which needs {expected}"
            )
    return model


def watts(
    model: GoModel,
    component: str,
    features: Mapping[str, float],
    architecture: str = "unknown",
) -> float:
    """Evaluate one component.

    Args:
        model: A decoded model.
        component: ``platform``, ``package`` …; a missing one gives 0.
        features: Kepler's features per second; missing ones are 0.
        architecture: Kepler's name of the processor's architecture.

    Returns:
        Watts, which nothing keeps from being negative or NaN.

    """
    weights = model.components.get(component)
    if weights is None:
        return 0.0
    base = weights.categorical.get("cpu_architecture", {}).get(architecture, 0.0)
    values = [features.get(name, 0.0) for name in CLIENT_FEATURES]
    scales = [weights.numerical.get(name, (0.0, 0.0)) for name in CLIENT_FEATURES]
    x = [
        value / scale if scale else 0.0
        for value, (scale, _) in zip(values, scales, strict=True)
    ]
    if model.trainer in _CURVE_LENGTH:
        return base + _curve(model.trainer, weights.curve, x[0])
    power = weights.bias + base
    for value, (_, weight) in zip(x, scales, strict=True):
        if weight:
            power += weight * value
    return power


def platform_milliwatts(
    model: GoModel,
    features: Mapping[str, float],
    *,
    idle: bool = False,
    cores: int = 0,
) -> int:
    """Give the node's power as the unsigned number that Kepler exports.

    Args:
        model: A decoded model; one without ``platform`` reports 0.
        features: Kepler's features per second.
        idle: Evaluate at zero features, scaled by the share of cores.
        cores: Logical processors that Kepler found; 0 if unknown.

    """
    power = watts(model, "platform", {} if idle else features)
    return uint64(power * 1000 * _core_ratio(model, cores, idle=idle))


def component_milliwatts(
    model: GoModel,
    features: Mapping[str, float],
    *,
    idle: bool = False,
    cores: int = 0,
) -> dict[str, int]:
    """Give the power of package, core, uncore and DRAM as Kepler exports it."""
    ratio = _core_ratio(model, cores, idle=idle)
    row = {} if idle else features
    power = {
        part: uint64(watts(model, part, row) * 1000 * ratio) for part in _PARTS[1:]
    }
    both = (power["core"] + power["uncore"]) % _WORD
    power["package"] = max(power["package"], both)
    if power["core"] == 0:
        power["core"] = (power["package"] - power["uncore"]) % _WORD
    return power


def uint64(value: float) -> int:
    """Convert as Go on amd64 does: negative wraps, NaN and overflow give 2**63."""
    if math.isnan(value) or abs(value) >= _WORD:
        return _NOT_A_NUMBER
    whole = math.trunc(value)
    if whole < -_INT64:
        return _NOT_A_NUMBER
    return whole % _WORD


def _core_ratio(model: GoModel, cores: int, *, idle: bool) -> float:
    spec = model.spec
    if not idle or spec is None or cores <= 0 or spec.cores < cores:
        return 1.0
    return cores / spec.cores


def _curve(trainer: str, curve: tuple[float, ...], x: float) -> float:
    """Evaluate a curve fit on the first feature of Kepler's list, whatever it is."""
    try:
        if trainer == "ExponentialRegressionTrainer":
            return curve[0] * math.exp(curve[1] * x) + curve[2]
        if trainer == "LogarithmicRegressionTrainer":
            inner = curve[1] * x + 1
            return curve[0] * (math.log(inner) if inner > 0 else math.nan) + curve[2]
        height, middle, steepness, offset = curve
        return height / (1 + math.exp(-steepness * (x - middle))) + offset
    except OverflowError:
        return math.inf


def _parse(body: bytes) -> Any:
    try:
        return json.loads(
            body.decode("utf-8"), parse_float=_float, parse_constant=_refuse
        )
    except GoRejectsError:
        raise
    except (ValueError, RecursionError) as error:
        raise GoRejectsError(f"no JSON: {error}") from None


def _float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        _refuse(digits)
    return number


def _refuse(what: str) -> NoReturn:
    raise GoRejectsError(f"{what} is no number of encoding/json")


def _member(value: dict[str, Any], name: str) -> Any:
    """Find a member as encoding/json does: case does not matter, the last one wins."""
    found = [item for key, item in value.items() if key.lower() == name.lower()]
    return found[-1] if found else None


def _object(value: object, what: str) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise GoRejectsError(f"{what} is {type(value).__name__}, not an object")
    return value


def _text(value: dict[str, Any], name: str) -> str:
    found = _member(value, name)
    if found is not None and not isinstance(found, str):
        raise GoRejectsError(f"{name} is {type(found).__name__}, not a string")
    return found or ""


def _integer(value: dict[str, Any], name: str) -> int:
    found = _member(value, name)
    if found is None:
        return 0
    if not isinstance(found, int) or isinstance(found, bool):
        raise GoRejectsError(f"machine_spec.{name} is {found!r}, not an integer")
    if not -_INT64 <= found < _INT64:
        raise GoRejectsError(f"machine_spec.{name} overflows")
    return found


def _number(value: object, name: str) -> float:
    if value is None:
        return 0.0
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise GoRejectsError(f"{name} is {type(value).__name__}, not a number")
    try:
        return float(value)
    except OverflowError:
        raise GoRejectsError(f"{name} overflows") from None


def _spec(value: object) -> GoSpec:
    spec = _object(value, "machine_spec")
    return GoSpec(
        vendor=_text(spec, "vendor"),
        processor=_text(spec, "processor"),
        cores=_integer(spec, "cores"),
        chips=_integer(spec, "chips"),
        memory=_integer(spec, "memory"),
        frequency=_integer(spec, "frequency"),
        threads_per_core=_integer(spec, "threads_per_core"),
    )


def _weights(value: dict[str, Any], part: str) -> GoWeights | None:
    found = _member(value, part)
    if found is None:
        return None
    inside = _object(_member(_object(found, part), "All_Weights"), "All_Weights")
    numerical = {
        name: (
            _number(_member(_object(item, name), "scale"), f"scale of {name}"),
            _number(_member(_object(item, name), "weight"), f"weight of {name}"),
        )
        for name, item in _object(
            _member(inside, "Numerical_Variables"), "Numerical_Variables"
        ).items()
    }
    categorical = {
        name: {
            label: _number(_member(_object(entry, label), "weight"), "weight")
            for label, entry in _object(item, name).items()
        }
        for name, item in _object(
            _member(inside, "Categorical_Variables"), "Categorical_Variables"
        ).items()
    }
    curve = _member(inside, "CurveFit_Weights")
    if curve is not None and not isinstance(curve, list):
        raise GoRejectsError("CurveFit_Weights is no list")
    return GoWeights(
        bias=_number(_member(inside, "Bias_Weight"), "Bias_Weight"),
        categorical=categorical,
        numerical=numerical,
        curve=tuple(_number(item, "CurveFit_Weights") for item in curve or ()),
    )
