"""An overview of the power curves as SVG, with the same bytes on every machine."""

from __future__ import annotations

import io
import math
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["power_curves_svg", "settled"]

GENERIC: Final = "generic"
_STYLE: Final[Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "power-dataset-registry",
    "font.family": "sans-serif",
    "font.size": 9,
}
_PANELS: Final = 60
"""More classes than this are not drawn; the index has the curves of all."""
_COLUMNS: Final = 5
_TAG: Final = re.compile(r"<[a-z][^>]*>")
_FINE: Final = re.compile(r"-?\d+\.\d{3,}")
_NAME: Final = re.compile(r"(?<=[\"#])[a-z][0-9a-f]{10}(?=[\")])")


def power_curves_svg(
    curves: Mapping[str, Sequence[tuple[float, float]]], title: str
) -> bytes:
    """Draw power over load, one small panel a server class.

    Every panel has an axis of its own, since servers differ fiftyfold in power, and
    shows the generic curve dashed where that fits into it.

    Args:
        curves: Class key to its points (load ratio, watts), at least one class.
        title: The title of the drawing.

    Returns:
        SVG without a date; the same curves give the same bytes.

    """
    import matplotlib as mpl  # noqa: PLC0415 - a second of imports, only when drawing
    from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    keys = sorted(curves, key=lambda name: (name != GENERIC, name))
    shown = keys[:_PANELS]
    if len(keys) > len(shown):
        title += f" (the first {len(shown)})"
    columns = min(_COLUMNS, len(shown))
    rows = math.ceil(len(shown) / columns)
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(2.6 * columns, 1.7 * rows + 0.8), layout="constrained")
        FigureCanvasSVG(figure)
        grid = figure.subplots(rows, columns, sharex=True, squeeze=False).flatten()
        for axes, key in zip(grid, shown, strict=False):
            _panel(axes, key, curves)
        for axes in grid[len(shown) :]:
            axes.set_visible(False)
        figure.suptitle(title)
        figure.supxlabel("load, % of all logical processors")
        figure.supylabel("power of one node, W")
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return settled(buffer.getvalue().decode("utf-8")).encode("utf-8")


def settled(drawing: str) -> str:
    """Take out of an SVG what the last bits of coordinates decide.

    Processors do not agree on those bits. Matplotlib names clips and markers by their
    digest, which here become numbers in the order of the page, and coordinates keep two
    digits, a hundredth of a point.
    """
    numbers: dict[str, str] = {}

    def name(found: re.Match[str]) -> str:
        return numbers.setdefault(found.group(), f"part_{len(numbers) + 1}")

    def tag(found: re.Match[str]) -> str:
        rounded = _FINE.sub(lambda one: f"{float(one.group()):.2f}", found.group())
        return _NAME.sub(name, rounded)

    return _TAG.sub(tag, drawing)


def _panel(
    axes: Any, key: str, curves: Mapping[str, Sequence[tuple[float, float]]]
) -> None:
    """Draw one class."""
    loads, watts = zip(*curves[key], strict=True)
    top = 1.15 * max(*watts, 1.0)
    if key != GENERIC and GENERIC in curves:
        others, generic = zip(*curves[GENERIC], strict=True)
        axes.plot([100 * at for at in others], generic, color="0.6", linestyle="--")
    axes.plot([100 * at for at in loads], watts, color="tab:blue", linewidth=1.6)
    # Keys are names, but a dollar would begin a formula.
    axes.set_title(key.replace("$", "\\$"), fontsize=6.5)
    axes.set_xlim(0, 100)
    axes.set_ylim(0, top)
    axes.tick_params(labelsize=6)
    axes.grid(visible=True, alpha=0.3)
