"""Settings and a folder of results of a test's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.simulators.commands import Done


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
