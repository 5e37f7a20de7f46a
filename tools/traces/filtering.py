"""Filters a trace so that what is left is whole.

filter_trace(Path("all.json"), Path("some.json"), Conditions(names=("forward*",)))

A begin is kept with its end or not at all; an arrow if the slices at both of its ends
are. Names of processes stay. The file is read twice: to judge its events, which takes
about a byte for each and some 40 for each that has to be matched, and to copy them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np

from registry.documents.findings import RegistryError, Severity, code, finding
from tools.traces.filtering_arrows import settle_arrows
from tools.traces.filtering_conditions import Conditions
from tools.traces.filtering_pairs import settle_pairs, settle_steps
from tools.traces.filtering_rows import KEEP, LATEST, Judge, nanoseconds
from tools.traces.overwriting import not_over, read_twice
from tools.traces.reading import Found, pieces
from tools.traces.typed import Event, decode
from tools.traces.writing import TraceWriter

__all__ = ["Filtered", "filter_trace"]

CHANGED = code(
    "V056",
    Severity.ERROR,
    "A trace changed while it was filtered.",
    "Wait until whoever writes it is done, and run it again.",
)


class _Bound(msgspec.Struct):
    bp: msgspec.Raw = msgspec.Raw()


_BOUND: Final = msgspec.json.Decoder(list[_Bound])
_RAW: Final = msgspec.json.Decoder(list[msgspec.Raw])


@dataclass(slots=True)
class Filtered:
    """What a filter did.

    Attributes:
        events: how many events there were.
        kept: how many of them were kept.
        arrows_dropped: arrows that were dropped since a slice at one end was.
        unmatched_ends: ends without a begin, which were dropped.
        unclosed: begins without an end; they count as long as the trace.
        untimed: events without a time, which were dropped, by phase.
        found: what reading found.

    """

    events: int = 0
    kept: int = 0
    arrows_dropped: int = 0
    unmatched_ends: int = 0
    unclosed: int = 0
    untimed: Counter[str] = field(default_factory=Counter)
    found: Found = field(default_factory=Found)


def filter_trace(
    path: Path,
    out: Path,
    conditions: Conditions,
    *,
    progress: Callable[[str], None] = lambda _: None,
) -> Filtered:
    """Write the events of a trace for which conditions hold.

    Args:
        path: the trace.
        out: the new one; gzip if its name ends in `.gz`.
        conditions: what is kept.
        progress: is given a line now and then.

    Returns:
        What was kept and what was not.

    Raises:
        RegistryError: V001 to V004, V030, V054 to V056 or V059: nothing was written.
        OSError: a file cannot be read or written.
    """
    read_twice(path)
    not_over(out, [path])
    if conditions.relative:
        conditions = _since(conditions, _first(path))
    judge, done = Judge(conditions), Filtered()
    for piece in pieces(path, done.found):
        judge.judge(_decoded(piece), _enclosing(piece))
        progress(f"{len(judge.verdicts):,} events judged")
    verdicts = np.frombuffer(judge.verdicts, np.uint8).copy()
    kept, nested = settle_pairs(judge.nested, judge, verdicts)
    _, sequences = settle_pairs(judge.sequences, judge, verdicts)
    settle_steps(judge, verdicts)
    done.arrows_dropped = settle_arrows(judge, kept, verdicts)
    done.unmatched_ends = nested.unmatched_ends + sequences.unmatched_ends
    done.unclosed = nested.unclosed + sequences.unclosed
    done.untimed, done.events = judge.untimed, len(verdicts)
    done.kept = int((verdicts == KEEP).sum())
    _copy(path, out, verdicts, done, progress)
    return done


def _first(path: Path) -> int:
    """The earliest time of a trace in nanoseconds; 0 if it has none."""
    first = math.inf
    for piece in pieces(path, Found()):
        times = (one.ts for one in _decoded(piece) if one.ph != "M")
        first = min(
            first, min((one for one in times if abs(one) <= LATEST), default=first)
        )
    return 0 if math.isinf(first) else nanoseconds(first)


def _since(conditions: Conditions, first: int) -> Conditions:
    """Conditions with times of the trace."""
    start, end = (
        None if one is None else one + first
        for one in (conditions.start, conditions.end)
    )
    return replace(conditions, start=start, end=end, relative=False)


def _decoded(piece: bytes) -> list[Event]:
    """Events of a piece; one that cannot be decoded is as if it had no phase."""
    try:
        return decode(piece)
    except (ValueError, RecursionError):
        return [_alone(bytes(raw)) for raw in _RAW.decode(piece)]


def _enclosing(piece: bytes) -> set[int]:
    """Which events of a piece are arrows that end at the slice around them."""
    if b'"bp"' not in piece:
        return set()
    bound = _BOUND.decode(piece)
    return {at for at, one in enumerate(bound) if bytes(one.bp) == b'"e"'}


def _alone(raw: bytes) -> Event:
    try:
        return decode(b"[" + raw + b"]")[0]
    except (ValueError, RecursionError):
        return Event()


def _copy(
    path: Path,
    out: Path,
    verdicts: Any,
    done: Filtered,
    progress: Callable[[str], None],
) -> None:
    found = Found()
    with TraceWriter(out) as trace:
        for events in _kept(path, found, verdicts):
            trace.encoded(events)
            progress(f"{trace.events:,} of {done.kept:,} events written")
        if found.events != done.events or trace.events != done.kept:
            what = f"it had {done.events:,} events, and then {found.events:,}"
            raise RegistryError([finding(CHANGED, str(path), what)])
        trace.metadata |= found.metadata
        trace.metadata["filtered"] = {
            "events": done.events,
            "kept": done.kept,
            "arrows dropped": done.arrows_dropped,
        }


def _kept(path: Path, found: Found, verdicts: Any) -> Iterator[list[msgspec.Raw]]:
    first = 0
    for piece in pieces(path, found):
        raws = _RAW.decode(piece)
        wanted = np.flatnonzero(verdicts[first : first + len(raws)] == KEEP)
        yield [raws[at] for at in wanted.tolist()]
        first += len(raws)
