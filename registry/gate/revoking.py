"""The words in which both command lines have a key revoked: why, and since when."""

from __future__ import annotations

import time
from enum import StrEnum
from typing import Final

__all__ = ["SINCE_HELP", "Why", "since_when"]

SINCE_HELP: Final = (
    "When it fell into wrong hands, YYYY-MM-DD or …THH:MM:SSZ; now if unset. Bundles"
    " that came later go out of use."
)


class Why(StrEnum):
    """Why a key is trusted no more."""

    COMPROMISED = "compromised"
    LOST = "lost"
    SUPERSEDED = "superseded"
    LEFT = "left"
    UNSPECIFIED = "unspecified"


def since_when(said: str | None) -> float:
    """Read the time since when a key is trusted no more; the present if none is said.

    Returns:
        Seconds since 1970.

    Raises:
        ValueError: it is neither a day nor an instant, or not yet.
    """
    now = time.time()
    if said is None:
        return now
    from registry.gate.trust_changes import moment  # noqa: PLC0415  it is slow

    return moment(said, now)
