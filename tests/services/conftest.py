"""The command in the process of a test, with settings and a state file of its own."""

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
    """Run the command in this process; its handlers of signals are undone."""
    kept = {one: signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGHUP)}
    yield functools.partial(
        run_command, "powerkit", monkeypatch=monkeypatch, capsys=capsys
    )
    for one, handler in kept.items():
        signal.signal(one, handler)


@pytest.fixture(autouse=True)
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings of nobody, and a state file of the test's own."""
    for name in [one for one in os.environ if one.startswith("POWERKIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("POWERKIT_POLLING_INTERVAL_MS", "20")
    state = tmp_path / "state" / "service.json"
    monkeypatch.setenv("POWERKIT_SERVICE_STATE_FILE", str(state))
    return state
