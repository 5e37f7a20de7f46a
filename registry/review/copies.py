"""Whether a bundle is a copy of another with all values scaled, moved or shuffled.

The gate compares digests of tables and of rows, which any small change of every value
escapes. Here the sorted values of power are compared: if those of one bundle are a
constant times those of another plus a constant, one was made from the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from registry.review.page import Code, Paragraph, Section, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.modelling.table import Floats
    from registry.review.page import Cell
    from registry.review.servers import Server

__all__ = ["Match", "copies_section", "match"]

LARGEST: Final = 0.0005
MOST: Final = 0.0002
"""Largest deviation of a copy, over all values and over the closest four fifths, as a
share of the range of power. Of the 166,176 pairs of SPEC's 577 published results, none
is below the first; one is below the second, and its two results share ten of eleven
levels to the watt."""
_KEPT: Final = 0.8
_FEWEST: Final = 8
_SHOWN: Final = 3
_QUANTILES: Final = 101
_TRIMS: Final = 3


@dataclass(frozen=True, slots=True)
class Match:
    """How well the power of one bundle follows that of another.

    Attributes:
        dataset: the other bundle.
        class_key: its class.
        contributor: who measured it.
        scale: what its watts are multiplied by.
        offset: what is added to them then, in W.
        largest: largest deviation, as a share of the range of power.
        most: the same over the closest four fifths of the values.
    """

    dataset: str
    class_key: str
    contributor: int
    scale: float
    offset: float
    largest: float
    most: float

    @property
    def copied(self) -> bool:
        """Whether two measurements never agree so well."""
        return self.largest <= LARGEST or self.most <= MOST


def match(own: Server, other: Server) -> Match | None:
    """Compare the sorted powers of two bundles.

    Returns:
        How one follows from the other; None if there are too few values, or the
        numbers of values are too different.
    """
    mine, theirs = _paired(own, other)
    if mine is None or theirs is None:
        return None
    span = float(mine[-1] - mine[0])
    if span <= 0 or float(theirs[-1] - theirs[0]) <= 0:
        return None
    kept = np.arange(len(mine))
    scale, offset = 1.0, 0.0
    apart = np.zeros(len(mine))
    largest = float("inf")
    for _ in range(_TRIMS):
        scale, offset = _line(theirs[kept], mine[kept])
        apart = np.abs(mine - scale * theirs - offset)
        largest = min(largest, float(apart.max()))
        closest = np.argsort(apart, kind="stable")
        kept = np.sort(closest[: int(np.ceil(_KEPT * len(mine)))])
    return Match(
        other.dataset,
        other.class_key,
        other.contributor,
        scale,
        offset,
        largest / span,
        float(apart[kept].max()) / span,
    )


def copies_section(own: Server, servers: Sequence[Server]) -> Section:
    """Look for copies among all merged bundles.

    Args:
        own: the proposed bundle.
        servers: the merged bundles, an earlier version of this one left out.
    """
    title = "Copies"
    found = [one for server in servers if (one := match(own, server)) is not None]
    found.sort(key=lambda one: (not one.copied, one.most, one.dataset))
    copied = [one for one in found if one.copied]
    notes = tuple(_note(one) for one in copied[:_SHOWN])
    if not found:
        text = "No merged bundle has power values that could be compared."
        return Section("copies", title, (Paragraph.of(text),), {"copies": []})
    text = (
        "The gate's own check for equal tables and rows is among the findings. Here the"
        " sorted powers of each merged bundle are scaled and moved to fit this one as"
        f" well as they can. Measured servers never agree to {100 * LARGEST:.2f} % of"
        " the range of power: what does is a copy."
    )
    rows = tuple(_row(one) for one in found[: max(_SHOWN, len(copied))][:50])
    columns = (
        "bundle",
        "class",
        "contributor",
        "its watts times",
        "plus W",
        "largest deviation",
        "four fifths within",
        "verdict",
    )
    table = Table("Bundles that this one follows most closely", columns, rows)
    facts: dict[str, Any] = {
        "copies": [one.dataset for one in copied],
        "closest": [
            {
                "dataset": one.dataset,
                "scale": float(f"{one.scale:.5g}"),
                "offset": float(f"{one.offset:.3f}"),
                "largest": float(f"{one.largest:.3g}"),
            }
            for one in found[:_SHOWN]
        ],
    }
    return Section("copies", title, (Paragraph.of(text), table), facts, notes)


def _paired(own: Server, other: Server) -> tuple[Floats | None, Floats | None]:
    """Bring two sorted lists of values to the same length."""
    mine, theirs = own.values, other.values
    if min(len(mine), len(theirs)) < _FEWEST:
        return None, None
    if own.rows == other.rows:
        return mine, theirs
    if not 0.5 <= own.rows / other.rows <= 2 or min(own.rows, other.rows) < _QUANTILES:
        return None, None
    at = np.linspace(0, 1, _QUANTILES)
    return _quantiles(mine, at), _quantiles(theirs, at)


def _quantiles(values: Floats, at: Floats) -> Floats:
    places = at * (len(values) - 1)
    return np.asarray(np.interp(places, np.arange(len(values)), values))


def _line(x: Floats, y: Floats) -> tuple[float, float]:
    """Fit y = scale · x + offset by least squares, in a fixed order of sums."""
    middle, height = float(x.mean()), float(y.mean())
    spread = float(((x - middle) ** 2).sum())
    if spread <= 0:
        return 1.0, height - middle
    scale = float(((x - middle) * (y - height)).sum()) / spread
    return scale, height - scale * middle


def _row(one: Match) -> tuple[Cell, ...]:
    return (
        Code(one.dataset),
        Code(one.class_key),
        Code(str(one.contributor)),
        f"{one.scale:.4f}",
        f"{one.offset:.3f}",
        _share(one.largest),
        _share(one.most),
        "NEAR COPY" if one.copied else "no copy",
    )


def _note(one: Match) -> tuple[Cell, ...]:
    how = f" times {one.scale:.4f} plus {one.offset:.3f} W"
    off = f", to {_share(one.most)} of the range: it is a near copy."
    return "Its power is that of ", Code(one.dataset), how, off


def _share(value: float) -> str:
    return f"{100 * value:.3f} %"
