"""Settings and a state file of a test's own."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def apart(no_settings: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings of nobody, and a state file of the test's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("POWERKIT_POLLING_INTERVAL_MS", "20")
    state = tmp_path / "state" / "service.json"
    monkeypatch.setenv("POWERKIT_SERVICE_STATE_FILE", str(state))
    return state
