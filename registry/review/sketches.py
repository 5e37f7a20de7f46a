"""Curves where no drawing can be shown: Mermaid charts, and lines of characters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["chart", "spark"]

_BARS: Final = "▁▂▃▄▅▆▇█"
_WIDTH: Final = 60
_STEPS: Final = 11


def chart(
    title: str, axes: tuple[str, str], curves: Sequence[Sequence[tuple[float, float]]]
) -> str:
    """Write lines as a Mermaid XY chart, which GitHub draws.

    Args:
        title: a title of letters, digits, spaces and commas, not a foreign one.
        axes: names of the axes, of such characters too.
        curves: points (x, y) by rising x, the most important curve first.
    """
    known = [curve for curve in curves if curve]
    if not known:
        return ""
    first, last = known[0][0][0], known[0][-1][0]
    at = np.linspace(first, last, _STEPS)
    lines = [
        "xychart-beta",
        f'  title "{title}"',
        f'  x-axis "{axes[0]}" {first:.4g} --> {last:.4g}',
        f'  y-axis "{axes[1]}"',
    ]
    for curve in known:
        x, y = zip(*curve, strict=True)
        heights = ", ".join(f"{value:.1f}" for value in np.interp(at, x, y))
        lines.append(f"  line [{heights}]")
    return "\n".join(lines)


def spark(values: Sequence[float], unit: str) -> str:
    """Draw values as one line of bars, with the lowest and the highest value."""
    if not len(values):
        return "no value"
    parts = np.array_split(
        np.asarray(values, dtype=np.float64), min(_WIDTH, len(values))
    )
    means = [float(part.mean()) for part in parts]
    low, high = min(means), max(means)
    span = high - low or 1.0
    bars = "".join(
        _BARS[min(int((value - low) / span * len(_BARS)), len(_BARS) - 1)]
        for value in means
    )
    return f"{bars}  {low:.1f} to {high:.1f} {unit}"
