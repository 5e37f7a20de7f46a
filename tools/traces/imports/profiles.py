"""A profiler's database while events are made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from tools.traces.imports.databases import Database
from tools.traces.imports.imported import (
    Account,
    Clock,
    Event,
    asynchronous,
    instant,
    span,
)
from tools.traces.imports.links import Links, Nesting
from tools.traces.imports.tracks import Tracks

__all__ = ["Profile", "leftover"]


@dataclass(frozen=True, slots=True)
class Profile:
    """What the readers of single tables share.

    Attributes:
        database: the open database.
        account: grows with what is read.
        clock: the origin of time.
        tracks: grows with threads and streams.
        names: texts by their number in the database.
        links: arrows from calls to work.
    """

    database: Database
    account: Account
    clock: Clock
    tracks: Tracks
    names: Callable[[object], str | None]
    links: Links

    def name(self, number: object, otherwise: str) -> str:
        """A text by its number, or another one if there is none."""
        return self.names(number) or otherwise

    def span(
        self,
        table: str,
        track: tuple[int, int],
        name: str,
        category: str,
        times: tuple[object, object],
        args: Mapping[str, object] | None = None,
    ) -> Event | None:
        """A complete event of a row, which is counted; None if it has no times."""
        event = span(self.clock, track, name, category, times, args)
        tally = self.account.untimed if event is None else self.account.read
        tally[table] += 1
        return event

    def instant(
        self,
        table: str,
        track: tuple[int, int],
        name: str,
        category: str,
        time: object,
        args: Mapping[str, object] | None = None,
    ) -> Event | None:
        """An instant of a row, which is counted; None if it has no time."""
        if not isinstance(time, int):
            self.account.untimed[table] += 1
            return None
        self.account.read[table] += 1
        return instant(self.clock, track, name, category, time, args)

    def ranges(
        self, rows: Iterable[tuple[Event, object, tuple[int, int]]]
    ) -> Iterator[Event]:
        """Ranges that a program marked, sorted by their start.

        Ranges may overlap, which slices of a thread may not: those that don't nest in
        earlier ones become asynchronous events.

        Args:
            rows: complete events, each with its track and its exact times; a track of
                None never nests.
        """
        nesting = Nesting()
        for event, track, (start, end) in rows:
            if track is not None and nesting.fits(track, start, end):
                yield event
            else:
                self.account.overlapping += 1
                yield from asynchronous(event, self.account.overlapping)


def leftover(database: Database, known: Iterable[str]) -> list[str]:
    """Tables with rows that an importer has no use for, by name."""
    rest = sorted(set(database.tables) - set(known))
    return [one for one in rest if next(database.rows(one, ("rowid",)), None)]
