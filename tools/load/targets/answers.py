"""What a system under test is to a load: something that answers for an item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from registry.documents.findings import shown

__all__ = ["ERROR_CHARACTERS", "Answer", "Target", "told"]

ERROR_CHARACTERS = 120
"""The longest text of an error of the system under test."""


@dataclass(frozen=True, slots=True)
class Answer:
    """How one request ended.

    Attributes:
        error: what went wrong, or None.
        started_ns: when the request was sent, on the clock of the run; None if the
            target cannot tell, so that it counts from the call.
        ended_ns: when its answer was complete; None as above.

    """

    error: str | None = None
    started_ns: int | None = None
    ended_ns: int | None = None


class Target(Protocol):
    """A system under test."""

    async def answer(self, item: str) -> Answer:
        """Ask for an item, and wait for the end; never raises an Exception."""
        ...

    def close(self) -> None:
        """End what still runs, and let go of connections."""
        ...


def told(error: BaseException) -> str:
    """An exception of someone else's code as a short printable text."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - its own text may be broken as well
        text = ""
    name = type(error).__name__
    return shown(f"{name}: {text}" if text else name, ERROR_CHARACTERS)
