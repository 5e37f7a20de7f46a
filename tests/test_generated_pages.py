"""Pages in docs/ are what the code says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from registry.catalogues import all_codes_page


@pytest.mark.parametrize("page", ["codes", "columns"])
def test_a_page_is_what_the_command_prints(page: str, repository: Path) -> None:
    """In a process of its own: tests declare codes that no user meets."""
    printed = subprocess.run(
        [sys.executable, "-m", "registry", page],
        cwd=repository,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    committed = (repository / "docs" / f"{page}.md").read_text("utf-8")
    assert committed == printed, f"run `registry {page} > docs/{page}.md`"


def test_the_catalogue_holds_codes_of_every_package() -> None:
    page = all_codes_page()
    for code in (
        "T001",
        "J001",
        "M001",
        "S001",
        "E001",
        "G001",
        "R010",
        "L001",
        "U001",
    ):
        assert f"| `{code}` |" in page
