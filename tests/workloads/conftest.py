"""A working folder apart from the user's settings; a small model."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.workloads.networks.catalogue import architecture, read_input
from tools.workloads.networks.layers import Network, Scale
from tools.workloads.networks.onnx_files import write_network

SMALL = Scale(width=0.05, classes=10)


@pytest.fixture(autouse=True)
def apart(no_settings: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings; one thread; the current folder is new."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def small() -> Network:
    """AlexNet with few channels and ten classes, of images of 67 pixels."""
    network = architecture("alexnet")
    return network.build(read_input("67", network), SMALL)


@pytest.fixture
def model(small: Network, tmp_path: Path) -> Path:
    """The same as a file."""
    path = tmp_path / "model.onnx"
    write_network(small, path, seed=1)
    return path
