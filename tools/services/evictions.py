"""Which model leaves when memory is short: what TRIMS's `uprd` can be told."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Eviction"]


class Eviction(StrEnum):
    """Eviction policies, by TRIMS's names."""

    NEVER = "never"
    LRU = "lru"
    LCU = "lcu"
    FIFO = "fifo"
    FLUSH = "flush"
    ALL = "all"
