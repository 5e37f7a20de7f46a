"""The command in the process of a test, in the home of nobody."""

from __future__ import annotations

import functools
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.simulators.commands import Done, run_command


@pytest.fixture
def powerkit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Callable[..., Done]]:
    """Run the command in this process; its handler of signals is undone."""
    kept = signal.getsignal(signal.SIGTERM)
    yield functools.partial(
        run_command, "powerkit", monkeypatch=monkeypatch, capsys=capsys
    )
    signal.signal(signal.SIGTERM, kept)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, and settings of nobody; home is /home/someone."""
    for name in [one for one in os.environ if one.startswith("POWERKIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("UPR_BASE_DIR", raising=False)
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.chdir(tmp_path)
    return tmp_path
