"""The command, as the tests of traces call it."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import pytest

from tests.simulators.commands import Done, run_command

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def powerkit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Done]:
    """Run the command in this process."""
    return functools.partial(
        run_command, "powerkit", monkeypatch=monkeypatch, capsys=capsys
    )
