"""The fits reach on nx12 what `benchmarks/README.md` says of them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest

from registry.modelling.blocks import time_blocks
from registry.modelling.model import LINEAR, TREES


@pytest.fixture(scope="module")
def benchmark(repository: Path) -> ModuleType:
    path = repository / "benchmarks" / "nx12.py"
    spec = importlib.util.spec_from_file_location("nx12_benchmark", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def rows(shared_data: Path, benchmark: ModuleType) -> pl.DataFrame:
    frame: pl.DataFrame = benchmark.nx12_rows(shared_data / "nx12")
    return frame


@pytest.mark.parametrize(
    ("trainer", "target", "watts", "per_cent", "worst"),
    [
        (LINEAR, "platform_power", 15.1, 5.6, 20.0),
        (LINEAR, "package_power", 9.3, 9.6, 11.4),
        (TREES, "platform_power", 11.0, 4.3, 16.0),
        (TREES, "package_power", 6.5, 7.7, 9.0),
    ],
)
def test_goals_under_contiguous_blocks(
    benchmark: ModuleType,
    rows: pl.DataFrame,
    trainer: str,
    target: str,
    watts: float,
    per_cent: float,
    worst: float,
) -> None:
    table = benchmark.table_of(rows, benchmark.GROUPS["CounterOnly"], target)
    found = benchmark.errors(table, trainer, time_blocks(len(table)))
    assert found[0] <= watts
    assert found[1] <= per_cent
    assert found[2] <= worst


def test_each_cell_stands_beside_the_peer_s(
    benchmark: ModuleType, rows: pl.DataFrame, shared_data: Path
) -> None:
    peer = pl.read_csv(shared_data / "nx12" / "bench_peer.csv")
    line = benchmark.line(rows, peer, "platform_power", "BPFOnly", LINEAR)
    assert line.startswith("| platform | BPFOnly | SGDRegressorTrainer | ")
    assert "33.53 / 13.82 (SGDRegressor)" in line
