"""`powerkit workload scale` as people call it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.simulators.commands import Done
from tools.workloads.networks.catalogue import ARCHITECTURES

Powerkit = Callable[..., Done]

SMALL = ("--width", 0.05, "--classes", 10)


def scaled(powerkit: Powerkit, *options: object) -> list[dict[str, Any]]:
    done = powerkit("workload", "scale", *options, "--json")
    assert (done.code, done.err) == (0, "")
    document = json.loads(done.out)
    assert document["schema"] == "workload-models/1"
    found: list[dict[str, Any]] = document["models"]
    return found


def test_a_model_with_its_manifest(powerkit: Powerkit, tmp_path: Path) -> None:
    options = ("--arch", "alexnet", "--input", "80x67", *SMALL, "-o", "out")
    (row,) = scaled(powerkit, *options)
    name = "large_alexnet_67x80_w0.05_c10"
    path = tmp_path / "out" / f"{name}_1.0" / "model.onnx"
    assert (row["model"], row["input"]) == (name, "67x80")
    assert Path(row["path"]).resolve() == path
    assert row["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert row["bytes"] == path.stat().st_size
    assert row["weight_bytes"] == 4 * row["parameters"]
    verify = ("assets", "verify", "--manifests", "out", "--directory", "out")
    assert powerkit(*verify, "--large").code == 0
    with path.open("r+b") as file:
        file.write(b"x")
    done = powerkit(*verify, "--large")
    assert done.code == 1
    assert name in done.out + done.err


def test_what_was_made_can_be_fetched(powerkit: Powerkit, tmp_path: Path) -> None:
    scaled(powerkit, "--arch", "mlp", "--input", "20", *SMALL, "-o", "out")
    options = ("--manifests", "out", "--directory", "elsewhere", "--large")
    assert powerkit("assets", "fetch", *options).code == 0
    (copy,) = (tmp_path / "elsewhere").rglob("model.onnx")
    (made,) = (tmp_path / "out").rglob("model.onnx")
    assert copy.read_bytes() == made.read_bytes()


def test_what_was_made_runs(powerkit: Powerkit) -> None:
    (row,) = scaled(powerkit, "--arch", "googlenet", "--input", "67", *SMALL)
    done = powerkit("workload", "run", f"onnx:{row['path']}", "-n", 1, "--json")
    assert json.loads(done.out)["amount"] == 1


def test_lines_for_people_are_those_of_sha256sum(powerkit: Powerkit) -> None:
    options = ("--arch", "mlp", "--input", "20", *SMALL)
    done = powerkit("workload", "scale", *options)
    first, second = done.out.splitlines()
    path = "large_mlp_20_w0.05_c10_1.0/model.onnx"
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    assert second == f"{digest}  {path}"
    assert first.startswith("large_mlp_20_w0.05_c10: ")
    assert first.endswith("large_mlp_20_w0.05_c10_1.0.yaml")


def test_nothing_is_replaced_unless_asked(powerkit: Powerkit, tmp_path: Path) -> None:
    scaled(powerkit, "--arch", "mlp", "--input", "20", *SMALL)
    both = ("--arch", "mlp", "--input", "30", "--input", "20", *SMALL)
    done = powerkit("workload", "scale", *both, "--json")
    assert done.code == 1
    findings = json.loads(done.out)["findings"]
    assert [one["code"] for one in findings] == ["W024", "W024"]
    # The other one could have been written, but all or none are.
    assert len(list(tmp_path.rglob("model.onnx"))) == 1
    assert len(scaled(powerkit, *both, "--overwrite")) == 2


def test_a_seed_has_a_name_of_its_own(powerkit: Powerkit) -> None:
    options = ("--arch", "mlp", "--input", "20", *SMALL)
    rows = [*scaled(powerkit, *options), *scaled(powerkit, *options, "--seed", 7)]
    assert [row["model"][-2:] for row in rows] == ["10", "s7"]
    assert rows[0]["sha256"] != rows[1]["sha256"]


def test_the_large_models_of_trims(powerkit: Powerkit, tmp_path: Path) -> None:
    options = ("--arch", "alexnet", "--arch", "vgg16", "--trims", "--simulate")
    rows = scaled(powerkit, *options)
    names = [row["model"] for row in rows]
    for k in range(1, 7):
        assert f"large_alexnet_{227 * k}x{227 * k}" in names
    for k in range(1, 6):
        assert f"large_vgg16_{224 * k}x{224 * k}" in names
    assert len(rows) == 11
    assert rows[0]["parameters"] == 60_965_224
    assert list(tmp_path.iterdir()) == []


def test_screens_of_trims(powerkit: Powerkit) -> None:
    rows = scaled(powerkit, "--arch", "alexnet", "--screens", "--simulate")
    assert [row["model"] for row in rows] == [
        "large_alexnet_480x640",
        "large_alexnet_600x800",
        "large_alexnet_720x960",
        "large_alexnet_768x1024",
        "large_alexnet_768x1280",
        "large_alexnet_1080x1920",
        "large_alexnet_1440x2560",
    ]


def test_networks_are_listed(powerkit: Powerkit) -> None:
    done = powerkit("workload", "scale", "--list", "--json")
    rows = json.loads(done.out)["networks"]
    assert [row["network"] for row in rows] == list(ARCHITECTURES)
    assert rows[2]["parameters"] == 138_357_544


def test_every_problem_is_named(powerkit: Powerkit, tmp_path: Path) -> None:
    words = ("--arch", "lenet", "--arch", "inception-v4", "--arch", "vgg16")
    done = powerkit(
        "workload", "scale", *words, "--input", "40", "--input", "q", "--json"
    )
    assert done.code == 1
    findings = json.loads(done.out)["findings"]
    assert sorted(one["code"] for one in findings) == ["W020", "W021", "W022", "W022"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "options", [(), ("--arch", "mlp", "--width", "0"), ("--arch", "mlp", "-f", "x")]
)
def test_usage(powerkit: Powerkit, options: tuple[str, ...]) -> None:
    assert powerkit("workload", "scale", *options).code == 2
