"""Draws tracks of spans and lines of counters as SVG.

Whatever comes from a trace is text of a stranger: it is made printable, cut, escaped,
and stands only where text stands, never in a tag, a style or an address.
"""

from __future__ import annotations

import html
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from registry.documents.findings import shown
from tools.traces.timelines import Series
from tools.traces.viewing_choice import Span, Track

__all__ = ["Scale", "counter_lines", "duration", "safe", "track_svg"]

WIDTH: Final = 1200
"""Width of the drawn time, in units of the drawing."""
ROW: Final = 18
LINE_HEIGHT: Final = 48
POINTS: Final = 600
"""Points of a line; of the values between two of them, the extremes are drawn."""
_LETTER: Final = 6.6
"""Width of a letter of text."""
_UNITS: Final = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns"))


@dataclass(frozen=True, slots=True)
class Scale:
    """From nanoseconds to units of the drawing.

    Attributes:
        first: the time at the left edge.
        last: the time at the right edge.
    """

    first: int
    last: int

    def x(self, time: float) -> float:
        """Where a time is."""
        whole = max(self.last - self.first, 1)
        return round((time - self.first) / whole * WIDTH, 2)

    def ticks(self) -> Iterator[tuple[float, str]]:
        """Places and texts of an axis, at round times since the left edge."""
        whole = max(self.last - self.first, 1)
        step = 10 ** (len(str(whole)) - 1)
        fine = (max(step // 5, 1), max(step // 2, 1), step)
        step = next(one for one in fine if whole / one <= 10)
        for time in range(0, whole + 1, step):
            yield self.x(self.first + time), duration(time)


def safe(text: str, limit: int = 200) -> str:
    """Foreign text as it may stand between tags and in quoted attributes."""
    return html.escape(shown(text, limit), quote=True)


def duration(nanoseconds: float) -> str:
    """A duration in the unit that suits it."""
    size, unit = next((one for one in _UNITS if abs(nanoseconds) >= one[0]), _UNITS[-1])
    return f"{nanoseconds / size:.4g} {unit}"


def track_svg(track: Track, scale: Scale) -> str:
    """One track with its spans in rows by their nesting."""
    levels = sorted({span.level for span in track.spans})
    rows = {level: row for row, level in enumerate(levels)}
    height = ROW * len(levels) + 2
    inner = "".join(_span(one, rows[one.level], scale) for one in track.spans)
    label = safe(f"{track.process}, {track.name}: {len(track.spans)} spans")
    return (
        f'<svg role="img" aria-label="{label}" viewBox="0 0 {WIDTH} {height}"'
        f' width="{WIDTH}" height="{height}">{inner}</svg>'
    )


def counter_lines(series: Sequence[Series], scale: Scale) -> Iterator[str]:
    """A drawing for each series, as a line that keeps its value until the next one."""
    for one in series:
        if not len(one.times):
            continue
        low, high = float(one.values.min()), float(one.values.max())
        points = " ".join(_points(one, scale, low, high))
        label = safe(f"{one.name}: from {low:.6g} to {high:.6g}")
        yield (
            f"<figure><figcaption>{label}</figcaption>"
            f'<svg role="img" aria-label="{label}" width="{WIDTH}"'
            f' height="{LINE_HEIGHT}" viewBox="0 0 {WIDTH} {LINE_HEIGHT}">'
            f'<polyline class="line" points="{points}"/></svg></figure>'
        )


def _span(span: Span, row: int, scale: Scale) -> str:
    left, right = scale.x(span.start), scale.x(span.start + span.duration)
    width = max(right - left, 0.5)
    told = duration(span.duration) + (", end unknown" if span.incomplete else "")
    where = f"at {duration(span.start - scale.first)}"
    category = f" [{safe(span.category, 60)}]" if span.category else ""
    title = f"{safe(span.name)}{category}: {told}, {where}"
    letters = int(width / _LETTER)
    text = ""
    if letters >= 3:
        text = (
            f'<text x="{left + 2:.2f}" y="{row * ROW + 13}">'
            f"{safe(span.name, letters)}</text>"
        )
    hue = zlib.crc32(span.name.encode("utf-8", "replace")) % 360
    kind = "span" if width > 2 else "thin"
    return (
        f'<g><title>{title}</title><rect class="{kind}" x="{left}" y="{row * ROW + 1}"'
        f' width="{width:.2f}" height="{ROW - 2}"'
        f' fill="hsl({hue} 60% 80%)"/>{text}</g>'
    )


def _points(series: Series, scale: Scale, low: float, high: float) -> Iterator[str]:
    """Corners of the line; of many values in one place, the least and the greatest."""
    times, values = series.times, series.values
    if len(times) > POINTS:
        edges = np.linspace(0, len(times), POINTS // 2 + 1).astype(int)
        pairs = []
        for begin, end in pairwise(edges.tolist()):
            part = values[begin:end]
            pairs += sorted((begin + int(part.argmin()), begin + int(part.argmax())))
        kept = np.unique(pairs)
        times, values = times[kept], values[kept]
    height = LINE_HEIGHT - 6
    span = high - low or 1.0
    before = None
    for time, value in zip(times.tolist(), values.tolist(), strict=True):
        x, y = scale.x(time), round(3 + height * (1 - (value - low) / span), 2)
        if before is not None:
            yield f"{x},{before}"
        yield f"{x},{y}"
        before = y
    if before is not None:
        yield f"{WIDTH},{before}"
