"""Drawings of power as SVG elements for one page, the same bytes on every machine."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from registry.publish.escape import drawn, html

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Line", "Panel", "draw"]

_STYLE: Final[Any] = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9,
    "path.simplify": False,
}
_COLUMNS: Final = 2
_METADATA: Final = re.compile(r"<metadata>.*?</metadata>\s*", re.DOTALL)
_IDS: Final = re.compile(r"(\bid=\"|href=\"#|url\(#)([^\")]+)")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a panel.

    Attributes:
        x: its places.
        y: its heights, as many.
        faint: whether it stands in the back, for comparison.
        dots: whether each point is marked: it was measured.
    """

    x: Sequence[float]
    y: Sequence[float]
    faint: bool = False
    dots: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """A plot of lines over one axis.

    Attributes:
        title: what its lines are.
        lines: the lines, those in the back first.
    """

    title: str
    lines: tuple[Line, ...]


def draw(
    name: str, alternative: str, panels: Sequence[Panel], axes: tuple[str, str]
) -> str:
    """Draw panels beside and below each other.

    Args:
        name: letters and hyphens, unique in the page; every id begins with it.
        alternative: the drawing's text alternative.
        panels: at least one.
        axes: what lies on the x and on the y axis, with units.

    Returns:
        An ``<svg>`` element without a date, a script or a link to elsewhere.
    """
    import matplotlib as mpl  # noqa: PLC0415 - a second of imports, only when drawing
    from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    columns = min(_COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    size = (4.4 * columns + 0.4, 2.6 * rows + 0.4)
    with mpl.rc_context({**_STYLE, "svg.hashsalt": name}):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        grid = figure.subplots(rows, columns, squeeze=False).flatten()
        for place, panel in zip(grid, panels, strict=False):
            _panel(place, panel)
        for place in grid[len(panels) :]:
            place.set_visible(False)
        figure.supxlabel(axes[0])
        figure.supylabel(axes[1])
        buffer = io.StringIO()
        nothing = {"Date": None, "Creator": None, "Format": None, "Type": None}
        figure.savefig(buffer, format="svg", metadata=nothing)
    return _element(buffer.getvalue(), name, alternative)


def _panel(place: Any, panel: Panel) -> None:
    top = 1.0
    for line in panel.lines:
        style = {"color": "0.72", "linewidth": 0.9, "zorder": 1}
        if not line.faint:
            style = {"color": "#0757ba", "linewidth": 1.5, "zorder": 3}
        marker = "o" if line.dots and not line.faint else ""
        place.plot(line.x, line.y, marker=marker, markersize=3.5, **style)
        top = max(top, *line.y) if len(line.y) else top
    place.set_title(drawn(panel.title), fontsize=9)
    place.set_ylim(0, 1.08 * top)
    place.margins(x=0.02)
    place.grid(visible=True, alpha=0.3)


def _element(text: str, name: str, alternative: str) -> str:
    """Make a file into an element that can stand in a page beside others."""
    body = _METADATA.sub("", text[text.index("<svg") :])
    body = _IDS.sub(lambda found: f"{found[1]}{name}-{found[2]}", body)
    head = (
        f'<svg role="img" aria-labelledby="{name}-title"'
        f"{body[len('<svg') : body.index('>') + 1]}"
        f'\n<title id="{name}-title">{html(alternative)}</title>'
    )
    return head + body[body.index(">") + 1 :].rstrip("\n")
