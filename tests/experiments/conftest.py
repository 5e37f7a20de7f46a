"""Settings and a folder of results of a test's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.experiments.made_tables import seconds
from tests.experiments.recorded_runs import at, recorded
from tests.simulators.commands import Done
from tools.experiments.record import Run


@pytest.fixture(autouse=True)
def apart(no_settings: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings of nobody; results go below ``results``, the current folder is new."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    results = tmp_path / "results"
    monkeypatch.setenv("POWERKIT_PROFILE_OUTPUT_DIRECTORY", str(results))
    return results


@pytest.fixture
def bench(powerkit: Callable[..., Done]) -> Callable[..., Done]:
    """Run `powerkit bench run` into the folder ``x`` of the machine ``host``."""

    def run(*options: object, command: tuple[str, ...] = ()) -> Done:
        place = ("--host-label", "host", "--profile-output", "x")
        after = ("--", *command) if command else ()
        return powerkit("bench", "run", *place, *options, *after)

    return run


@pytest.fixture
def folder(apart: Path) -> Path:
    """Where `bench` puts its runs."""
    return apart / "host" / "x"


@pytest.fixture
def two(tmp_path: Path) -> list[Run]:
    """Two runs after each other; the second has one more column."""
    first = recorded(tmp_path / "r", at(0, 100, 103), seconds(100, 103))
    more = [
        (now, cells | {"memory_used_bytes": "5"}) for now, cells in seconds(110, 113)
    ]
    second = at(1, 109.5, 112.5, workload="fp")
    return [first, recorded(tmp_path / "r", second, more)]
