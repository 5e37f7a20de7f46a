"""The rows that one component of one model is fitted to, as arrays."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

FIT_ROWS: Final = 20_000
"""A fit sees at most so many rows; more are thinned evenly, which costs no accuracy."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Features, watts and the groups that can be held out; n rows in one fixed order.

    Attributes:
        names: Feature names, sorted.
        values: Kepler features per second, shape (n, len(names)); a column of NaN
            was not observed.
        watts: Power of one node in W, shape (n,).
        weight: Weight of each row, shape (n,); the rows of a server add up to the
            same weight as those of any other server.
        load: Share of all logical CPUs in use, 0 to 1, NaN where unknown, shape (n,).
        machine: Number of the server of each row, shape (n,).
        workload: Number of the workload of each row, shape (n,).
        block: Number of the contiguous block of each row, shape (n,): of time for a
            recording, of load for load levels.
        recorded: Whether rows follow each other in time (a recording).
        intercept: Whether power at zero activity may be above zero (AbsPower).
    """

    names: tuple[str, ...]
    values: Floats
    watts: Floats
    weight: Floats
    load: Floats
    machine: Codes
    workload: Codes
    block: Codes
    recorded: bool
    intercept: bool

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.watts)

    def take(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Table:
        """Keep some rows, in the order given."""
        arrays: dict[str, Any] = {
            item.name: value[rows]
            for item in fields(self)
            if isinstance(value := getattr(self, item.name), np.ndarray)
        }
        return replace(self, **arrays)

    def observed(self) -> tuple[str, ...]:
        """Name the features that every row has and that are not always 0."""
        return tuple(
            name
            for name, column in zip(self.names, self.values.T, strict=True)
            if len(column) and not np.isnan(column).any() and column.max() > 0
        )

    def columns(self) -> dict[str, Floats]:
        """Give each feature, and ``load_ratio``, as an array of shape (n,)."""
        named = dict(zip(self.names, self.values.T, strict=True))
        return {**named, "load_ratio": self.load}


def evenly(rows: int, limit: int) -> NDArray[np.int64]:
    """Choose at most ``limit`` of ``rows`` row numbers, evenly spread, without chance.

    Returns:
        Row numbers, rising, shape (min(rows, limit),).
    """
    if rows <= limit:
        return np.arange(rows, dtype=np.int64)
    return (np.arange(limit, dtype=np.int64) * rows) // limit


def thinned(table: Table, limit: int = FIT_ROWS) -> Table:
    """Keep at most ``limit`` rows of a table, evenly spread."""
    return table if len(table) <= limit else table.take(evenly(len(table), limit))


def significant(value: float, digits: int = 6) -> float:
    """Round to significant digits, so that another CPU's last bits do not show."""
    rounded = float(f"{value:.{digits - 1}e}")
    return rounded or 0.0
