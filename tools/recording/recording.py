"""What a monitor recorded: raw readings of every series, each with its own instant.

    recording = read_recording(Path("samples.csv"))
    recording.summary().energies

Each source is read at its own instant within a tick, and reading takes time, so the
start and the duration of every read are kept beside its readings.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tools.readings.series import Gaps, Missing, Series

if TYPE_CHECKING:
    from tools.recording.summary import Summary

__all__ = ["CELLS", "Pace", "Recording"]

CELLS: Final = 40_000_000
"""The most numbers in memory, at eight bytes each: readings, and times of rows."""

_NOTHING: Final = -(2**63)  # stands for a missing reading in the arrays
_LARGEST: Final = 2**63 - 1


@dataclass(slots=True)
class Pace:
    """How well a monitor kept its deadlines.

    Attributes:
        interval_ns: nanoseconds between two deadlines.
        ticks: how many deadlines were met, late ones included.
        late: how many of them began more than a tenth of the interval late.
        missed: how many deadlines passed while an earlier tick was still reading.
        worst_ns: how late the latest tick was.

    """

    interval_ns: int
    ticks: int = 0
    late: int = 0
    missed: int = 0
    worst_ns: int = 0


@dataclass(slots=True)
class Recording:
    """Readings of a few sources over time.

    Attributes:
        columns: all series, in the order of their columns.
        pace: how well the deadlines were kept.
        missing: what could not be opened, and why.
        gaps: readings that failed, by series and reason.
        started_epoch_ns: CLOCK_REALTIME at the first row; 0 if there is none.
        times_ns: CLOCK_MONOTONIC of each row, before its first read.
        starts_ns: for each source, CLOCK_MONOTONIC of its read in each row.
        took_ns: for each source, nanoseconds that its read took in each row.
        full: whether rows were left out afterwards, since there was no more room.

    """

    columns: tuple[Series, ...]
    pace: Pace
    missing: tuple[Missing, ...] = ()
    gaps: Gaps = field(default_factory=Gaps)
    started_epoch_ns: int = 0
    times_ns: array[int] = field(default_factory=lambda: array("q"))
    starts_ns: dict[str, array[int]] = field(default_factory=dict)
    took_ns: dict[str, array[int]] = field(default_factory=dict)
    full: bool = False
    _cells: list[array[int]] = field(default_factory=list)
    _places: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Make room for each series and source."""
        self._cells = [array("q") for _ in self.columns]
        self._places = {one.name: place for place, one in enumerate(self.columns)}
        for one in self.columns:
            self.starts_ns.setdefault(one.source, array("q"))
            self.took_ns.setdefault(one.source, array("q"))

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.times_ns)

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources of the series, in order."""
        return tuple(self.starts_ns)

    @property
    def has_room(self) -> bool:
        """Whether a further row fits as it is."""
        width = len(self.columns) + 1 + 2 * len(self.sources)
        return (len(self) + 1) * width <= CELLS

    def append(
        self,
        time_ns: int,
        reads: Mapping[str, tuple[int, int]],
        readings: Sequence[int | None],
    ) -> None:
        """Add a row.

        Where there is no more room, every second row is left out, and the interval is
        doubled, so that a recording of any length covers all of its time.

        Args:
            time_ns: CLOCK_MONOTONIC before the first read, later than the row before.
            reads: for each source, when its read began and how long it took, in ns.
            readings: a reading for each series in order; None is missing.
        """
        if not self.has_room:
            self._thin()
        self.times_ns.append(time_ns)
        for source, (start, took) in reads.items():
            self.starts_ns[source].append(start)
            self.took_ns[source].append(took)
        for cells, series, reading in zip(
            self._cells, self.columns, readings, strict=True
        ):
            if reading is not None and not _NOTHING < reading <= _LARGEST:
                self.gaps.note(series.name, "a number of more than 63 bits")
                reading = None  # noqa: PLW2901 - missing from here on
            cells.append(_NOTHING if reading is None else reading)

    def _thin(self) -> None:
        """Keep the first of every two rows."""
        self.full = True
        self.pace.interval_ns *= 2
        self.times_ns = self.times_ns[::2]
        for source in self.sources:
            self.starts_ns[source] = self.starts_ns[source][::2]
            self.took_ns[source] = self.took_ns[source][::2]
        self._cells = [cells[::2] for cells in self._cells]

    def readings(self, name: str) -> list[int | None]:
        """All readings of a series, a row each.

        Raises:
            KeyError: there is no such series.
        """
        cells = self._cells[self._places[name]]
        return [None if cell == _NOTHING else cell for cell in cells]

    def points(self, name: str) -> Iterator[tuple[int, int]]:
        """The readings of a series that are there, each with its own instant.

        The instant is the middle of the read, in nanoseconds of CLOCK_MONOTONIC.

        Raises:
            KeyError: there is no such series.
        """
        place = self._places[name]
        source = self.columns[place].source
        starts, took = self.starts_ns[source], self.took_ns[source]
        for row, cell in enumerate(self._cells[place]):
            if cell != _NOTHING:
                yield starts[row] + took[row] // 2, cell

    def row(self, number: int) -> list[int | None]:
        """The readings of a row, counted from 0, negative from the end."""
        return [
            None if cells[number] == _NOTHING else cells[number]
            for cells in self._cells
        ]

    def summary(
        self, begin_ns: int | None = None, end_ns: int | None = None
    ) -> Summary:
        """Peak, mean and energy of the rows within a window.

        Args:
            begin_ns: where the window begins on CLOCK_MONOTONIC; the first row if None.
            end_ns: where it ends; the last row if None.
        """
        from tools.recording.summary import summarised  # noqa: PLC0415 - it needs us

        return summarised(self, begin_ns, end_ns)

    def counter_events(self, pid: int) -> Iterator[dict[str, object]]:
        """Chrome counter events of all series; see `tools.recording.events`."""
        from tools.recording.events import counter_events  # noqa: PLC0415 - it needs us

        return counter_events(self, pid)

    def write_csv(self, path: Path) -> None:
        """Write it as a table that `read_recording` reads back."""
        from tools.recording.files import write_recording  # noqa: PLC0415 - it needs us

        write_recording(self, path)
