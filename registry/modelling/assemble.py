"""From the frames of a class to one model: rows, fits, errors, publish or withhold.

A model is published only if it beats the constant of its class on the same held-out
rows; else it is withheld, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import polars as pl

from registry.documents.classkey import GENERIC
from registry.documents.columns import FEATURE_GROUPS
from registry.modelling.evaluate import (
    Evaluation,
    combined,
    component_error,
    evaluate,
)
from registry.modelling.extract import Frame
from registry.modelling.fits.trainers import constant
from registry.modelling.model import (
    CURVE,
    Component,
    ComponentError,
    ErrorReport,
    Model,
    ModelId,
    Point,
)
from registry.modelling.plan import Order
from registry.modelling.table import FIT_ROWS, Codes, Table, evenly, significant
from registry.modelling.targets import OPTIONAL, SOURCES

GENERIC_ROWS: Final = 64
"""Rows that a server gives to the generic class; every server weighs the same."""
POINTS: Final = 12


def reduced(frame: Frame, limit: int) -> Frame:
    """Keep at most ``limit`` rows of a frame, evenly spread, and its idle levels."""
    if len(frame.rows) <= limit:
        return frame
    rows = frame.rows[evenly(len(frame.rows), limit)]
    return Frame(
        frame.dataset, frame.machine, frame.class_key, rows, frame.recorded, frame.idle
    )


def fit_order(order: Order, frames: Sequence[Frame]) -> Model:
    """Fit one model, with its held-out errors.

    Args:
        order: What to fit.
        frames: Frames of its bundles, in any order; at least one.

    Returns:
        The model, published or withheld with the reason; equal inputs give equal
        models, whatever the order of the frames.
    """
    frames = sorted(frames, key=lambda frame: (frame.machine, frame.dataset))
    source = order.id.source
    parts: dict[str, Component] = {}
    errors: dict[str, ComponentError] = {}
    notes: list[str] = []
    main: tuple[str, Table, Evaluation] | None = None
    for component in SOURCES[source]:
        table = make_table(order.id, order.class_key, frames, f"{source}:{component}")
        if table is None:
            continue
        try:
            found = evaluate(table, order.id.trainer)
        except ValueError as error:
            notes.append(f"{component}: {error}")
            continue
        beaten = found.error.mae < found.error.baseline_mae
        if main is None:
            main = (component, table, found)
            notes.append(_sentence(component, found, beaten=beaten))
        elif not beaten and order.id.output == "DynPower":
            notes.append(f"{component} is left out: no better than a constant")
            continue
        elif not beaten:
            part = constant(table, order.id.trainer)
            parts[component] = part
            errors[component] = component_error(table, None, found.held_out)
            notes.append(f"{component} is a constant: no fit was better")
            continue
        parts[component], errors[component] = found.part, found.error
    if main is None:
        why = "; ".join(notes) or "no row has both the features and the power"
        return _model(order, frames, parts, NOTHING, why, published=False)
    component, table, found = main
    report = combined(errors, found.held_out, len(table))
    return _model(
        order,
        frames,
        parts,
        report,
        "; ".join(notes),
        published=errors[component].mae < errors[component].baseline_mae,
        points=_points(component, table, found),
    )


NOTHING: Final = ErrorReport("none", 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
"""The report of a model that could not be fitted: no row was held out."""


def make_table(
    model: ModelId, key: str, frames: Sequence[Frame], target: str
) -> Table | None:
    """Collect the rows that have a target and the features of a group.

    For DynPower the idle power of each bundle's own server is taken off; what is left
    is not below 0. In the generic class whole classes are held out together, since it
    serves servers that were never measured.

    Returns:
        The table, or None if no row has all that is needed.
    """
    names = FEATURE_GROUPS[model.group]
    needed = [name for name in names if name not in OPTIONAL] + [target]
    usable: list[tuple[Frame, pl.DataFrame]] = []
    for frame in frames:
        if any(name not in frame.rows.columns for name in needed):
            continue
        rows = frame.rows.drop_nulls(needed)
        if model.trainer == CURVE:
            rows = rows.drop_nulls("load_ratio")
        if len(rows):
            usable.append((frame, rows))
    if not usable:
        return None
    sizes = [len(rows) for _, rows in usable]
    if sum(sizes) > FIT_ROWS:
        share = max(FIT_ROWS // len(usable), 1)
        usable = [(f, rows[evenly(len(rows), share)]) for f, rows in usable]
    return _table(model, key, usable, target)


def _table(
    model: ModelId, key: str, usable: list[tuple[Frame, pl.DataFrame]], target: str
) -> Table:
    names = FEATURE_GROUPS[model.group]
    held_together = [f.class_key if key == GENERIC else f.machine for f, _ in usable]
    machine = [frame.machine for frame, _ in usable]
    sizes = [len(rows) for _, rows in usable]
    of_machine: dict[str, int] = {}
    for name, size in zip(machine, sizes, strict=True):
        of_machine[name] = of_machine.get(name, 0) + size
    fair = sum(sizes) / len(of_machine)
    weight = [fair / of_machine[name] for name in machine]
    watts = []
    for frame, rows in usable:
        power = rows[target].to_numpy()
        if model.output == "DynPower":
            power = np.maximum(power - frame.idle[target], 0.0)
        watts.append(power)
    columns = [
        np.concatenate(
            [
                rows[name].fill_null(float("nan")).to_numpy()
                if name in rows.columns
                else np.full(len(rows), np.nan)
                for _, rows in usable
            ]
        )
        for name in names
    ]
    load = [rows["load_ratio"].fill_null(float("nan")).to_numpy() for _, rows in usable]
    return Table(
        names=names,
        values=np.column_stack(columns),
        watts=np.concatenate(watts),
        weight=np.repeat(weight, sizes),
        load=np.concatenate(load),
        machine=np.repeat(_codes(held_together), sizes),
        workload=_codes([name for _, rows in usable for name in rows["workload"]]),
        block=np.concatenate([rows["block"].to_numpy() for _, rows in usable]),
        recorded=any(frame.recorded for frame, _ in usable),
        intercept=model.output == "AbsPower",
    )


def _codes(names: Sequence[str]) -> Codes:
    rank = {name: at for at, name in enumerate(sorted(set(names)))}
    return np.array([rank[name] for name in names], dtype=np.int64)


def _sentence(component: str, found: Evaluation, *, beaten: bool) -> str:
    error = found.error
    held = found.held_out.protocol.replace("-", " ")
    if beaten:
        gain = 100 * (1 - error.mae / error.baseline_mae)
        return (
            f"{found.chosen}: {component} {error.mae:.4g} W off by held-out {held},"
            f" {gain:.0f} % less than a constant ({error.baseline_mae:.4g} W)"
        )
    return (
        f"{component} is {error.mae:.4g} W off by held-out {held}, no better than a"
        f" constant ({error.baseline_mae:.4g} W)"
    )


def _points(component: str, table: Table, found: Evaluation) -> tuple[Point, ...]:
    order = np.lexsort((table.watts, np.nan_to_num(table.load)))
    chosen = order[evenly(len(order), POINTS)]
    columns = table.columns()
    return tuple(
        Point(
            {
                name: significant(float(column[at]))
                for name, column in columns.items()
                if not np.isnan(column[at])
            },
            {component: significant(float(table.watts[at]))},
            {component: significant(float(found.held_out.watts[at]))},
        )
        for at in chosen
    )


def _model(
    order: Order,
    frames: Sequence[Frame],
    parts: Mapping[str, Component],
    report: ErrorReport,
    why: str,
    *,
    published: bool,
    points: tuple[Point, ...] = (),
) -> Model:
    return Model(
        id=order.id,
        class_key=order.class_key,
        components=dict(parts),
        features=FEATURE_GROUPS[order.id.group],
        error=report,
        bundles=tuple(sorted(order.bundles)),
        input_digest=order.input_digest,
        status="published" if published else "withheld",
        why=why,
        machines=len({frame.machine for frame in frames}),
        points=points,
    )
