"""Seconds since 1970 as documents and people read them: in UTC, wherever written."""

from __future__ import annotations

from datetime import UTC, datetime

__all__ = ["day", "instant", "precise_instant"]


def instant(seconds: float) -> str:
    """Return a time as documents write it, for example 2026-01-01T00:00:00Z."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def precise_instant(nanoseconds: int, digits: int = 6) -> str:
    """Return a time with a fraction, for example 2026-01-01T00:00:00.250000Z.

    Args:
        nanoseconds: since 1970; what is finer than the fraction is cut off.
        digits: how many the fraction has, from 1 to 9.
    """
    seconds, rest = divmod(nanoseconds, 10**9)
    return f"{instant(seconds)[:-1]}.{rest // 10 ** (9 - digits):0{digits}}Z"


def day(seconds: float) -> str:
    """Return the day of a time, for example 2026-01-01."""
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()
