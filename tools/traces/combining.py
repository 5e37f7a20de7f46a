"""Combine traces into one: unique processes and arrows, clocks on one, nothing lost.

Files are read one after another, and an event is written as soon as it was read, so
that memory does not grow with them.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import UNSET

from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
    shown,
)
from tools.traces import limits
from tools.traces.aligning import Align
from tools.traces.alignment import offsets
from tools.traces.collecting import rarely_collected
from tools.traces.combination import Combination, Combined, Part
from tools.traces.elements import Decode
from tools.traces.found import Found
from tools.traces.identities import Identities, Processes
from tools.traces.ignoring import Ignoring
from tools.traces.overwriting import read_twice
from tools.traces.process_names import ProcessNames
from tools.traces.provenance import about_run, display_time_unit, provenance
from tools.traces.reading import decoded
from tools.traces.rewriting import Changes, Rewriting
from tools.traces.shapes import raw_number
from tools.traces.surveying import Look, Survey, survey
from tools.traces.writing import TraceWriter

__all__ = ["combine"]

V023 = code(
    "V023",
    Severity.ERROR,
    "A trace is not sorted, so sorted traces cannot be merged.",
    "Leave --sort off: viewers need no order, only the same file order everywhere.",
)

V027 = code(
    "V027",
    Severity.ERROR,
    "There are too many traces to merge them by time.",
    "Leave --sort off, or merge some, and then the results.",
)

_MERGED: Final = 10_000
"""How many merged events are written at once."""


def combine(
    sources: Sequence[tuple[Path, str]],
    output: Path,
    how: Combination,
    *,
    say: Callable[[str], None] = lambda _: None,
) -> Combined:
    """Combine traces into a file, which is written whole or not at all.

    Args:
        sources: files and what they are called, each in the order of the result.
        output: the file to write; gzip if it ends in ``.gz``.
        how: the options.
        say: is told what is done now.

    Raises:
        RegistryError: every input that is no trace; V020 to V023, V059.
        OSError: a file cannot be read or written.
    """
    if how.sort and len(sources) > limits.MERGED_INPUTS:
        what = f"{len(sources)} files, at most {limits.MERGED_INPUTS} can be merged"
        raise RegistryError(finding(V027, str(output), what))
    parts = [Part(path, label) for path, label in sources]
    surveys = _surveys(parts, how, say)
    moved = offsets(surveys, how.align, given=how.offsets_ns, zero=how.zero)
    with TraceWriter(output) as writer:
        work = _Work(parts, surveys, moved, how, writer)
        if how.sort:
            work.merge(say)
        else:
            with rarely_collected():
                work.append(say)
        unit = display_time_unit(parts)
        writer.metadata = provenance(parts, surveys, how) | {"displayTimeUnit": unit}
    return Combined(output, tuple(parts), unit)


def _surveys(
    parts: Sequence[Part], how: Combination, say: Callable[[str], None]
) -> list[Survey]:
    """Look at all files before anything is written; tell of all that are no traces."""
    look = Look(
        metadata=how.align is Align.WALL,
        first=how.zero or how.align is Align.ZERO,
        marker=how.marker if how.align is Align.MARKER else None,
        ignored=how.ignored,
        take_out=how.take_out,
    )
    surveys: list[Survey] = []
    findings: list[Finding] = []
    for part in parts:
        say(f"looking at {part.path.name}")
        try:
            read_twice(part.path)
            surveys.append(survey(part.path, look))
        except RegistryError as error:
            findings += error.findings
    if findings:
        raise RegistryError(findings)
    return surveys


class _Work:
    """The writing of all files, one after another or merged."""

    def __init__(
        self,
        parts: Sequence[Part],
        surveys: Sequence[Survey],
        moved: Sequence[int],
        how: Combination,
        writer: TraceWriter,
    ) -> None:
        self._parts = parts
        self._surveys = surveys
        self._moved = moved
        self._how = how
        self._writer = writer
        self._processes = Processes()
        self._counter = [0]
        self._rank = 0
        self._told = 0
        self._last: Any = UNSET

    def append(self, say: Callable[[str], None]) -> None:
        """Write one file after another."""
        for number, part in enumerate(self._parts):
            rewriting = self._rewriting(number)
            for batch in self._batches(part, rewriting.decode):
                self._put(part, rewriting(batch))
                say(f"{part.path.name}: {part.found.events:,} events")
            self._finish(part, rewriting)

    def merge(self, say: Callable[[str], None]) -> None:
        """Write the events of all files by time."""
        rewritings = [self._rewriting(number) for number in range(len(self._parts))]
        streams = [
            self._stream(number, rewriting)
            for number, rewriting in enumerate(rewritings)
        ]
        held: list[Any] = []
        for done, (_, number, event) in enumerate(
            heapq.merge(*streams, key=lambda row: row[:2])
        ):
            self._parts[number].written += 1
            held.append(event)
            self._last = event.ts if event.ts is not UNSET else self._last
            if len(held) == _MERGED:
                self._writer.encoded(held)
                held.clear()
                say(f"{done:,} events")
        self._writer.encoded(held)
        for part, rewriting in zip(self._parts, rewritings, strict=True):
            self._finish(part, rewriting)

    def _rewriting(self, number: int) -> Rewriting:
        part, clock = self._parts[number], self._surveys[number].clock
        part.offset_ns, part.taken_out_ns = self._moved[number], clock.taken_ns
        path, ignored = str(part.path), self._how.ignored
        changes = Changes(
            shift_ns=part.offset_ns,
            clock=clock,
            ignored=Ignoring(ignored, path) if ignored else None,
            names=self._how.names,
            identities=None
            if self._how.link_ids
            else Identities(number, path, self._counter),
            frames=f"{number}/",
        )
        return Rewriting(changes, self._processes, ProcessNames(part.label))

    def _batches(self, part: Part, decode: Decode) -> Iterator[list[Any]]:
        return decoded(part.path, part.found, decode)

    def _stream(
        self, number: int, rewriting: Rewriting
    ) -> Iterator[tuple[int, int, Any]]:
        """Events of a file with their time; what has none takes that before it.

        Raises:
            RegistryError: V023, the file is not sorted.
        """
        part, now = self._parts[number], None
        for batch in self._batches(part, rewriting.shape.decode):
            for event in rewriting(batch):
                ns = raw_number(event.ts)
                if ns is not None:
                    if now is not None and ns < now:
                        what = f"event {part.found.events} or before is earlier"
                        raise RegistryError(finding(V023, str(part.path), what))
                    now = ns
                yield (now or 0), number, event

    def _bound(self, found: Found) -> None:
        """Let go of what a file tells beside its events if all tell too much."""
        self._told += found.metadata_bytes
        if self._told > limits.SOURCES_BYTES:
            unit = found.metadata.pop("displayTimeUnit", None)
            found.metadata_left_out += sorted(map(shown, found.metadata))
            found.metadata = {} if unit is None else {"displayTimeUnit": unit}

    def _put(self, part: Part, events: list[Any]) -> None:
        self._writer.encoded(events)
        part.written += len(events)
        if events:
            last = events[-1]
            self._last = last.ts if last.ts is not UNSET else self._last

    def _finish(self, part: Part, rewriting: Rewriting) -> None:
        """Write the metadata events of a file and keep its counts."""
        about = about_run(part.found.metadata)
        self._bound(part.found)
        names = rewriting.names.events(self._rank, self._last, about)
        self._writer.encoded(names)
        part.written += len(names)
        changes = rewriting.changes
        part.processes = rewriting.processes
        part.renumbered = rewriting.renumbered
        self._rank += part.processes
        part.renamed = rewriting.renamed
        part.untimed = rewriting.untimed
        part.late = rewriting.late
        part.repeated_names = rewriting.names.repeated
        if changes.identities is not None:
            part.relinked = changes.identities.remapped
        if changes.ignored is not None:
            part.ignored = changes.ignored.dropped
            part.unmatched_ignored = changes.ignored.unmatched
