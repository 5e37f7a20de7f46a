"""Plain decimal numbers, written and read."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.documents import decimals


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.1"),
        (-0.0, "0"),
        (1e-7, "0.0000001"),
        (1e-12, "0"),
        (-1e-12, "0"),
        (123456789.123456789, "123456789.12345679"),
        (999999999999999.0, "999999999999999"),
        (2.0**59, "576460752303423488"),
        (1200.50, "1200.5"),
    ],
)
def test_plain(value: float, text: str) -> None:
    assert decimals.plain(value) == text


@pytest.mark.parametrize("value", [1e18, float("nan"), float("inf"), -1e18])
def test_no_plain_form(value: float) -> None:
    with pytest.raises(ValueError, match="no plain decimal"):
        decimals.plain(value)


@pytest.mark.parametrize(
    "text",
    [
        *("+1", "1e5", "1.", ".5", "01", "-0", "-0.00", "1,5", "1_000", "nan", "inf"),
        *("0x1", "1\n", "1234567890123456.5", "1.0123456789", "1234567890123456789"),
    ],
)
def test_outside_the_grammar(text: str) -> None:
    with pytest.raises(ValueError, match="plain decimal"):
        decimals.read(text)


@settings(deadline=None)
@given(st.floats(-1e14, 1e14).map(lambda number: round(number, 9)))
def test_written_numbers_read_back(number: float) -> None:
    assert abs(decimals.read(decimals.plain(number)) - number) <= 1e-9
