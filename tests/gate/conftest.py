"""GitHub with a small registry, where alice proposes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.simulators.commands import served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.simulators.github import FakeGitHub


@pytest.fixture
def hub(tmp_path: Path, checkout: Path) -> Iterator[FakeGitHub]:
    """GitHub with the checkout's main branch."""
    with served(tmp_path / "hub", checkout, {"alice": (4242, [])}) as fake:
        yield fake
