"""One release for all conformance tests, and clients that loaded it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conformance.estimator import Estimator
from tests.conformance.model_server import ModelServer
from tests.simulators.releases import make_release


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release folder; tests only read it."""
    out = tmp_path_factory.mktemp("conformance") / "release"
    make_release(out)
    return out


@pytest.fixture
def estimate(release: Path, tmp_path: Path) -> Callable[[str], Estimator]:
    """Load a model zip of the release by its path."""

    def load(path: str) -> Estimator:
        return Estimator(release / path, tmp_path / path.replace("/", "_"))

    return load


@pytest.fixture
def model_server(release: Path, tmp_path: Path) -> ModelServer:
    """A model server that loaded the release's standard pipeline."""
    return ModelServer(release / "std_v0.7.11.zip", tmp_path)
