"""The class's own model against the generic one, on rows that the class's never saw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from registry.modelling.model import LOAD, Curve, Trees, predict_rows
from registry.publish.index import Comparison

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from registry.modelling.model import Component, Point

__all__ = ["compare"]


def compare(
    generic: Mapping[str, Component], rows: Mapping[str, Sequence[Point]]
) -> dict[str, Comparison]:
    """Compare models of classes with the generic model of the same kind.

    Args:
        generic: Components of the generic model.
        rows: Held-out rows by model id.

    Returns:
        Mean absolute errors in W by model id, the larger one where there are several
        components, rounded to six digits. Models without a common component or with
        no usable row are left out.

    """
    every = [(name, point) for name, points in rows.items() for point in points]
    measured: dict[str, dict[str, list[tuple[float, float]]]] = {}
    counts: dict[str, int] = {}
    for component, part in generic.items():
        usable = [
            (name, point)
            for name, point in every
            if component in point.watts
            and component in point.held_out
            and (not isinstance(part, Curve) or LOAD in point.features)
        ]
        predicted = _predict(part, [point for _, point in usable])
        for (name, point), watts in zip(usable, predicted, strict=True):
            truth = point.watts[component]
            pair = (abs(point.held_out[component] - truth), abs(watts - truth))
            measured.setdefault(name, {}).setdefault(component, []).append(pair)
            counts[name] = max(counts.get(name, 0), len(measured[name][component]))
    return {
        name: Comparison(
            rows=counts[name],
            mae=_largest(parts, 0),
            generic_mae=_largest(parts, 1),
        )
        for name, parts in measured.items()
    }


def _predict(part: Component, points: Sequence[Point]) -> list[float]:
    if not points:
        return []
    absent = np.nan if isinstance(part, Trees) else 0.0  # as Kepler's clients do
    names = sorted({name for point in points for name in point.features})
    columns = {
        name: np.array([point.features.get(name, absent) for point in points])
        for name in names
    }
    return [float(watts) for watts in predict_rows(part, columns, len(points))]


def _largest(parts: Mapping[str, list[tuple[float, float]]], which: int) -> float:
    means = [
        sum(pair[which] for pair in pairs) / len(pairs) for pairs in parts.values()
    ]
    return float(f"{max(means):.6g}")
