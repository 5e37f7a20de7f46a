"""The command in this process, apart from the user's settings; a small model."""

from __future__ import annotations

import functools
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import typer

from tests.simulators.commands import Done, run_command
from tools.workloads.networks.catalogue import architecture, read_input
from tools.workloads.networks.layers import Network, Scale
from tools.workloads.networks.onnx_files import write_network

SMALL = Scale(width=0.05, classes=10)


@pytest.fixture(scope="session", autouse=True)
def built_once() -> Iterator[None]:
    """Keep the commands that typer builds, which takes most of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            typer.main, "get_command", functools.cache(typer.main.get_command)
        )
        yield


@pytest.fixture(autouse=True)
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings; one thread; the current folder is new."""
    for name in [one for one in os.environ if one.startswith("POWERKIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def powerkit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Callable[..., Done]]:
    """Run the command in this process; its handlers of signals are undone."""
    kept = {one: signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGHUP)}
    yield functools.partial(
        run_command, "powerkit", monkeypatch=monkeypatch, capsys=capsys
    )
    for one, handler in kept.items():
        signal.signal(one, handler)


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
