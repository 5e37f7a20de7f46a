"""The events of a trace's array, in batches that were decoded as a whole if they can.

A block is cut behind its last event and decoded at once. One that this fails for is
read event by event: it holds the end of the array, or damage, which is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from itertools import islice
from typing import Any, Final

from tools.traces import limits
from tools.traces.blocks import Window
from tools.traces.found import Found
from tools.traces.scanning import (
    Broken,
    plain_bytes,
    read_value,
    scannable,
    sound_bytes,
    text_bytes,
)

__all__ = ["Decode", "elements"]

Decode = Callable[[bytes], list[Any]]
"""Decodes a JSON array of events; raises ValueError or RecursionError if it cannot."""

_SPACE: Final = b" \t\r\n"
_BETWEEN: Final = re.compile(r"[\s,]*")
_START: Final = re.compile(r"\{(?=\s*\")")
_OPEN: Final = re.compile(r"\{\s*\Z")
_SOUND: Final = re.compile(r"[\s,]*(?:[{\]]|\Z)")
_LINE: Final = re.compile(r"\n[\s,]*\Z")
_FOLLOWS: Final = re.compile(r"\}\s*,\s*\Z")
_MARKS: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', re.DOTALL)
_ENDS: Final = re.compile(r"\}\s*\]\s*(?:,\s*(?=\")|(?=\}\s*\Z))")
_TRIES: Final = 16
"""At how many places the end of an array is looked for behind its last event."""
_NEAR: Final = 4096
"""How far from a lost event another one is known to be none of its parts."""


def elements(
    window: Window, found: Found, decode: Decode, *, broken: bool = False
) -> Generator[tuple[bytes, list[Any]], None, bool]:
    """Read an array from its first element to behind its ``]``.

    Args:
        window: stands at the first element, and behind the array at the end.
        found: counts.
        decode: makes events of the bytes of an array.
        broken: whether the window stands in damage, so an event must be found first.

    Yields:
        The bytes of an array of events, and what `decode` made of them.

    Returns:
        Whether the array's end was seen.
    """
    state = _Salvage(window, found, decode, broken=broken)
    while not state.done:
        window.fill(limits.BLOCK_BYTES // 2)  # else a byte less would read two
        batch = None
        if not state.broken and window.offset >= window.doubtful:
            batch = _sound(window, decode)
        if batch is None:
            batch = state.read()
        if batch is not None and batch[1]:
            found.events += len(batch[1])
            yield batch
    return state.closed


def _sound(window: Window, decode: Decode) -> tuple[bytes, list[Any]] | None:
    """Decode the window up to its last event, and step behind it."""
    data, end = window.data, len(window.data)
    for _ in range(limits.BACK_OFFS):
        cut = _cut(data, window.at, end)
        if cut is None:
            break
        end, following = cut
        piece = b"[%b]" % data[window.at : end]
        try:
            events = utf8(piece, decode)
        except (ValueError, RecursionError):
            continue
        window.at = following
        return piece, events
    window.doubtful = window.offset + len(window)
    return None


def utf8(piece: bytes, decode: Decode) -> list[Any]:
    """Decode a piece, the parts that a decoder skips being UTF-8 too.

    Raises:
        ValueError: it cannot be decoded.
        RecursionError: it nests too deeply.
    """
    if not piece.isascii():
        piece.decode("utf-8")
    return decode(piece)


def _cut(data: bytes, start: int, end: int) -> tuple[int, int] | None:
    """Find the last place before `end` where ``}`` and ``{`` stand around a comma.

    Returns:
        Where the event ends and where the next begins.
    """
    while (brace := data.rfind(b"{", start, end)) > start:
        at = brace - 1
        while at > start and data[at] in _SPACE:
            at -= 1
        if data[at] == 0x2C:
            at -= 1
            while at > start and data[at] in _SPACE:
                at -= 1
            if data[at] == 0x7D:
                return at + 1, brace
        end = brace
    return None


class _Salvage:
    """Reading event by event: state that outlives a window's text.

    Attributes:
        broken: whether the window stands in damage.
        closed: whether the end of the array was seen.
        done: whether the array, or the file, has ended.

    """

    __slots__ = (
        "_decode",
        "_found",
        "_kept",
        "_last",
        "_lost",
        "_size",
        "_window",
        "broken",
        "closed",
        "done",
    )

    def __init__(
        self, window: Window, found: Found, decode: Decode, *, broken: bool
    ) -> None:
        self._window = window
        self._found = found
        self._decode = decode
        self._kept: list[str] = []
        self._size = limits.SALVAGE_BYTES
        self._last = False
        self._lost: int | None = None
        self.broken = broken
        self.closed = False
        self.done = False

    def read(self) -> tuple[bytes, list[Any]] | None:
        """Read all whole events of the window; hold more of the file if none is."""
        window = self._window
        window.fill(self._size)
        text = scannable(window.data[window.at : window.at + self._size])
        self._last = window.ended and self._size >= len(window)
        done = len(text_bytes(text[: self._walk(text)]))
        window.at += done
        self._size = limits.SALVAGE_BYTES if done else 2 * self._size
        return self._flush()

    def _walk(self, text: str) -> int:
        """Keep the events of a text; give the place up to which it is done with."""
        budget = limits.SALVAGE_PASSES * max(len(text), limits.SALVAGE_BYTES)
        at = 0
        self._lost = None
        while True:
            if not self.broken:
                at = self._between(text, at)
            elif (start := _START.search(text, at)) is not None:
                at = start.start()
            else:
                return self._nothing_more(text)
            if at == len(text):
                if self._last:
                    self._found.unterminated = self.done = True
                return at
            if text[at] == "]" and not self.broken:
                self.closed = self.done = True
                return at + 1
            try:
                at, cost = self._element(text, at)
            except Broken as trouble:
                if self._wait(trouble, len(text) - at):
                    return at
                self._lose(text, at, cut=trouble.cut)
                at = _behind(text, at, deep=trouble.deep)
                cost = max(trouble.scanned, limits.SALVAGE_TRY_BYTES)
            budget -= cost
            if budget < 0:
                self.broken = True
                return len(text)

    def _between(self, text: str, at: int) -> int:
        """Step over commas and space between elements."""
        found = _BETWEEN.match(text, at)
        return at if found is None else found.end()

    def _element(self, text: str, at: int) -> tuple[int, int]:
        """Read one element; give where it ends and what it cost of the budget.

        Raises:
            Broken: there is none.
        """
        value, end, odd = read_value(text, at)
        if self.broken:
            # A part of a lost event is no event; one that names its phase is.
            if not isinstance(value.get("ph"), str):
                if not self._beside(text, at):
                    return at + 1, max(end - at, limits.SALVAGE_TRY_BYTES)
                self._found.bad_events += 1
                self._lost = at
                return end, max(end - at, limits.SALVAGE_TRY_BYTES)
            self.broken = _SOUND.match(text, end) is None
            self._found.salvaged += 1
        elif not isinstance(value, dict):
            self._found.not_objects += 1
            return end, 0
        self._found.not_numbers += odd
        self._kept.append(text[at:end])
        return end, 0

    def _wait(self, trouble: Broken, rest: int) -> bool:
        """Whether more of the file may make an event of what is cut off here."""
        return trouble.cut and not self._last and rest < limits.EVENT_BYTES

    def _lose(self, text: str, at: int, *, cut: bool) -> None:
        """Count a lost event, unless it is a part of one that was counted."""
        if self.broken and not (at and _LINE.search(text, max(0, at - 80), at)):
            return
        self.broken = True
        self._lost = at
        self._found.bad_events += 1
        if cut and self._last and _end(text, at) is None:
            self._found.unterminated = True
        else:
            before = len(text_bytes(text[:at]))
            self._found.damage(self._window.offset + before)

    def _beside(self, text: str, at: int) -> bool:
        """Whether an object stands beside the last lost event, and not inside it."""
        begun = self._lost
        if begun is None or at - begun > _NEAR or not _FOLLOWS.search(text, begun, at):
            return False
        marks = [mark[0] for mark in _MARKS.finditer(text, begun, at)]
        opened = sum(mark in "[{" for mark in marks)
        return opened == sum(mark in "]}" for mark in marks)

    def _nothing_more(self, text: str) -> int:
        """No event begins in the rest of a text."""
        if self._last and (end := _end(text, self._lost)) is not None:
            self.closed = self.done = True
            return end
        if self._last:
            self.done = True
            self._found.unterminated |= not text.rstrip().endswith(("]", "}"))
            return len(text)
        begun = _OPEN.search(text, max(len(text) - 80, 0))
        return len(text) if begun is None else begun.start()

    def _flush(self) -> tuple[bytes, list[Any]] | None:
        """Decode what was kept, each event alone if they cannot be decoded at once."""
        texts, self._kept = self._kept, []
        if not texts:
            return None
        parts = [sound_bytes(text, self._found) for text in texts]
        piece = b"[%b]" % b",".join(parts)
        try:
            return piece, self._decode(piece)
        except (ValueError, RecursionError):
            good = [one for part in parts if (one := self._alone(part)) is not None]
        piece = b"[%b]" % b",".join(good)
        return piece, self._decode(piece)

    def _alone(self, part: bytes) -> bytes | None:
        """An event that decodes, as it is or written anew; None if it does not."""
        for again in (False, True):
            try:
                text = _anew(part, self._found) if again else part
                self._decode(b"[%b]" % text)
            except (ValueError, RecursionError, Broken):
                continue
            return text
        self._found.bad_events += 1
        return None


def _end(text: str, lost: int | None) -> int | None:
    """Where the array ends whose last event is lost, if other keys follow it.

    They reach to the end of the file, so what stands in an event is not taken for them.
    """
    places = () if lost is None else _ENDS.finditer(text, lost)
    for place in islice(places, _TRIES):
        try:
            _, end, _ = read_value("{" + text[place.end() :], 0)
        except Broken:
            continue
        if not text[place.end() + end - 1 :].strip():
            return place.end()
    return None


def _behind(text: str, at: int, *, deep: bool) -> int:
    """Where to look on: what opens in a row would be nested as deeply again."""
    closed = text.find("}", at) if deep else at + 1
    return len(text) if closed < 0 else closed


def _anew(part: bytes, found: Found) -> bytes:
    return plain_bytes(read_value(part.decode("utf-8"), 0)[0], found)
