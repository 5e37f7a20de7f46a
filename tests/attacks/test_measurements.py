"""Rows B12, B13, B14, S12 and W14: what data say, and who judges them.

Bundles are signed as they are and go through the whole gate; only their content is bad.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from registry.documents.strict_csv import read_table, write_table
from registry.gate.expectations import suites
from tests.simulators.gate import found, verified
from tests.simulators.machines import Machine
from tests.simulators.registry import Simulator

WALL = pl.col("wall_watts")
PACKAGE = "rapl_package_0_joules_total"
STEP = pl.int_range(pl.len()).cast(float)
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def merged() -> Simulator:
    """A load-levels and a timeseries bundle of one person."""
    simulated = Simulator()
    simulated.enrol(42)
    simulated.enrol(43)
    simulated.add_levels("levels-a", 42)
    simulated.add_samples("series-a", 42)
    return simulated


def edited(
    simulated: Simulator,
    dataset: str,
    table: str,
    change: Callable[[pl.DataFrame], pl.DataFrame],
) -> Simulator:
    """A copy in which a table was changed and the bundle signed again."""
    copy = simulated.copy()
    path = f"datasets/{dataset}/{table}.csv"
    frame = change(read_table(copy.files[path], path, table))
    copy.files[path] = write_table(frame, table)
    copy.reseal(dataset)
    return copy


def resubmitted(
    simulated: Simulator, change: Callable[[pl.DataFrame], pl.DataFrame]
) -> Simulator:
    """A copy in which 43 hands in the recording of 42 as a new dataset."""
    copy = simulated.copy()
    plan, old = (
        copy.files[f"datasets/series-a/{name}.csv"] for name in ("runs", "samples")
    )
    samples = change(read_table(old, "samples.csv", "samples"))
    copy.add_bundle(
        "series-b",
        43,
        Machine("series-b"),
        {
            "runs.csv": plan,
            "samples.csv": write_table(samples, "samples"),
        },
        profile="timeseries",
        workloads=copy.manifest("series-a")["workloads"],
    )
    return copy


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda frame: frame, "D001"),
        (lambda frame: frame.with_columns(pl.col("time_seconds") + 100), "D002"),
        (
            lambda frame: pl.concat([frame.tail(500), frame.head(500)]).with_columns(
                time_seconds=STEP
            ),
            "D003",
        ),
        (
            lambda frame: frame.with_columns(
                wall_watts=pl.when(STEP % 9 == 0).then(WALL + 1).otherwise(WALL)
            ),
            "D003",
        ),
    ],
    ids=["again", "at other times", "half of it, moved about", "a row of nine changed"],
)
def test_b12_the_same_measurement_under_another_name(
    merged: Simulator, change: Callable[[pl.DataFrame], pl.DataFrame], code: str
) -> None:
    copies = [
        (one.code, one.path)
        for one in verified(resubmitted(merged, change)).findings
        if one.code.startswith("D")
    ]
    assert copies == [(code, "datasets/series-b/samples.csv")]


POISONED: dict[str, tuple[pl.Expr, set[str]]] = {
    "a flat line": ((320 + 0.1 * (STEP % 3)).alias("wall_watts"), {"E022"}),
    "a constant": (pl.lit(320.0).alias("wall_watts"), {"E022"}),
    "scaled by 2": (WALL * 2.2, {"E034"}),
    "scaled by a half": (WALL / 2, {"E033", "E034"}),
    "scaled by 10": (WALL * 10, {"E034"}),
    "idle above busy": ((600 - WALL).alias("wall_watts"), {"E022", "E023", "E024"}),
    "the rows of another time": (WALL.reverse(), {"E048"}),
    "made by a formula": (
        (200 + 150 * pl.col(PACKAGE).sin()).alias("wall_watts"),
        {"E048"},
    ),
    "packages of a smaller machine": (
        (pl.col("rapl_package_0_joules_total") / 3).alias(
            "rapl_package_0_joules_total"
        ),
        {"E026"},
    ),
    "an energy counter that falls": (
        (200_000 - STEP * 50).alias("rapl_dram_0_joules_total"),
        {"E026"},
    ),
    "more than supplies give": (WALL + 2600, {"E019"}),
}


@pytest.mark.parametrize("name", POISONED)
def test_b13_lies_about_power_are_refused(name: str, merged: Simulator) -> None:
    expression, codes = POISONED[name]
    bad = edited(
        merged, "series-a", "samples", lambda frame: frame.with_columns(expression)
    )
    report = verified(bad, expectations=True, only=["series-a"])
    assert codes <= {code for code, _ in found(report)}
    assert report.refused


@pytest.mark.parametrize(
    ("expression", "codes"),
    [
        (pl.lit(200.0).alias("wall_watts"), {"E022"}),
        (200 + 0.1 * STEP.alias("wall_watts"), {"E022", "E023"}),
        (700 - WALL, {"E023", "E024", "E025"}),
        (WALL.shuffle(seed=1), {"E025"}),
        (WALL * 100, {"E017", "E019"}),
    ],
    ids=["constant", "flat", "idle above busy", "mixed up", "unit"],
)
def test_b13_lies_about_levels_are_refused(
    merged: Simulator, expression: pl.Expr, codes: set[str]
) -> None:
    bad = edited(
        merged,
        "levels-a",
        "levels",
        lambda frame: frame.with_columns(expression.alias("wall_watts")),
    )
    report = verified(bad, expectations=True, only=["levels-a"])
    assert codes <= {code for code, _ in found(report)}


@pytest.mark.parametrize(
    ("dataset", "code"),
    [
        ("ip-10-0-0-12", "P001"),
        ("host-00-1a-2b-3c-4d-5e", "P002"),
        ("123e4567-e89b-12d3-a456-426614174000", "P004"),
        ("czj8390k2m", "P005"),
        ("db7.prod.example.com", "P006"),
        ("web-7d9c8b5f6d-x2k9p", "P008"),
    ],
)
def test_b14_a_name_in_a_name_is_refused(dataset: str, code: str) -> None:
    simulated = Simulator()
    simulated.enrol(42)
    simulated.add_levels(dataset, 42, Machine("server-a"))
    assert found(verified(simulated)) == [(code, f"datasets/{dataset}/manifest.json")]


@pytest.mark.parametrize(
    ("model", "code"),
    [
        ("R740 S/N ABC1234567", "P005"),
        ("R740 MXQ84301QF", "P005"),
        ("R740 10.1.2.3", "P001"),
        ("rack4.example.org", "P006"),
        ("R740 00-1A-2B-3C-4D-5E", "P002"),
    ],
)
def test_b14_a_name_in_a_spec_is_refused(model: str, code: str) -> None:
    simulated = Simulator()
    simulated.enrol(42)
    machine = Machine("server-a").spec()
    machine["system"] = {"vendor": "Example", "model": model, "form_factor": "rack-2u"}
    simulated.add_levels("server-a", 42)
    simulated.add_spec(machine)
    simulated.reseal("server-a")
    assert found(verified(simulated)) == [(code, "specs/server-a.yaml")]


@pytest.mark.parametrize(
    ("fields", "codes"),
    [
        ({"cores": 16, "threads_per_core": 1}, {"X001", "X011"}),
        ({"sockets": {"populated": 1}}, {"X003"}),
        ({"frequency": {"max_hertz": 2_000_000_000}}, {"X002"}),
    ],
    ids=["fewer cores", "a socket less", "a slower processor"],
)
def test_s12_the_spec_of_another_machine(
    merged: Simulator, fields: dict[str, object], codes: set[str]
) -> None:
    swapped = merged.copy()
    machine = Machine("series-a").spec()
    cpu = machine["cpu"]
    assert isinstance(cpu, dict)
    swapped.add_spec(machine | {"cpu": cpu | fields})
    swapped.reseal("series-a")
    report = verified(swapped, only=["series-a"])
    assert codes <= {code for code, _ in found(report)}


def test_s12_memory_of_another_machine(merged: Simulator) -> None:
    used = pl.lit(2.0**40).alias("memory_used_bytes")
    bad = edited(merged, "series-a", "samples", lambda frame: frame.with_columns(used))
    report = verified(bad, only=["series-a"])
    assert ("X005", "datasets/series-a/samples.csv") in found(report)


def test_w14_suites_of_a_candidate_are_not_read(
    merged: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Suites and a project of the library lie in the candidate and where we stand."""
    empty = b"name: load-levels\nexpectations: []\n"
    candidate = merged.copy()
    for folder in ("registry/gate/expectations/suites", "gx"):
        candidate.files[f"{folder}/load-levels.yaml"] = empty
        candidate.files[f"{folder}/great_expectations.yml"] = b"config_version: 4.0\n"
    bad = edited(
        candidate,
        "levels-a",
        "levels",
        lambda frame: frame.with_columns(wall_watts=pl.lit(200.0)),
    )
    bad.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    suites.suite.cache_clear()
    codes = {code for code, _ in found(verified(bad, expectations=True))}
    assert "E022" in codes


OFFLINE = """
import os, sys

def refuse(event, arguments):
    if event.startswith(("socket.connect", "socket.getaddrinfo", "socket.sendto")):
        raise SystemExit(f"{event} {arguments}")
    if event == "open" and str(arguments[0]).endswith((".html", ".ipynb")):
        raise SystemExit(f"stored page {arguments[0]}")

sys.addaudithook(refuse)
os.environ["GX_ANALYTICS_ENABLED"] = "true"
from registry.gate.expectations import expect
from tests.simulators.bundles import levels_bundle, samples_bundle
assert expect(levels_bundle())[0] == ()
assert expect(samples_bundle())[0] == ()
assert os.environ["GX_ANALYTICS_ENABLED"] == "false"
print("judged", len(os.listdir()))
"""


def test_w14_nothing_is_sent_and_nothing_is_stored(tmp_path: Path) -> None:
    """Even where the user's own settings ask for telemetry."""
    environment = {
        "PYTHONPATH": str(ROOT),
        "HOME": str(tmp_path),
        "PATH": os.environ.get("PATH", ""),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE],
        cwd=tmp_path,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    assert (done.stdout.split(), done.stderr) == (["judged", "0"], "")
    assert done.returncode == 0
