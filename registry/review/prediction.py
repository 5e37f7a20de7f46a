"""How well models that never saw a bundle predict it: does it fit what is known?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from registry.documents.classkey import GENERIC
from registry.documents.columns import FEATURE_GROUPS
from registry.modelling.model import CURVE, LOAD, Trees, predict_rows
from registry.modelling.table import evenly
from registry.modelling.targets import OPTIONAL, SOURCES
from registry.review.page import Code, Paragraph, Section, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from registry.modelling.extract import Frame
    from registry.modelling.model import Model
    from registry.review.page import Cell

__all__ = ["Miss", "misses", "prediction_section"]

_ROWS: Final = 2_500
_FAR: Final = 25.0
"""Per cent off at which a class's model no longer describes a bundle: 95 % of levels of
servers of one class are within 24.5 % of each other."""


@dataclass(frozen=True, slots=True)
class Miss:
    """How far one model is off on a bundle that it never saw.

    Attributes:
        model: id of the model.
        class_key: its class.
        rows: rows that were predicted.
        mae: mean absolute error in W.
        mape: the same in per cent of the measured power.
        bias: mean of predicted less measured, in per cent of the mean power.
        inside: share of the rows within the half-width that the model promises.
    """

    model: str
    class_key: str
    rows: int
    mae: float
    mape: float
    bias: float
    inside: float


def misses(frame: Frame, models: Iterable[Model], key: str) -> list[Miss]:
    """Predict a bundle with absolute models of its class and the generic class.

    Args:
        frame: the bundle's rows.
        models: models that were fitted without it.
        key: the bundle's class.
    """
    found = [
        miss
        for model in models
        if model.id.output == "AbsPower"
        and model.class_key in (key, GENERIC)
        and (miss := _miss(frame, model)) is not None
    ]
    return sorted(found, key=lambda one: (one.class_key == GENERIC, one.model))


def _miss(frame: Frame, model: Model) -> Miss | None:
    component = SOURCES[model.id.source][0]
    target = f"{model.id.source}:{component}"
    part = model.components.get(component)
    promised = model.error.components.get(component)
    names = FEATURE_GROUPS[model.id.group]
    needed = [name for name in names if name not in OPTIONAL] + [target]
    if model.id.trainer == CURVE:
        needed.append(LOAD)
    if part is None or any(name not in frame.rows.columns for name in needed):
        return None
    rows = frame.rows.drop_nulls(needed)
    rows = rows[evenly(len(rows), _ROWS)]
    if not len(rows):
        return None
    absent = float("nan") if isinstance(part, Trees) else 0.0  # as Kepler's clients do
    present = [name for name in (*names, LOAD) if name in rows.columns]
    columns = {
        name: rows[name].fill_null(absent).to_numpy().astype(np.float64)
        for name in present
    }
    watts = rows[target].to_numpy().astype(np.float64)
    apart = predict_rows(part, columns, len(rows)) - watts
    large = watts >= max(float(watts.max()) / 100, 1e-6)
    shares = np.abs(apart[large]) / watts[large] if large.any() else np.zeros(1)
    width = promised.p95 if promised is not None else 0.0
    return Miss(
        str(model.id),
        model.class_key,
        len(rows),
        _round(float(np.abs(apart).mean())),
        _round(100 * float(shares.mean())),
        _round(100 * float(apart.mean()) / max(float(watts.mean()), 1e-9)),
        float(f"{float((np.abs(apart) <= width).mean()):.3f}"),
    )


def prediction_section(found: Sequence[Miss], key: str) -> Section:
    """Show how well the registry predicts a bundle without it."""
    title = "Predicted without it"
    if not found:
        text = "No model of the registry can predict this bundle yet."
        return Section("prediction", title, (Paragraph.of(text),), {"models": []})
    text = (
        "Each model was fitted without any version of this bundle and predicts it."
        " A bundle of a known class that its models miss by far is unusual: a different"
        " setting, a wrong spec, or a wrong measurement."
    )
    rows = tuple(_row(one) for one in found)
    columns = (
        "model",
        "class",
        "rows",
        "off by W",
        "off by %",
        "too high by %",
        "within what it promises",
    )
    own = [one for one in found if one.class_key == key]
    notes: tuple[tuple[Cell, ...], ...] = ()
    if own:
        best = min(own, key=lambda one: one.mape)
        if best.mape > _FAR:
            what = f" is off by {best.mape:.0f} % on this bundle."
            notes = (("The closest model of its class, ", Code(best.model), what),)
    facts: dict[str, Any] = {
        "models": [
            {
                "id": one.model,
                "rows": one.rows,
                "mae": one.mae,
                "mape": one.mape,
                "bias": one.bias,
                "inside": one.inside,
            }
            for one in found
        ]
    }
    table = Table("Models that never saw this bundle", columns, rows)
    return Section("prediction", title, (Paragraph.of(text), table), facts, notes)


def _row(one: Miss) -> tuple[Cell, ...]:
    return (
        Code(one.model.rpartition("_")[0]),
        Code(one.class_key),
        str(one.rows),
        f"{one.mae:.1f}",
        f"{one.mape:.1f}",
        f"{one.bias:+.1f}".replace("-", "−"),
        f"{one.inside:.0%}",
    )


def _round(value: float) -> float:
    return float(f"{value:.5g}")
