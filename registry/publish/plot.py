"""An overview of the power curves as SVG, with the same bytes on every machine."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["power_curves_svg"]

GENERIC: Final = "generic"
_STYLE: Final[Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "power-dataset-registry",
    "font.family": "sans-serif",
    "font.size": 9,
}
_NAMED: Final = 12
"""More curves than this are drawn without a legend."""


def power_curves_svg(
    curves: Mapping[str, Sequence[tuple[float, float]]], title: str
) -> bytes:
    """Draw power over load, one line a server class.

    Args:
        curves: Class key to its points (load ratio, watts), at least one class.
        title: The title of the drawing.

    Returns:
        SVG without a date; the same curves give the same bytes.

    """
    import matplotlib as mpl  # noqa: PLC0415 - a second of imports, only when drawing
    from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(8, 4.5), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.subplots()
        for key in sorted(curves, key=lambda name: (name != GENERIC, name)):
            loads, watts = zip(*curves[key], strict=True)
            bold = key == GENERIC
            axes.plot(
                [100 * load for load in loads],
                watts,
                color="black" if bold else None,
                linewidth=2.5 if bold else 1,
                linestyle="--" if bold else "-",
                label=key.replace("$", "\\$"),
            )
        axes.set_xlabel("load, % of all logical processors")
        axes.set_ylabel("power of one node, W")
        axes.set_title(title)
        axes.set_xlim(0, 100)
        axes.set_ylim(bottom=0)
        axes.grid(visible=True, alpha=0.3)
        if len(curves) <= _NAMED:
            axes.legend(fontsize=7)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()
