"""Tables of runs that a test made up, and what is told of them."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

import pytest

from registry.documents.findings import RegistryError
from tools.experiments.record import Run
from tools.experiments.tables import Tables, Wanted, make_tables
from tools.experiments.tables_labels import Labels

ENERGY = "rapl_package_0_joules_total"
WATTS = "wall_watts"


def seconds(begin: int, end: int, watts: float = 100.0) -> list[Any]:
    """A row a second of energy and watts."""
    return [
        (now, {ENERGY: f"{50_000 + watts * now:.6f}", WATTS: f"{watts + now % 7:.3f}"})
        for now in range(begin, end + 1)
    ]


def wanted(said: dict[str, str] | None = None, **changes: Any) -> Wanted:
    return Wanted(Labels(said or {}), **changes)


def codes(made: Tables) -> dict[str, str]:
    """What is told, the last of each code."""
    return {one.code: f"{one.path}: {one.what}" for one in made.findings}


def refused(runs: Sequence[Run], **changes: Any) -> str:
    with pytest.raises(RegistryError) as caught:
        make_tables(runs, wanted(**changes))
    return "\n".join(f"{one.code} {one.what}" for one in caught.value.findings)


def rows(made: Tables, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(made.data[name].decode())))
