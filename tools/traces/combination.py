"""How traces are combined, and what became of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tools.traces.aligning import Align
from tools.traces.found import Found

__all__ = ["Combination", "Combined", "Part"]


@dataclass(frozen=True, slots=True)
class Combination:
    """How traces are combined.

    Attributes:
        align: how their clocks are put on one.
        marker: the name of the event that coincides, for `marker`.
        offsets_ns: what each file moves by, for `offset`.
        zero: whether the first event of all is moved to 0.
        ignored: categories whose events are left out.
        take_out: whether their time is left out too.
        names: new names of events by old ones.
        link_ids: whether files share the ids of arrows and asynchronous events.
        sort: whether events are merged by time; every file must be sorted.

    """

    align: Align = Align.NONE
    marker: str | None = None
    offsets_ns: tuple[int, ...] = ()
    zero: bool = False
    ignored: frozenset[str] = frozenset()
    take_out: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    link_ids: bool = False
    sort: bool = False


@dataclass(slots=True)
class Part:
    """What became of one file.

    Attributes:
        path: the file.
        label: what it is called in the result.
        found: what reading it found.
        offset_ns: what was added to its times.
        taken_out_ns: how much ignored time was taken out.
        written: how many events were written, its metadata events included.
        ignored: how many were left out by their category.
        unmatched_ignored: how many ignored beginnings and ends had no partner.
        renamed: how many got another name.
        processes: how many processes it has.
        renumbered: how many of them got another number.
        relinked: how many ids of arrows and asynchronous events were replaced.
        repeated_names: how many metadata events were replaced by a later one.
        untimed: how many events have no time that could move.
        late: whether it has times that are too large to be exact in viewers.

    """

    path: Path
    label: str
    found: Found = field(default_factory=Found)
    offset_ns: int = 0
    taken_out_ns: int = 0
    written: int = 0
    ignored: int = 0
    unmatched_ignored: int = 0
    renamed: int = 0
    processes: int = 0
    renumbered: int = 0
    relinked: int = 0
    repeated_names: int = 0
    untimed: int = 0
    late: bool = False


@dataclass(frozen=True, slots=True)
class Combined:
    """What a combination did.

    Attributes:
        output: the file that was written.
        parts: what became of each input.
        display_time_unit: what the result says.

    """

    output: Path
    parts: tuple[Part, ...]
    display_time_unit: str

    @property
    def events(self) -> int:
        """How many events the result has."""
        return sum(part.written for part in self.parts)
