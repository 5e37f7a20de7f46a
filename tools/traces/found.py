"""What reading a trace found beside its events: the form, other keys and all damage."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tools.traces.limits import CORRUPT_PLACES

__all__ = ["Found"]


@dataclass(slots=True)
class Found:
    """Tallies of one file, which grow while it is read.

    Attributes:
        container: ``array`` or ``object``; empty before the first byte is read.
        compressed: whether the file is gzip.
        unterminated: whether it ends before its end: no ``]``, no ``}``, or inside an
            event or a gzip member.
        events: how many events were given out.
        salvaged: how many of them were taken one by one from a damaged stretch.
        bad_events: how many events could not be read and were left out.
        not_objects: how many elements of the array were no objects, and left out.
        bad_utf8: how many bytes were no UTF-8 and became U+FFFD.
        not_numbers: how many events held NaN or Infinity, which became null.
        bytes_read: how much was read so far, unpacked.
        file_bytes: how much of the file itself was read so far.
        corrupt: how many damaged places there are.
        corrupt_at: offsets of the first ten of them, in the unpacked text.
        metadata: the other keys of the object form, also those after the events.
        metadata_bytes: how long their text is.
        metadata_left_out: other keys that were too large to keep.

    """

    container: str = ""
    compressed: bool = False
    unterminated: bool = False
    events: int = 0
    salvaged: int = 0
    bad_events: int = 0
    not_objects: int = 0
    bad_utf8: int = 0
    not_numbers: int = 0
    bytes_read: int = 0
    file_bytes: int = 0
    corrupt: int = 0
    corrupt_at: list[int] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    metadata_bytes: int = 0
    metadata_left_out: list[str] = field(default_factory=list)

    def damage(self, offset: int) -> None:
        """Note a damaged place."""
        self.corrupt += 1
        if len(self.corrupt_at) < CORRUPT_PLACES:
            self.corrupt_at.append(offset)

    @property
    def whole(self) -> bool:
        """Whether every byte of the file was understood as it stands."""
        return not (
            self.unterminated
            or self.bad_events
            or self.not_objects
            or self.bad_utf8
            or self.not_numbers
            or self.corrupt
            or self.metadata_left_out
        )
