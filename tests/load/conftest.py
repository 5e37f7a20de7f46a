"""The command in this process, and plans that are made quickly."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import pytest

from tests.simulators.commands import Done, run_command

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def powerkit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Done]:
    """Run the command in this process."""
    return functools.partial(
        run_command, "powerkit", monkeypatch=monkeypatch, capsys=capsys
    )


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that is written again for every example of a property."""
    return tmp_path_factory.mktemp("scratch") / "scratch"
