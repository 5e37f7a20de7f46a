"""Every row of the threat model has a test, named after it: test_b1_…, test_s11_…."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
ROWS = [
    f"{letter}{number}"
    for letter, last in (("b", 14), ("s", 13), ("w", 14), ("p", 7))
    for number in range(1, last + 1)
]


@pytest.fixture(scope="module")
def tested() -> dict[str, int]:
    """How many test functions each row has."""
    count = dict.fromkeys(ROWS, 0)
    for file in TESTS.rglob("test_*.py"):
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.FunctionDef):
                row = re.match(r"test_([bswp][0-9]+)_", node.name)
                if row is not None:
                    count[row[1]] = count.get(row[1], 0) + 1
    return count


@pytest.mark.parametrize("row", ROWS)
def test_a_row_has_tests(row: str, tested: dict[str, int]) -> None:
    assert tested[row]


def test_no_test_names_a_row_that_is_none(tested: dict[str, int]) -> None:
    assert set(tested) == set(ROWS)
