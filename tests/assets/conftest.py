"""Settings of nobody, a web server, and sources that are not slow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.simulators.file_server import FileServer


@pytest.fixture(autouse=True)
def apart(no_settings: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of nobody, and a machine and a user whose names are known."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr("socket.gethostname", lambda: "rack7.example.org")
    monkeypatch.setattr("getpass.getuser", lambda: "carol")


@pytest.fixture
def web() -> Iterator[FileServer]:
    """A web server without files."""
    with FileServer() as server:
        yield server


@pytest.fixture
def store() -> Iterator[str]:
    """The URL of an empty store in memory."""
    import fsspec

    memory = fsspec.filesystem("memory")
    yield "memory://bucket"
    memory.store.clear()
    memory.pseudo_dirs[:] = [""]


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.json.gz"
    path.write_bytes(b"a trace")
    return path


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run folder of an experiment."""
    folder = tmp_path / "runs" / "r-1"
    (folder / "logs").mkdir(parents=True)
    (folder / "run.json").write_bytes(b"{}")
    (folder / "logs" / "stdout").write_bytes(b"hello\n")
    (folder / "empty").touch()
    return folder
