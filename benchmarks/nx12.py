"""Measure our published fits on nx12, beside Kepler's own trainers on the same splits.

    python benchmarks/nx12.py [--data DIR]

The fits, their candidates and the way they are chosen are those of `registry build`;
nothing is set here but the splits. P1 holds out five contiguous blocks of time, P2
whole bursts of load (run mod 5), as in the peer's numbers (bench_peer.csv).
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from registry.modelling.blocks import time_blocks
from registry.modelling.evaluate import choose
from registry.modelling.fits.trainers import FITS
from registry.modelling.model import LINEAR, TREES
from registry.modelling.table import Codes, Floats, Table

GROUPS: Final = {
    "BPFOnly": ("bpf_cpu_time_ms",),
    "CounterOnly": ("cache_miss", "cpu_cycles", "cpu_instructions"),
    "Basic": ("bpf_cpu_time_ms", "cache_miss", "cpu_cycles", "cpu_instructions"),
}
TARGETS: Final = ("platform_power", "package_power")
# Last burst of each stressor in turn: cpu, branch, regs, l1cache, cache, stream, vm-rw.
STRESSORS: Final = (21, 39, 57, 75, 93, 111, 126)
PEER_FORM: Final = {
    LINEAR: ("SGDRegressor", "LinearRegression"),
    TREES: ("GradientBoostingRegressor", "XgboostFit"),
}
PROTOCOLS: Final = {"P1": "P1_contig5", "P2": "P2_run5"}


def main() -> None:
    """Print one Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    here = Path(__file__).resolve().parent.parent
    fallback = os.environ.get("POWER_DATA", str(here.parent / "shared" / "data"))
    parser.add_argument("--data", type=Path, default=Path(fallback))
    folder = parser.parse_args().data / "nx12"
    rows = nx12_rows(folder)
    peer = pl.read_csv(folder / "bench_peer.csv")
    print(
        "| target | group | our fit | P1 W / % | P1 worst block W | P2 W / % ", end=""
    )
    print("| peer, same form: P1 | P2 | s a fit with its choice |")
    print("|---|---|---|---|---|---|---|---|---|")
    for target in TARGETS:
        for group in GROUPS:
            for trainer in (LINEAR, TREES):
                print(line(rows, peer, target, group, trainer), flush=True)


def nx12_rows(folder: Path) -> pl.DataFrame:
    """Read the rows of nx12; what Kepler 0.6 calls microseconds are milliseconds."""
    rows = pl.read_csv(folder / "nx12_abs_joined.csv")
    return rows.rename({"bpf_cpu_time_us": "bpf_cpu_time_ms"})


def line(
    rows: pl.DataFrame, peer: pl.DataFrame, target: str, group: str, trainer: str
) -> str:
    """Measure one model under both protocols and write its row of the table."""
    table = table_of(rows, GROUPS[group], target)
    started = time.process_time()
    first = errors(table, trainer, time_blocks(len(table)))
    second = errors(table, trainer, rows["run"].to_numpy() % 5)
    seconds = (time.process_time() - started) / 10
    others = [best_peer(peer, target, group, trainer, name) for name in PROTOCOLS]
    cells = (
        target.removesuffix("_power"),
        group,
        trainer,
        f"{first[0]:.2f} / {first[1]:.2f}",
        f"{first[2]:.2f}",
        f"{second[0]:.2f} / {second[1]:.2f}",
        *others,
        f"{seconds:.2f}",
    )
    return f"| {' | '.join(cells)} |"


def errors(table: Table, trainer: str, fold: Codes) -> tuple[float, float, float]:
    """Give the pooled MAE in W, the MAPE in % and the MAE of the worst fold in W."""
    guess = np.empty(len(table))
    for number in np.unique(fold):
        train = table.take(fold != number)
        choice = choose(train, trainer)
        test = table.take(fold == number)
        guess[fold == number] = FITS[trainer].guess(train, choice, test)
    miss: Floats = np.abs(guess - table.watts)
    worst = max(float(miss[fold == number].mean()) for number in np.unique(fold))
    return float(miss.mean()), float(100 * (miss / table.watts).mean()), worst


def best_peer(
    peer: pl.DataFrame, target: str, group: str, trainer: str, protocol: str
) -> str:
    """Find the better of the peer's two fits of the same form, under a protocol."""
    rows = peer.filter(
        (pl.col("target") == target)
        & (pl.col("fg") == group)
        & (pl.col("proto") == PROTOCOLS[protocol])
    )
    found: Iterator[tuple[float, float, str]] = (
        (row["mae"], row["mape"], row["trainer"])
        for row in rows.iter_rows(named=True)
        if row["trainer"].startswith(PEER_FORM[trainer])
    )
    mae, mape, name = min(found)
    return f"{mae:.2f} / {mape:.2f} ({name})"


def table_of(rows: pl.DataFrame, features: tuple[str, ...], target: str) -> Table:
    """Put the rows of nx12 into the form that the build fits."""
    count = len(rows)
    busy = rows["bpf_cpu_time_ms"].to_numpy().astype(np.float64)
    return Table(
        names=features,
        values=rows.select(features).to_numpy().astype(np.float64),
        watts=rows[target].to_numpy().astype(np.float64),
        weight=np.ones(count),
        load=busy / 32_000,
        machine=np.zeros(count, dtype=np.int64),
        workload=np.searchsorted(STRESSORS, rows["run"].to_numpy()).astype(np.int64),
        block=time_blocks(count),
        recorded=True,
        intercept=True,
    )


if __name__ == "__main__":
    main()
