"""Power curves as JSON: watts over load, for people and for tools to come.

Each component is a list of points. Kepler Go expects an object there and refuses the
whole file, so that nobody can configure a curve by mistake and be told 0 W.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.documents.canonical import encode_numbers
from registry.documents.findings import RegistryError, Severity, code, finding
from registry.modelling.model import Curve, Linear

if TYPE_CHECKING:
    from registry.documents.canonical import Json
    from registry.modelling.model import Component, Model

__all__ = ["curve_file"]

NOT_A_CURVE = code(
    "R005",
    Severity.ERROR,
    "A model is no power curve.",
    "Write linear models and trees in their own forms.",
)


def curve_file(model: Model) -> bytes:
    """Write a power curve.

    Args:
        model: A model whose components are all curves.

    Returns:
        JSON: for each component a list of [share of all logical processors in use,
        watts of one node], by rising load.

    Raises:
        RegistryError: R005.

    """
    document: dict[str, Json] = {
        "class": model.class_key,
        "mae": float(model.error.mae),
        "model_name": model.id.model_name,
        "schema": "power-curve/1",
        "unit": "watts over load ratio",
    }
    for name, part in model.components.items():
        points = _points(part)
        if points is None:
            what = f"{name} is a {type(part).__name__}"
            raise RegistryError(finding(NOT_A_CURVE, str(model.id), what))
        document[name] = [[float(x), float(y)] for x, y in points]
    return encode_numbers(document)


def _points(part: Component) -> tuple[tuple[float, float], ...] | None:
    """Give a curve's points; a component that is a constant is a level line."""
    if isinstance(part, Curve):
        return part.points
    if isinstance(part, Linear) and not any(w for _, w in part.weights.values()):
        return ((0.0, part.bias), (1.0, part.bias))
    return None
