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


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which everything happens."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sut_of_this_test.py").write_text("def ask(item): pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path
