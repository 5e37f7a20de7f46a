"""Names and paths."""

from __future__ import annotations

import pytest

from registry.documents.names import is_name, path_problem


@pytest.mark.parametrize("name", ["a", "r740-6248r.2", "0", "a" * 64, "console"])
def test_good_names(name: str) -> None:
    assert is_name(name)
    assert path_problem(f"datasets/{name}/manifest.json") is None


@pytest.mark.parametrize(
    "name", ["", ".", "..", ".git", "A", "a b", "a.", "con", "a\n"]
)
def test_bad_names(name: str) -> None:
    assert not is_name(name)
    assert path_problem(f"datasets/{name}") is not None


def test_depth() -> None:
    assert path_problem("a/b/c/d") is None
    assert "4 segments" in str(path_problem("a/b/c/d/e"))
