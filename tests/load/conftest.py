"""Files that tests of plans share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that is written again for every example of a property."""
    return tmp_path_factory.mktemp("scratch") / "scratch"
