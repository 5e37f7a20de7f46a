"""Patience of tests: no time passes."""

from __future__ import annotations

from dataclasses import dataclass, field

from tools.assets.sources import Patience

__all__ = ["Waits", "quick"]


@dataclass
class Waits:
    """How long sources were to be waited for, in seconds."""

    seconds: list[float] = field(default_factory=list)


def quick(waits: Waits | None = None, attempts: int = 3) -> Patience:
    """Ask again at once, and give up on a silent server soon."""
    noted = Waits() if waits is None else waits
    return Patience(
        attempts=attempts, pause=0.5, connect=2.0, read=0.15, sleep=noted.seconds.append
    )
