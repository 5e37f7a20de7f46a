"""Plots of results as SVG, PNG or PDF, drawn from the series of `series`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from registry.documents.findings import Severity, code
from tools.experiments.series import Band, Bars, HeatMap, Key
from tools.files.figures import ENDINGS, refuse_ending, write_figure

__all__ = ["plot_band", "plot_bars", "plot_heat_map"]

ENDING = code(
    "B071",
    Severity.ERROR,
    "A plot cannot be written under that name.",
    f"Let the name end with {', '.join(ENDINGS)}.",
)
_COLOUR: Final = "#31688e"


def plot_bars(bars: Bars, path: Path, *, label: str, line: float | None = None) -> None:
    """Draw bars with their intervals.

    Args:
        bars: what to draw.
        path: the file; its ending says the format.
        label: what the values are.
        line: a value that is marked, such as a ratio of 1.

    Raises:
        RegistryError: B071.
    """
    figure, axes = _canvas(path, width=max(4.0, 1.0 + 0.7 * len(bars.labels)))
    places = range(len(bars.labels))
    axes.bar(places, bars.values, color=_COLOUR)
    ends = list(zip(bars.values, bars.lows, bars.highs, strict=True))
    for place, (value, low, high) in zip(places, ends, strict=True):
        if low is not None and high is not None:
            # A bootstrap interval need not hold the estimate itself.
            errors = [[max(value - low, 0)], [max(high - value, 0)]]
            axes.errorbar(place, value, errors, color="black", capsize=4)
    if line is not None:
        axes.axhline(line, color="grey", linewidth=0.8)
    axes.set_xticks(list(places), bars.labels, rotation=30, ha="right")
    axes.set_ylabel(label)
    write_figure(figure, path)


def plot_heat_map(heat: HeatMap, path: Path, *, x: str, y: str, label: str) -> None:
    """Draw a heat map; nothing stands where nothing ran.

    Raises:
        RegistryError: B071.
    """
    figure, axes = _canvas(path, width=max(4.0, 2.0 + 0.5 * len(heat.columns)))
    cells = [[float("nan") if v is None else v for v in row] for row in heat.values]
    image = axes.imshow(cells, aspect="auto", origin="lower", cmap="viridis")
    figure.colorbar(image, ax=axes, label=label)
    axes.set_xticks(range(len(heat.columns)), _texts(heat.columns))
    axes.set_yticks(range(len(heat.rows)), _texts(heat.rows))
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    write_figure(figure, path)


def plot_band(band: Band, path: Path, *, x: str, label: str) -> None:
    """Draw means as a line, with a band of one standard deviation.

    Raises:
        RegistryError: B071.
    """
    figure, axes = _canvas(path, width=5.0)
    numeric = all(isinstance(place, float) for place in band.places)
    places: Sequence[Any] = band.places if numeric else range(len(band.places))
    pairs = list(zip(band.means, band.deviations, strict=True))
    low, high = [m - d for m, d in pairs], [m + d for m, d in pairs]
    axes.fill_between(places, low, high, color=_COLOUR, alpha=0.25, linewidth=0)
    axes.plot(places, band.means, color=_COLOUR, marker="o")
    if not numeric:
        axes.set_xticks(list(places), _texts(band.places), rotation=30, ha="right")
    axes.set_xlabel(x)
    axes.set_ylabel(label)
    write_figure(figure, path)


def _texts(keys: Sequence[Key]) -> list[str]:
    return [f"{key:g}" if isinstance(key, float) else key for key in keys]


def _canvas(path: Path, *, width: float) -> tuple[Any, Any]:
    """A figure that no window and no global state belongs to."""
    refuse_ending(path, ENDING)
    from matplotlib.figure import Figure  # noqa: PLC0415  takes a while to load

    figure = Figure(figsize=(min(width, 40.0), 4.0), layout="constrained")
    return figure, figure.add_subplot()
