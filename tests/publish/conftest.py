"""A small registry that is really built, once for all tests of a module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from registry.publish.release import build_release
from tests.publish.github_places import Place, opened
from tests.simulators.machines import Machine
from tests.simulators.registry import Simulator


def two_servers() -> Simulator:
    """Two servers of different classes, measured by load levels."""
    simulated = Simulator()
    simulated.enrol(42)
    simulated.add_levels("server-a", 42, Machine("server-a", seed=1))
    other = Machine("server-b", "Intel Xeon Gold 6130", cores=32, gib=192, seed=2)
    simulated.add_levels("server-b", 42, other)
    return simulated


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="session")
def simulated() -> Simulator:
    """The registry; tests change copies of it."""
    return two_servers()


@pytest.fixture(scope="session")
def built(simulated: Simulator, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A work tree with its release in ``release``; tests only read it."""
    root = simulated.write(tmp_path_factory.mktemp("built"))
    build_release(root, root / "release")
    return root


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A repository on a fake GitHub, to publish there."""
    with opened(tmp_path, monkeypatch) as made:
        yield made
