"""Instants are UTC wherever they are written, and exact."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.documents.instants import day, instant, precise_instant

NEW_YEAR = 1_767_225_600


@pytest.mark.parametrize(
    ("nanoseconds", "digits", "text"),
    [
        (0, 6, "2026-01-01T00:00:00.000000Z"),
        (250_000_000, 3, "2026-01-01T00:00:00.250Z"),
        (999_999_999, 3, "2026-01-01T00:00:00.999Z"),
        (1, 9, "2026-01-01T00:00:00.000000001Z"),
        (-1, 6, "2025-12-31T23:59:59.999999Z"),
    ],
)
def test_fractions_are_cut_off_and_never_rounded_up(
    nanoseconds: int, digits: int, text: str
) -> None:
    assert precise_instant(NEW_YEAR * 10**9 + nanoseconds, digits) == text


@given(st.integers(0, 4 * 10**18))
def test_an_instant_is_read_back(nanoseconds: int) -> None:
    read = datetime.fromisoformat(precise_instant(nanoseconds))
    since = read - datetime(1970, 1, 1, tzinfo=UTC)
    micro = (since.days * 86400 + since.seconds) * 10**6 + since.microseconds
    assert micro == nanoseconds // 1000


def test_whole_seconds_and_days() -> None:
    assert instant(NEW_YEAR) == "2026-01-01T00:00:00Z"
    assert day(NEW_YEAR - 1) == "2025-12-31"
