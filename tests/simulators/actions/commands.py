"""Commands that a step gives its runner by printing them, and what GitHub shows.

Both forms count, as in actions/runner: `::error file=a::text` at the start of a line,
and the older `##[error]text` anywhere in it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Annotation", "Printed", "shown_by_github"]

SHOWN_A_STEP: Final = 10
"""GitHub shows this many errors, and as many warnings, of one step."""
_LEVELS: Final = {"error": "error", "warning": "warning", "notice": "notice"}
_REFUSED: Final = {"set-env", "add-path"}
_QUIET: Final = {
    "add-mask",
    "debug",
    "group",
    "endgroup",
    "echo",
    "add-matcher",
    "remove-matcher",
    "save-state",
    "set-output",
}
_STOP: Final = "stop-commands"


@dataclass(frozen=True, slots=True)
class Annotation:
    """A remark that GitHub shows beside a file's line."""

    level: str
    file: str
    line: int | None
    title: str
    message: str
    step: str = ""


@dataclass(slots=True)
class Printed:
    """What a step has printed so far.

    Attributes:
        step: its name.
        annotations: remarks, in the order in which they were printed.
        lines: the log.
        masked: texts that the log would hide.
        failed: whether it gave a command that GitHub refuses.
    """

    step: str = ""
    annotations: list[Annotation] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    masked: list[str] = field(default_factory=list)
    failed: bool = False
    _stopped: str | None = None

    def take(self, line: str) -> None:
        """Read one line."""
        self.lines.append(line)
        known = {*_LEVELS, *_REFUSED, *_QUIET, _STOP}
        if self._stopped is not None:
            known.add(self._stopped.lower())
        parsed = _parse(line, known) or _parse_old(line, known)
        if parsed is None:
            return
        name, properties, data = parsed
        if self._stopped is not None:
            if name == self._stopped.lower():
                self._stopped = None
        elif name == _STOP:
            self._stopped = data
        elif name in _LEVELS:
            self._annotate(name, properties, data)
        elif name in _REFUSED:
            self.failed = True
        elif name == "add-mask":
            self.masked.append(data)

    def _annotate(self, level: str, properties: dict[str, str], data: str) -> None:
        line = properties.get("line", "")
        self.annotations.append(
            Annotation(
                level=level,
                file=properties.get("file", ""),
                line=int(line) if line.isdecimal() else None,
                title=properties.get("title", ""),
                message=data,
                step=self.step,
            )
        )


def shown_by_github(annotations: Iterable[Annotation]) -> list[Annotation]:
    """The remarks of one step that GitHub's page shows."""
    count: dict[str, int] = {}
    shown: list[Annotation] = []
    for one in annotations:
        count[one.level] = count.get(one.level, 0) + 1
        if count[one.level] <= SHOWN_A_STEP:
            shown.append(one)
    return shown


_Command = tuple[str, dict[str, str], str]


def _parse(line: str, known: set[str]) -> _Command | None:
    text = line.lstrip()
    end = text.find("::", 2)
    if not text.startswith("::") or end < 0:
        return None
    name, _, rest = text[2:end].partition(" ")
    if name.lower() not in known:
        return None
    escapes = {"%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ",", "%25": "%"}
    properties = _properties(rest.strip(), ",", escapes)
    return name.lower(), properties, _restore(text[end + 2 :], _DATA)


def _parse_old(line: str, known: set[str]) -> _Command | None:
    start = line.find("##[")
    end = line.find("]", start)
    if start < 0 or end < 0:
        return None
    name, _, rest = line[start + 3 : end].partition(" ")
    if name.lower() not in known:
        return None
    escapes = {"%3B": ";", "%0D": "\r", "%0A": "\n", "%5D": "]", "%25": "%"}
    properties = _properties(rest, ";", escapes)
    return name.lower(), properties, _restore(line[end + 1 :], escapes)


_DATA: Final = {"%0D": "\r", "%0A": "\n", "%25": "%"}


def _properties(text: str, between: str, escapes: dict[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in text.split(between):
        key, mark, value = part.partition("=")
        if key and mark and value:
            found[key.lower()] = _restore(value, escapes)
    return found


def _restore(text: str, escapes: dict[str, str]) -> str:
    for escaped, character in escapes.items():
        text = text.replace(escaped, character)
    return text
