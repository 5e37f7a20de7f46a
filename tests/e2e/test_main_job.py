"""The README's first command, on the bundles of this repository, as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

LOADS = (0, 50, 100)


def run(*arguments: str, cwd: Path, **environment: str) -> str:
    """Run the registry command and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "registry", *arguments],
        cwd=cwd,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def channel(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build and publish the repository's own bundles."""
    folder = tmp_path_factory.mktemp("main-job")
    out = str(folder / "release")
    run("build", "--out", out, "--jobs", "2", cwd=repository)
    run("publish", out, "--to", f"dir:{folder / 'channel'}", cwd=repository)
    return folder / "channel"


def datasets(repository: Path) -> list[Path]:
    """The folders of all bundles."""
    return sorted(path.parent for path in repository.glob("datasets/*/manifest.json"))


def measured(bundle: Path, nodes: int) -> dict[int, float]:
    """Published watts of one node at idle, 50 and 100 % of the benchmark's load."""
    runs = pl.read_csv(bundle / "runs.csv").join(
        pl.read_csv(bundle / "levels.csv"), on="run"
    )
    (column,) = [name for name in runs.columns if name.endswith("_watts")]
    return {
        round(row["load_target_ratio"] * 100): row[column] / nodes
        for row in runs.iter_rows(named=True)
        if round(row["load_target_ratio"] * 100) in LOADS
    }


def test_the_repository_holds_forty_bundles_of_many_makers(repository: Path) -> None:
    assert len(datasets(repository)) >= 40


def test_predictions_lie_within_the_reported_error(
    repository: Path, channel: Path, tmp_path: Path
) -> None:
    """Watts at 0, 50 and 100 % load, for every bundle's server."""
    from registry.client import as_json, fetch
    from registry.documents.spec import read_spec

    outside = []
    for bundle in datasets(repository):
        manifest = json.loads((bundle / "manifest.json").read_bytes())
        path = repository / manifest["spec"]["path"]
        spec = read_spec(path.read_bytes(), manifest["spec"]["path"])
        found: Any = as_json(
            fetch(str(channel), spec=path, source="acpi", state=tmp_path / "seen.json")
        )
        (offer,) = found["offers"]
        reported = offer["error"]["p95"]
        for load, watts in measured(bundle, spec.nodes.count).items():
            said = offer["watts"][str(load)]["platform"]
            if abs(said - watts) > reported + 0.05:
                outside.append((bundle.name, load, watts, said, reported))
    assert outside == []


def test_fetch_prints_settings_for_people(repository: Path, channel: Path) -> None:
    spec = min(repository.glob("specs/ssj2008-*.yaml"))
    state = {"XDG_STATE_HOME": str(channel.parent / "state")}
    out = str(channel.parent / "kepler")
    printed = run(
        *("fetch", "--from", str(channel), "--spec", str(spec), "--out", out),
        cwd=repository,
        **state,
    )
    assert "NODE_TOTAL_LOCAL_REGRESSOR=true" in printed
    assert "W on average" in printed
    assert (channel.parent / "kepler" / "acpi_AbsPowerModel.json").is_file()


def test_anyone_can_make_the_same_bytes_again(
    repository: Path, channel: Path, tmp_path: Path
) -> None:
    """Another process, hash seed, thread count, locale and number of jobs."""
    out = str(tmp_path / "again")
    run(
        *("build", "--out", out, "--jobs", "1"),
        cwd=repository,
        PYTHONHASHSEED="7",
        OMP_NUM_THREADS="2",
        LC_ALL="tr_TR.UTF-8",
        TZ="Asia/Kathmandu",
    )
    first = {p.relative_to(channel / "latest"): p for p in files(channel / "latest")}
    again = {p.relative_to(tmp_path / "again"): p for p in files(Path(out))}
    assert first.keys() == again.keys()
    different = [
        str(name)
        for name in first
        if first[name].read_bytes() != again[name].read_bytes()
    ]
    assert different == []


def files(folder: Path) -> list[Path]:
    """All files below a folder."""
    return [path for path in folder.rglob("*") if path.is_file()]
