"""Sections b2 and b3 of kepler-clients.md: what the Python clients load and predict."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from registry.modelling.model import LINEAR, TREES, Linear, predict
from registry.publish.kepler.archives import model_zip
from tests.conformance.estimator import Estimator
from tests.simulators import models as made

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS = [
    {"bpf_cpu_time_ms": 0.0, "bpf_page_cache_hit": 0.0},
    {"bpf_cpu_time_ms": 48_000.0, "bpf_page_cache_hit": 3.0},
    {"bpf_cpu_time_ms": 96_000.0, "bpf_page_cache_hit": 90_000.0},
]


def loaded(data: bytes, folder: Path) -> Estimator:
    archive = folder / "model.zip"
    archive.write_bytes(data)
    return Estimator(archive, folder / "model")


@pytest.mark.parametrize("trainer", [LINEAR, TREES])
@pytest.mark.parametrize("source", ["acpi", "rapl-sysfs"])
def test_the_estimator_predicts_what_was_fitted(
    trainer: str, source: str, tmp_path: Path
) -> None:
    model = made.model(trainer, source)
    estimator = loaded(model_zip(model), tmp_path)
    for row in ROWS:
        expected = predict(model, row)
        assert estimator.power(row) == pytest.approx(expected, rel=1e-6)


def test_tiny_weights_of_counters_survive(tmp_path: Path) -> None:
    weights = {"cache_miss": (1e9, 3.0), "cpu_cycles": (3.1e11, 120.0)}
    part = Linear(40.0, weights | {"cpu_instructions": (4.5e11, 0.0)})
    model = made.model(part=part, features=made.COUNTERS, group="CounterOnly")
    estimator = loaded(model_zip(model), tmp_path)
    row = {"cache_miss": 5e8, "cpu_cycles": 3.1e11, "cpu_instructions": 1e11}
    assert estimator.power(row)["platform"] == pytest.approx(161.5, rel=1e-6)


def test_a_model_zip_holds_exactly_its_files_at_the_root(release: Path) -> None:
    path = release / "rapl-sysfs-AbsPower-BPFOnly-SGDRegressorTrainer_0.zip"
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == [
            "SGDRegressorTrainer_0.json",
            "dram.json",
            "metadata.json",
            "package.json",
        ]
        metadata = json.loads(archive.read("metadata.json"))
    assert set(metadata) == {
        "dram_mae",
        "dram_mape",
        "fe_files",
        "features",
        "mae",
        "mape",
        "model_class",
        "model_file",
        "model_name",
        "output_type",
        "package_mae",
        "package_mape",
    }
    assert metadata["features"] == ["bpf_cpu_time_ms", "bpf_page_cache_hit"]
    assert metadata["model_file"] == "SGDRegressorTrainer_0.json"


def test_every_zip_of_a_release_loads(
    release: Path, estimate: Callable[[str], Estimator]
) -> None:
    names = [path.name for path in release.glob("*Trainer_*.zip")]
    row = ROWS[1] | dict.fromkeys(made.COUNTERS, 1e9)
    for name in names:
        assert all(watts > 0 for watts in estimate(name).power(row).values())


def test_a_pipeline_has_its_files_at_the_root(release: Path) -> None:
    with zipfile.ZipFile(release / "std_v0.7.11.zip") as archive:
        names = archive.namelist()
    assert {name for name in names if "/" not in name} == {
        "acpi_AbsPower_model_metadata.csv",
        "metadata.json",
        "node_type_index.json",
        "rapl-sysfs_AbsPower_model_metadata.csv",
    }
    assert "acpi/AbsPower/BPFOnly/SGDRegressorTrainer_0.json" in names
    assert not any("PowerCurve" in name for name in names)


def test_all_pipelines_and_the_tree_are_the_same(release: Path) -> None:
    one = (release / "std_v0.7.11.zip").read_bytes()
    assert (release / "power-dataset-registry.zip").read_bytes() == one
    assert (release / "models/std_v0.7.11.zip").read_bytes() == one
    tree = release / "models/std_v0.7.11"
    with zipfile.ZipFile(io.BytesIO(one)) as archive:
        packed = {name: archive.read(name) for name in archive.namelist()}
    files = {
        path.relative_to(tree).as_posix(): path.read_bytes()
        for path in tree.rglob("*")
        if path.is_file()
    }
    assert packed == files


def test_flat_files_are_those_of_the_tree(release: Path) -> None:
    for path in (release / "models/std_v0.7.11").rglob("*Trainer_*"):
        parts = path.relative_to(release / "models/std_v0.7.11").parts
        assert (release / "-".join(parts)).read_bytes() == path.read_bytes()


def test_the_table_of_models_reads_as_the_server_reads_it(release: Path) -> None:
    path = release / "models/std_v0.7.11/rapl-sysfs_AbsPower_model_metadata.csv"
    rows = list(csv.DictReader(path.read_text("utf-8").splitlines()))
    assert [float(row["mae"]) for row in rows] == sorted(float(r["mae"]) for r in rows)
    assert rows[0]["feature_group"] == "BPFOnly"
    assert rows[0]["fe_files"] == "[]"
    assert float(rows[0]["dram_mape"]) > float(rows[0]["package_mape"])
    assert {row["node_type"] for row in rows} >= {"0"}
