"""What publishing did, whatever the channel."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["Published"]


@dataclass(frozen=True, slots=True)
class Published:
    """What publishing did.

    Attributes:
        place: Where the release is now: a folder, or the URL of its page.
        tag: Its name.
        new: False if it was there before.
        latest: Whether ``latest`` points to it now; not if a newer one is there.
        serial: Its serial.
        files: How many files it has there.
    """

    place: Path | str
    tag: str
    new: bool
    latest: bool
    serial: int
    files: int

    @property
    def folder(self) -> Path:
        """The folder, if the channel is one."""
        return Path(self.place)
