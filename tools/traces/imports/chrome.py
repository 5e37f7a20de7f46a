"""Reads traces that are Chrome's format already, of torch, viztracer, py-spy, LoadGen.

Each of them departs from the format in its own way; the result does not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tools.traces.imports.imported import Account, Event
from tools.traces.imports.normalising import LATEST, Normaliser, as_object, number
from tools.traces.reading import Found, events

__all__ = ["read_chrome", "read_regular"]

_BASE: Final = "baseTimeNanoseconds"
_CLOCK: Final = {
    "viztracer": ("viztracer_metadata", _BASE, 1),
    "loadgen": ("otherData", "ts", 1000),
}
"""Where a tool keeps the origin of its times, and nanoseconds in its unit."""


def read_chrome(path: Path, account: Account) -> Iterator[Event]:
    """Events of a JSON trace.

    Args:
        path: the file.
        account: names the tool; it grows with what was read, and its metadata with
            the other keys of the file.

    Raises:
        RegistryError: V001 to V004: it is no trace.
    """
    origin, found = _origin(path)
    normaliser = Normaliser(str(path), account, origin=origin)
    for event in events(path, found):
        if (regular := normaliser.event(event)) is not None:
            yield regular
    yield from normaliser.names()
    account.tracks = len(normaliser.tracks)
    account.metadata |= _metadata(account, found.metadata, origin)
    _say(account, found, origin)


def read_regular(path: Path) -> tuple[Account, Iterator[Event]]:
    """A trace of whatever tool, made regular.

    Args:
        path: the file.

    Returns:
        An account that grows while the events are taken, and the events.
    """
    account = Account("chrome")
    return account, read_chrome(path, account)


def _origin(path: Path) -> tuple[int, Found]:
    """Microseconds to take from all times: none if they are small already.

    Viewers drop what lies before 0, which LoadGen's own threads begin with.
    """
    first: float | None = None
    for event in events(path, Found()):
        if event.get("ph") != "M" and (time := number(event.get("ts"))) is not None:
            first = time if first is None else min(first, time)
    if first is None or 0 <= first <= LATEST:
        return 0, Found()
    return math.floor(first), Found()


def _metadata(account: Account, other: dict[str, Any], origin: int) -> dict[str, Any]:
    """The other keys of a file, with the origin of its times at one place."""
    kept = dict(other)
    kept.pop("displayTimeUnit", None)
    base = kept.get(_BASE)
    if account.source in _CLOCK:
        key, name, factor = _CLOCK[account.source]
        told = number(as_object(kept.get(key)).get(name))
        base = base if told is None else round(told * factor)
    if isinstance(base, int) or origin:
        kept[_BASE] = (base if isinstance(base, int) else 0) + origin * 1000
    if isinstance(info := kept.get("file_info"), dict) and "files" in info:
        # the text of every traced program: large, and its owner's
        kept["file_info"] = {key: one for key, one in info.items() if key != "files"}
        account.notes.append("the text of the traced programs is left out")
    return kept


def _say(account: Account, found: Found, origin: int) -> None:
    """Tell what was mended, and what was lost."""
    if damaged := found.bad_events + found.not_objects:
        account.untimed["damaged events"] += damaged
    notes = {
        f"{found.bad_utf8} bytes are no UTF-8": found.bad_utf8,
        "the file ends before its end": found.unterminated,
        f"{origin} microseconds were taken from all times": origin,
    }
    account.notes += [note for note, there in notes.items() if there]
    if account.source == "viztracer" and _BASE not in account.metadata:
        account.notes.append("when its clock began is not told: no wall-clock time")
