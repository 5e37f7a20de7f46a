"""Drawings of the proposed power: over load beside its class, and over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from registry.modelling.table import evenly
from registry.review.drawing import Line, Panel, draw
from registry.review.page import Figure, Paragraph, Section
from registry.review.sketches import chart, spark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.modelling.extract import Frame
    from registry.modelling.table import Floats
    from registry.review.page import Block
    from registry.review.servers import Points, Server

__all__ = ["power_section"]

_OTHERS: Final = 40
"""Servers that are drawn in the back at most."""
_MOMENTS: Final = 400
"""Points of a drawing over time: each is the mean of what it stands for."""


def power_section(own: Server, frame: Frame, servers: Sequence[Server]) -> Section:
    """Draw all powers of a bundle.

    Args:
        own: the proposed bundle.
        frame: its rows.
        servers: merged bundles of its class.
    """
    blocks: list[Block] = []
    if own.curves:
        blocks.append(_over_load(own, servers, recorded=frame.recorded))
    moments = _over_time(frame) if frame.recorded else None
    if moments is not None:
        blocks.append(moments)
    if not blocks:
        blocks.append(Paragraph.of("No row has both a power and a load."))
    facts = {
        name: [[float(f"{x:.4g}"), float(f"{y:.6g}")] for x, y in points]
        for name, points in own.curves.items()
    }
    return Section("power", "Power", tuple(blocks), {"curves": facts})


def _over_load(own: Server, servers: Sequence[Server], *, recorded: bool) -> Figure:
    panels, lines = [], []
    count = 0
    for target, points in own.curves.items():
        behind = [one.curves[target] for one in servers if target in one.curves]
        chosen = [behind[at] for at in evenly(len(behind), _OTHERS)]
        count = max(count, len(chosen))
        back = tuple(Line(*_parts(curve), faint=True) for curve in chosen)
        panels.append(Panel(target, (*back, Line(*_parts(points), dots=True))))
        watts = [y for _, y in points]
        lines.append(f"{target:22} {spark(watts, 'W')}")
    how = "means of steps of load" if recorded else "each dot is a load level"
    others = f"; grey: other servers of its class, {count}" if count else ""
    caption = f"Power of one node over load, {how}{others}"
    main = next(iter(own.curves))
    curves = [
        own.curves[main],
        *[one.curves[main] for one in servers if main in one.curves][:3],
    ]
    return Figure(
        "power-over-load",
        caption,
        draw("load", caption, panels, ("load, % of all logical processors", "W")),
        chart(
            "Power over load, this bundle first",
            ("load in per cent", "watts"),
            [[(100 * x, y) for x, y in curve] for curve in curves],
        ),
        tuple(lines),
    )


def _parts(points: Points) -> tuple[list[float], list[float]]:
    return [100 * x for x, _ in points], [y for _, y in points]


def _over_time(frame: Frame) -> Figure | None:
    panels, lines = [], []
    for target in [name for name in frame.rows.columns if ":" in name]:
        rows = frame.rows.select("seconds", target).drop_nulls()
        if not len(rows):
            continue
        time, watts = (rows[name].to_numpy() for name in ("seconds", target))
        minutes = [float(value) / 60 for value in _thinned(time)]
        means = [float(value) for value in _thinned(watts)]
        panels.append(Panel(target, (Line(minutes, means),)))
        lines.append(f"{target:22} {spark(means, 'W')}")
    if not panels:
        return None
    caption = "Power of one node over time, accepted runs and what lies between"
    svg = draw("time", caption, panels, ("minutes", "W"))
    return Figure("power-over-time", caption, svg, "", tuple(lines))


def _thinned(values: Floats) -> Floats:
    """Give the means of at most `_MOMENTS` equal parts."""
    if len(values) <= _MOMENTS:
        return values
    edges = np.linspace(0, len(values), _MOMENTS + 1).astype(np.int64)
    sums = np.add.reduceat(values, edges[:-1])
    return np.asarray(sums / np.diff(edges), dtype=np.float64)
