"""Fixtures that every part of the test suite shares."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Speed is asserted in benchmarks/, not here: a busy machine must not fail a test.
settings.register_profile(
    "project", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("project")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of this checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of published measurements, named by POWER_DATA or found beside us."""
    folder = Path(os.environ.get("POWER_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"published measurements are not at {folder} (set POWER_DATA)")
    return folder


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout that tests copy, since making one takes several commands."""
    from tests.simulators.registry import small

    root = tmp_path_factory.mktemp("template") / "checkout"
    small().commit(root)
    shutil.rmtree(root / ".git" / "hooks", ignore_errors=True)
    return root


@pytest.fixture
def checkout(template: Path, tmp_path: Path) -> Path:
    """A git checkout of a small registry on its branch main."""
    return Path(shutil.copytree(template, tmp_path / "registry-checkout"))
