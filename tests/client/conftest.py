"""Releases for the client, and a place where it may remember them."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.documents.spec import write_spec
from registry.publish import web
from tests.simulators.releases import SPEC, make_release


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release folder; tests only read it."""
    out = tmp_path_factory.mktemp("client") / "release"
    make_release(out)
    return out


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A record of seen releases that begins empty."""
    file = tmp_path / "state" / "seen.json"
    monkeypatch.setenv("REGISTRY_STATE", str(file))
    return file


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try again at once."""
    monkeypatch.setattr(web, "PAUSES", (0.0, 0.0))


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """The spec of the measured server."""
    path = tmp_path / "my-server.yaml"
    path.write_bytes(write_spec(SPEC))
    return path
