"""Errors and warnings in a build's output, with the file and line that they name.

Known are gcc, clang, nvcc, the linkers, CMake, make, ninja, rustc, go and Python.
Relative paths are those of make's current directory, if make tells of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Final, Literal, TypeAlias

__all__ = ["Diagnostic", "Diagnostics", "Weight"]

Weight: TypeAlias = Literal["error", "warning"]
KEPT: Final = 1000


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """What a tool of the build said.

    Attributes:
        weight: whether it is an error or a warning.
        text: what it said.
        path: the file that it named, relative to the build's folder, or None.
        line: the line in it, from 1, or None.
        column: the column in it, from 1, or None.
        follows: whether it only tells that something else failed, as make does.

    """

    weight: Weight
    text: str
    path: str | None = None
    line: int | None = None
    column: int | None = None
    follows: bool = False


_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_GNU: Final = re.compile(
    r"(?P<path>[^\s:][^:]*):(?P<line>[0-9]+):(?:(?P<column>[0-9]+):)?"
    r" *(?P<kind>(?:fatal )?error|warning): *(?P<text>.+)"
)
_CALLED: Final = re.compile(
    r"(?P<path>[^\s()][^()]*)\((?P<line>[0-9]+)\): *(?P<kind>error|warning)[^:]*:"
    r" *(?P<text>.+)"
)
_LINK_AT: Final = re.compile(
    r"(?:[^\s:]*ld(?:\.[a-z]+)?: )?(?P<path>[^\s:][^:]*):"
    r"(?:(?P<line>[0-9]+)|\([^)]*\)): *"
    r"(?P<text>(?:undefined reference to|multiple definition of) .+)"
)
_TOOL: Final = re.compile(
    r"(?:[^\s:]*/)?(?:ld(?:\.[a-z]+)?|collect2|ninja|cc|gcc|g\+\+|c\+\+|clang|clang\+\+"
    r"|cargo|cmake|nvcc)(?:-[0-9]+)?(?: [a-z]+)?: *"
    r"(?:(?:fatal )?error: *(?P<text>.+)|(?P<lack>cannot find .+))"
)
_CMAKE: Final = re.compile(
    r"CMake (?P<kind>Error|Warning)(?: \(dev\))?"
    r"(?: at (?P<path>[^:]+):(?P<line>[0-9]+)(?: \([^)]*\))?)?: *(?P<text>.*)"
)
_MAKE: Final = re.compile(
    r"(?:[^\s:]*/)?g?make(?:\[[0-9]+\])?: \*\*\* "
    r"(?:\[(?P<path>[^:\]]+):(?P<line>[0-9]+): (?P<target>[^\]]+)\] )?(?P<text>.+)"
)
_MAKEFILE: Final = re.compile(
    r"(?P<path>[^\s:][^:]*):(?P<line>[0-9]+): \*\*\* (?P<text>.+)"
)
_RUST: Final = re.compile(r"(?P<kind>error|warning)(?:\[[A-Z][0-9]+\])?: (?P<text>.+)")
_RUST_AT: Final = re.compile(
    r" *--> (?P<path>[^:]+):(?P<line>[0-9]+):(?P<column>[0-9]+)"
)
_GO: Final = re.compile(
    r"(?P<path>[^\s:][^:]*\.go):(?P<line>[0-9]+):(?P<column>[0-9]+): (?P<text>.+)"
)
_PYTHON_AT: Final = re.compile(r' *File "(?P<path>[^"]+)", line (?P<line>[0-9]+).*')
_PYTHON: Final = re.compile(
    r"(?P<text>[A-Za-z_][A-Za-z0-9_.]*(?:Error|Exception|Interrupt|Exit)(?:: .*)?)"
)
_ENTERS: Final = re.compile(
    r".*make(?:\[[0-9]+\])?: (?P<what>Entering|Leaving) directory ['`](?P<path>[^']+)'"
)


class Diagnostics:
    """Reads a build's output line by line; memory stays bounded."""

    def __init__(self, folder: PurePosixPath) -> None:
        """Take the build's folder, an absolute path, to shorten paths by."""
        self.more = 0
        self._folder = folder
        self._all: list[Diagnostic] = []
        self._directories: list[str] = []
        self._expected: Callable[[str], bool] | None = None

    @property
    def all(self) -> list[Diagnostic]:
        """What was said; that something failed only where nothing says why."""
        causes = any(one.weight == "error" and not one.follows for one in self._all)
        return [one for one in self._all if not (one.follows and causes)]

    def take(self, line: str) -> None:
        """Read a line."""
        text = _COLOURS.sub("", line).rstrip()
        if self._expected is not None and self._expected(text):
            return
        for pattern, weight in _PLAIN:
            if (match := pattern.fullmatch(text)) is not None:
                self._add(_diagnostic(match, weight))
                return
        self._take_parts(text)

    def _take_parts(self, text: str) -> None:
        """Read the first of several lines that belong together."""
        if (match := _CMAKE.fullmatch(text)) is not None:
            self._expect_text(_diagnostic(match, None))
        elif (match := _RUST.fullmatch(text)) is not None:
            self._expect_place(_diagnostic(match, None))
        elif (match := _PYTHON_AT.fullmatch(text)) is not None:
            self._expect_end(match["path"], int(match["line"][:9]))
        elif (match := _ENTERS.fullmatch(text)) is not None:
            if match["what"] == "Entering":
                self._directories.append(match["path"])
                del self._directories[:-64]
            elif self._directories:
                self._directories.pop()

    def _expect_text(self, head: Diagnostic) -> None:
        """CMake's text stands in the next lines that are indented."""
        if head.text:
            self._add(head)
            return

        def next_line(text: str) -> bool:
            if not text:
                return True
            self._expected = None
            self._add(replace(head, text=text.strip()))
            return True

        self._expected = next_line

    def _expect_place(self, head: Diagnostic) -> None:
        """The next line of rustc is the place; a summary has none."""

        def next_line(text: str) -> bool:
            self._expected = None
            if (match := _RUST_AT.fullmatch(text)) is None:
                self._add(replace(head, follows=True))
                return False
            place = _diagnostic(match, head.weight)
            self._add(replace(place, text=head.text))
            return True

        self._expected = next_line

    def _expect_end(self, path: str, line: int) -> None:
        """The error stands after the last of Python's places, which are indented."""

        def next_line(text: str) -> bool:
            if (match := _PYTHON_AT.fullmatch(text)) is not None:
                self._expect_end(match["path"], int(match["line"][:9]))
                return True
            if text.startswith(" ") or not text:
                return True
            self._expected = None
            if (match := _PYTHON.fullmatch(text)) is None:
                return False
            self._add(Diagnostic("error", match["text"], path, line))
            return True

        self._expected = next_line

    def _add(self, one: Diagnostic) -> None:
        if len(self._all) >= KEPT:
            self.more += 1
            return
        self._all.append(replace(one, path=self._placed(one.path)))

    def _placed(self, path: str | None) -> str | None:
        """A path relative to the build's folder, if it lies there."""
        if path is None:
            return None
        here = self._directories[-1] if self._directories else str(self._folder)
        whole = PurePosixPath(here, path)
        if whole.is_relative_to(self._folder):
            return str(whole.relative_to(self._folder))
        return str(whole)


def _diagnostic(match: re.Match[str], weight: Weight | None) -> Diagnostic:
    found = match.groupdict()
    kind = str(found.get("kind", "")).lower()
    line, column = found.get("line"), found.get("column")
    return Diagnostic(
        weight or ("warning" if kind == "warning" else "error"),
        found.get("text") or found.get("lack") or "",
        found.get("path"),
        None if line is None else int(line[:9]),
        None if column is None else int(column[:9]),
        follows=match.re is _MAKE and found.get("path") is not None,
    )


_PLAIN: Final[tuple[tuple[re.Pattern[str], Weight | None], ...]] = (
    (_GNU, None),
    (_CALLED, None),
    (_LINK_AT, "error"),
    (_TOOL, "error"),
    (_MAKE, "error"),
    (_MAKEFILE, "error"),
    (_GO, "error"),
)
