"""Drafts of imagined bundles, for tests of what the kit does with them."""

from __future__ import annotations

import io
from typing import Any

import polars as pl

from registry.documents.manifest import Days
from registry.documents.spec import HardwareSpec
from tests.simulators.machines import Machine, level_tables
from tools.bundles.draft import Draft

__all__ = ["draft"]


def draft(name: str = "server-a", contributor: int = 42, **changes: Any) -> Draft:
    """A load-levels bundle of an imagined server.

    Args:
        name: of dataset and machine.
        contributor: who will sign it.
        changes: fields of the draft that differ.
    """
    machine = Machine(name, seed=sum(name.encode()))
    tables = {
        path.removesuffix(".csv"): pl.read_csv(io.BytesIO(data))
        for path, data in level_tables(machine).items()
    }
    usual: dict[str, Any] = {
        "dataset": name,
        "contributor": contributor,
        "spec": HardwareSpec.model_validate(machine.spec()),
        "tables": tables,
        "measured": Days.model_validate({"from": "2026-03-01", "to": "2026-03-02"}),
    }
    return Draft(**usual | changes)
