"""Seconds since 1970 as documents and people read them: in UTC, wherever written."""

from __future__ import annotations

from datetime import UTC, datetime

__all__ = ["day", "instant"]


def instant(seconds: float) -> str:
    """Return a time as documents write it, for example 2026-01-01T00:00:00Z."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def day(seconds: float) -> str:
    """Return the day of a time, for example 2026-01-01."""
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()
