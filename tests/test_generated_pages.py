"""Pages in docs/ are what the code says."""

from __future__ import annotations

from pathlib import Path

from registry.catalogues import all_codes_page
from registry.documents.columns_page import columns_page


def test_the_page_of_codes_is_generated(repository: Path) -> None:
    page = (repository / "docs" / "codes.md").read_text("utf-8")
    assert page == all_codes_page(), "run `registry codes > docs/codes.md`"


def test_the_page_of_columns_is_generated(repository: Path) -> None:
    page = (repository / "docs" / "columns.md").read_text("utf-8")
    assert page == columns_page(), "run `registry columns > docs/columns.md`"
