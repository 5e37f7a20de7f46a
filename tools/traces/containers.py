"""What stands around the events: an array, or an object with other keys.

Other keys may stand before and after the events. Text behind the end is looked through
for events too: two programs may have written to one file.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

from registry.documents.findings import RegistryError, Severity, code, finding, shown
from tools.traces import limits
from tools.traces.blocks import Window
from tools.traces.found import Found
from tools.traces.scanning import Broken, read_value, scannable, sound_value, text_bytes

__all__ = ["V003", "Container"]

V003 = code(
    "V003",
    Severity.ERROR,
    "A file is JSON, but no Chrome trace.",
    "Give an array of events, or an object that has them in `traceEvents`.",
)

_EVENTS: Final = "traceEvents"
_LATER: Final = re.compile(rb'"traceEvents"\s*:\s*\[')
_PADDING: Final = re.compile(rb"\x00+")
_MARKS: Final = re.compile(rb'\\.|["\[\]{}]', re.DOTALL)
_PEEK: Final = 4 * limits.KIB
_KINDS: Final = (
    ({"traces"}, "a Cloud Trace list of spans"),
    ({"spans"}, "a list of spans"),
    ({"resourceSpans"}, "an OpenTelemetry list of spans"),
    ({"nodes", "startTime", "endTime"}, "a V8 CPU profile"),
    ({"$schema", "profiles"}, "a speedscope profile"),
    ({"ph"}, "an event without an array around it"),
)


class Container:
    """The walk over a file's text, from one array of events to the next."""

    __slots__ = ("_arrays", "_found", "_keys", "_path", "_window", "broken")

    def __init__(self, window: Window, found: Found, path: Path) -> None:
        """Begin at the start of a file.

        Args:
            window: stands at the first byte.
            found: takes the other keys.
            path: the file, for findings.
        """
        self._window = window
        self._found = found
        self._path = path
        self._arrays = 0
        self._keys = 0
        self.broken = False

    def opened(self) -> bool:
        """Step to the first element of the first array of events.

        Raises:
            RegistryError: V003.
        """
        first = self._window.peek()
        self._window.at += 1
        if first == b"[":
            self._found.container = "array"
            self._arrays = 1
            return True
        self._found.container = "object"
        return self._members()

    def reopened(self) -> bool:
        """Step from behind one array to the first element of the next one, if any."""
        if self._found.container == "object" and not self.broken:
            return self._members()
        return self._behind()

    def _members(self) -> bool:
        """Read keys and values up to the events or the end of the object."""
        while True:
            mark = self._window.peek()
            if mark == b"}":
                self._window.at += 1
                return self._behind()
            if mark == b",":
                self._window.at += 1
                continue
            if not mark:
                self._found.unterminated = True
                return self._none()
            try:
                if self._member():
                    self._arrays += 1
                    return True
            except Broken:
                return self._lost()

    def _member(self) -> bool:
        """Read a key and its value; True at the first element of the events.

        Raises:
            Broken: there is no key and value.
        """
        self._keys += 1
        if self._keys > limits.METADATA_KEYS:
            what = f"an object with more than {limits.METADATA_KEYS} keys"
            raise RegistryError(finding(V003, str(self._path), what))
        key = self._value(limits.MIB)
        if not isinstance(key, str) or self._window.peek() != b":":
            raise Broken(cut=False, scanned=0)
        self._window.at += 1
        first = self._window.peek()
        if key == _EVENTS and first == b"[":
            self._window.at += 1
            return True
        at = self._window.offset
        try:
            value = self._value(limits.METADATA_BYTES - self._found.metadata_bytes)
        except Broken as trouble:
            if not trouble.cut or self._window.ended:
                raise
            self._skip()
            self._found.metadata_left_out.append(shown(key))
            return False
        self._found.metadata_bytes += self._window.offset - at
        self._found.metadata[key] = value
        return False

    def _value(self, most: int) -> Any:
        """Read a value of so many bytes at most, and step behind it.

        Raises:
            Broken: there is none; `cut` if more text might make one.
        """
        size = _PEEK
        while True:
            self._window.fill(size)
            data = self._window.data[self._window.at : self._window.at + size]
            whole = self._window.ended and size >= len(self._window)
            text = scannable(data)
            try:
                value, end, _ = read_value(text, 0)
                cut = end == len(text)  # a number may go on
            except Broken as trouble:
                if whole or not trouble.cut or size >= most:
                    raise
                cut = True
            if not cut or whole:
                self._window.at += len(text_bytes(text[:end]))
                return sound_value(value, text[:end], self._found)
            size *= 2

    def _skip(self) -> None:
        """Step behind a value that is too large to keep.

        Raises:
            Broken: the file ends in it.
        """
        depth, inside = 0, False
        while True:
            data = self._window.data
            for mark in _MARKS.finditer(data, self._window.at):
                char = mark[0]
                if inside:
                    inside = char != b'"'
                elif char == b'"':
                    inside = True
                elif char in b"[{":
                    depth += 1
                elif char in b"]}":
                    depth -= 1
                if not depth and not inside:
                    self._window.at = mark.end()
                    return
            keep = 1 if data.endswith(b"\\") else 0
            self._window.at = len(data) - keep
            if not self._window.fill(keep + 1):
                raise Broken(cut=True, scanned=0)

    def _lost(self) -> bool:
        """Go on at the events behind damaged keys, if they come."""
        self._found.damage(self._window.offset)
        if self._arrays:
            self.broken = True
            return bool(self._window.peek())
        while True:
            place = _LATER.search(self._window.data, self._window.at)
            if place is not None:
                self._window.at = place.end()
                self._arrays += 1
                return True
            self._window.at = max(self._window.at, len(self._window.data) - 64)
            if not self._window.fill(len(self._window) + 1):
                return self._none()

    def _behind(self) -> bool:
        """Look at what follows the end of an array or object."""
        if not self._arrays:
            return self._none()
        while self._window.peek() == b"\x00":  # of a file that was made too long
            padding = _PADDING.match(self._window.data, self._window.at)
            self._window.at += 1 if padding is None else len(padding[0])
        if not self._window.peek():
            return False
        if not self.broken:
            self._found.damage(self._window.offset)
        self.broken = True
        return True

    def _none(self) -> bool:
        """The file has ended: without events it is no trace.

        Raises:
            RegistryError: V003, it never had any.
        """
        if self._arrays:
            return False
        keys = set(self._found.metadata) | set(self._found.metadata_left_out)
        kind = next((name for need, name in _KINDS if need <= keys), None)
        if kind is None:
            names = ", ".join(json.dumps(shown(key, 20)) for key in sorted(keys)[:6])
            kind = f"an object with the keys {names}" if keys else "an empty object"
            if self._found.corrupt:
                kind = f"broken JSON from byte {self._found.corrupt_at[0]} on"
        what = f"it is {kind}, and has no `{_EVENTS}`"
        raise RegistryError(finding(V003, str(self._path), what))
