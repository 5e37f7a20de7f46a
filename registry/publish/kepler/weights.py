"""Weight files for Kepler Go: linear models that it cannot misread, or no file."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from registry.documents.canonical import encode_numbers
from registry.documents.findings import RegistryError, Severity, code, finding
from registry.modelling.model import LINEAR, Linear
from registry.publish.kepler import go_reader
from registry.publish.kepler.node_types import machine_spec
from registry.publish.kepler.vocabulary import CLIENT_FEATURES, COMPONENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.documents.canonical import Json
    from registry.modelling.model import Model
    from registry.publish.kepler.node_types import Machine

__all__ = ["misreadings", "weight_file"]

NOT_LINEAR = code(
    "R001",
    Severity.ERROR,
    "Kepler Go evaluates linear models only; it misreads every other kind.",
    "Publish the model for the estimator instead.",
)
MISREAD = code(
    "R002",
    Severity.ERROR,
    "Kepler Go would misread a weight file.",
    "Mend the fit that made the model; a file like this is never published.",
    "P1",
)

_COPIED: Final = "cpu_ref_cycles"
"""Kepler fills this feature with cpu_cycles, so no model may rely on it."""


def weight_file(model: Model, machine: Machine | None) -> bytes:
    """Write the weights of a linear model as Kepler Go reads them.

    Args:
        model: A model whose components are all linear.
        machine: The machine of its class, or None for the generic class.

    Returns:
        JSON with ``model_name``, an integer ``machine_spec`` and one entry a component.

    Raises:
        RegistryError: R001 or R002, with everything that Kepler would misread.

    """
    path = str(model.id)
    document: dict[str, Json] = {"model_name": model.id.model_name}
    if machine is not None:
        document["machine_spec"] = machine_spec(machine)
    for name, part in model.components.items():
        if not isinstance(part, Linear) or model.id.trainer != LINEAR:
            what = f"{name} is a {type(part).__name__} of {model.id.trainer}"
            raise RegistryError(finding(NOT_LINEAR, path, what))
        numbers = [part.bias, *(n for pair in part.weights.values() for n in pair)]
        if not all(math.isfinite(number) for number in numbers):
            what = f"{name} holds NaN or an infinity"
            raise RegistryError(finding(MISREAD, path, what))
        document[name] = {
            "All_Weights": {
                "Bias_Weight": float(part.bias),
                "Categorical_Variables": {},
                "Numerical_Variables": {
                    feature: {"scale": float(scale), "weight": float(weight)}
                    for feature, (scale, weight) in part.weights.items()
                },
            }
        }
    body = encode_numbers(document)
    problems = misreadings(body, model.id.source)
    if problems:
        raise RegistryError([finding(MISREAD, path, what) for what in problems])
    return body


def misreadings(body: bytes, source: str) -> list[str]:
    """Say everything that Kepler Go would take otherwise than it is meant.

    Args:
        body: A weight file.
        source: The energy source under which it is used, ``acpi`` or ``rapl-sysfs``.

    Returns:
        Sentences; an empty list means that Kepler computes what the file says.

    """
    try:
        model = go_reader.load(body)
    except go_reader.GoRejectsError as error:
        return [f"Kepler refuses the file: {error}"]
    except go_reader.GoPanicError as error:
        return [f"Kepler dies: {error}"]
    return list(_misreadings(model, source))


def _misreadings(model: go_reader.GoModel, source: str) -> Iterator[str]:
    if model.trainer != LINEAR:
        yield (
            f"the name {model.model_name!r} means no linear trainer;"
            f" it must be {LINEAR}_<number>"
        )
    expected = COMPONENTS.get(source, ())
    for part in model.components:
        if part not in expected:
            yield f"{part} is not read under the source {source}: it would report 0 W"
    if not set(expected) & set(model.components):
        yield f"there is no component of {source}: it would report 0 W"
    if not any(_moves(weights) for weights in model.components.values()):
        yield "every component is always 0 W"
    for part, weights in model.components.items():
        if weights.bias < 0:
            yield f"{part}: the bias is negative, so idle power would wrap around"
        for feature, (scale, weight) in weights.numerical.items():
            yield from (f"{part}: {what}" for what in _muted(feature, scale, weight))


def _muted(feature: str, scale: float, weight: float) -> Iterator[str]:
    if feature not in CLIENT_FEATURES:
        yield f"Kepler never uses the feature {feature!r}"
    elif feature == _COPIED:
        yield f"Kepler fills {feature} with another counter"
    if not scale > 0:
        yield f"{feature} has the scale {scale}, which mutes it"
    if weight < 0:
        yield f"{feature} has a negative weight"


def _moves(weights: go_reader.GoWeights) -> bool:
    return bool(weights.bias) or any(w for _, w in weights.numerical.values())
