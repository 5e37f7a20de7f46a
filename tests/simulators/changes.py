"""Changes of a bundle, by table, for samples of what may be wrong with one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl

from registry.documents.bundle import Bundle
from tests.simulators.bundles import changed

__all__ = ["STEP", "WALL", "Change", "kept", "levels", "of_spec", "runs", "samples"]

Change = Callable[[Bundle], Bundle]
WALL = pl.col("wall_watts")
STEP = pl.int_range(pl.len()).cast(float)


def samples(*expressions: pl.Expr) -> Change:
    """Replace columns of samples.csv."""
    return lambda bundle: changed(bundle, samples=list(expressions))


def levels(*expressions: pl.Expr) -> Change:
    """Replace columns of levels.csv."""
    return lambda bundle: changed(bundle, levels=list(expressions))


def runs(*expressions: pl.Expr) -> Change:
    """Replace columns of runs.csv."""
    return lambda bundle: changed(bundle, runs=list(expressions))


def kept(table: str, predicate: pl.Expr) -> Change:
    """Keep some rows of a table."""

    def change(bundle: Bundle) -> Bundle:
        frames: dict[str, Any] = {table: bundle.tables[table].filter(predicate)}
        return changed(bundle, **frames)

    return change


def of_spec(**fields: object) -> Change:
    """Replace fields of the spec."""
    return lambda bundle: changed(bundle, spec=fields)
