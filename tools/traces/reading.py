"""Read Chrome traces of any size, form and health, a few MiB at a time.

    found = Found()
    for event in events(path, found):
        ...

The Trace Event Format is written by many programs, and by many of them not to its end.
Whatever can be read is given out; whatever cannot is counted in `Found`, never dropped
silently. Only a file that is no trace at all is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from registry.documents.findings import RegistryError, finding
from tools.traces.blocks import Window, blocks
from tools.traces.containers import V003, Container
from tools.traces.elements import elements
from tools.traces.found import Found

__all__ = ["Found", "decoded", "events", "pieces"]

_Event = TypeVar("_Event")


class _Object(msgspec.Struct, gc=False):
    """Any JSON object: its fields are checked for grammar and skipped."""


def pieces(path: Path, found: Found) -> Iterator[bytes]:
    """Read a trace as JSON arrays of events, in the order of the file.

    Args:
        path: the file.
        found: is filled while pieces are taken; complete when they are at an end.

    Yields:
        Valid UTF-8 and JSON: an array of at least one object. About 1 MiB each, and
        more only for a single larger event.

    Raises:
        RegistryError: V001 to V004: the file is no trace.
        OSError: the file cannot be read.
    """
    decode = msgspec.json.Decoder(list[_Object]).decode
    for piece, _ in _batches(path, found, decode):
        yield piece


def decoded(
    path: Path, found: Found, decode: Callable[[bytes], list[_Event]]
) -> Iterator[list[_Event]]:
    """Read a trace as lists of events that a decoder of one's own makes.

    This is the quickest way, since every event is decoded once. An event that the
    decoder refuses is counted in `found.bad_events`.

    Args:
        path: the file.
        found: as for `pieces`.
        decode: makes a list of events of a JSON array; raises ValueError if it cannot.

    Raises:
        RegistryError: V001 to V004: the file is no trace.
        OSError: the file cannot be read.
    """
    for _, batch in _batches(path, found, decode):
        yield batch


def events(path: Path, found: Found) -> Iterator[dict[str, Any]]:
    """Read a trace event by event; integers of any size stay exact.

    Args:
        path: the file.
        found: as for `pieces`.

    Raises:
        RegistryError: V001 to V004: the file is no trace.
        OSError: the file cannot be read.
    """
    for batch in decoded(
        path, found, msgspec.json.Decoder(list[dict[str, Any]]).decode
    ):
        yield from batch


def _batches(
    path: Path, found: Found, decode: Callable[[bytes], list[Any]]
) -> Iterator[tuple[bytes, list[Any]]]:
    window = Window(blocks(path, found))
    container = Container(window, found, path)
    going = container.opened()
    first = found.container == "array"
    while going:
        closed = False
        batches = elements(window, found, decode, broken=container.broken)
        while True:
            try:
                piece, batch = next(batches)
            except StopIteration as end:
                closed = end.value
                break
            if first and b'"ph"' not in piece:
                raise _no_events(path)
            first = False
            yield piece, batch
        going = closed and container.reopened()
    if first and (found.not_objects or found.bad_events):
        raise _no_events(path)


def _no_events(path: Path) -> RegistryError:
    what = 'it is an array, but its elements are no events: none has a phase ("ph")'
    return RegistryError(finding(V003, str(path), what))
