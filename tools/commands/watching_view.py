"""What `powerkit service watch` shows: a live picture, plain lines, or JSON lines.

The marks are those of TRIMS's own picture: … while something is built or started, ✓
when it runs or is well, ∅ when it failed.
"""

from __future__ import annotations

import json
import sys
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Protocol, TextIO

from registry.documents.findings import shown
from registry.documents.limits import MESSAGE_CHARACTERS

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tools.services.watching import Event

__all__ = ["MARKS", "View", "watching_view"]

MARKS: Final = {
    "building": "…",
    "built": "✓",
    "starting": "…",
    "running": "✓",
    "ok": "✓",
    "failed": "∅",
    "changed": "·",
    "stopped": "·",
}
_STYLES: Final = {"…": "yellow", "✓": "green", "∅": "bold red", "·": "dim"}
_EVENTS: Final = 5
_LINES: Final = 15


class View(Protocol):
    """Where a watch is shown."""

    def event(self, event: Event) -> None:
        """Show what happened."""

    def line(self, text: str) -> None:
        """Show a line of the program's or the build's; from a thread."""


@contextmanager
def watching_view(
    *, json_output: bool = False, out: TextIO | None = None
) -> Iterator[View]:
    """Give the view that fits whoever reads standard output.

    Args:
        json_output: whether a program reads it.
        out: where to; standard output if None.
    """
    stream = sys.stdout if out is None else out
    if json_output:
        yield _JsonLines(stream)
    elif not stream.isatty():
        yield _PlainLines(stream)
    else:
        from rich.console import Console
        from rich.live import Live

        picture = _Picture()
        console = Console(file=stream)
        with Live(get_renderable=picture.drawn, console=console, refresh_per_second=8):
            yield picture


class _JsonLines:
    """An event a line, for programs; what the program prints is in its log."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def event(self, event: Event) -> None:
        from registry.gate.report import as_documents

        told: dict[str, Any] = {
            "schema": "service-event/1",
            "phase": event.phase,
            "text": event.text,
            "pid": event.pid,
            "findings": as_documents(event.findings),
        }
        self._out.write(json.dumps(told) + "\n")
        self._out.flush()

    def line(self, text: str) -> None:
        pass


class _PlainLines:
    """Events and output as they come, for logs."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._lock = threading.Lock()

    def event(self, event: Event) -> None:
        self._write(f"{MARKS[event.phase]} {event.phase}: {_printable(event.text)}")
        for one in event.findings:
            place = one.path if one.line is None else f"{one.path}:{one.line}"
            self._write(f"  {one.severity.value} {one.code} {place}: {one.what}")

    def line(self, text: str) -> None:
        self._write(f"  | {_printable(text)}")

    def _write(self, line: str) -> None:
        with self._lock:
            self._out.write(line + "\n")
            self._out.flush()


class _Picture:
    """The last events, what is wrong now, and the end of the output."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._events: deque[Event] = deque(maxlen=_EVENTS)
        self._findings: tuple[Any, ...] = ()
        self._lines: deque[str] = deque(maxlen=_LINES)

    def event(self, event: Event) -> None:
        with self._lock:
            self._events.append(event)
            self._findings = event.findings
            if event.phase in {"building", "starting"}:
                self._lines.clear()

    def line(self, text: str) -> None:
        with self._lock:
            self._lines.append(_printable(text))

    def drawn(self) -> RenderableType:
        from rich.console import Group
        from rich.panel import Panel
        from rich.text import Text

        with self._lock:
            events, found = list(self._events), self._findings
            lines = list(self._lines)
        rows = []
        for event in events:
            mark = MARKS[event.phase]
            words = f"{mark} {event.phase}: {_printable(event.text)}"
            rows.append(Text(words, style=_STYLES[mark], no_wrap=True))
        for one in found[:_EVENTS]:
            place = one.path if one.line is None else f"{one.path}:{one.line}"
            rows.append(Text(f"  {one.code} {place}: {one.what}", style="red"))
        output = Text("\n".join(lines), no_wrap=True, overflow="ellipsis")
        return Group(*rows, Panel(output, title="output", title_align="left"))


def _printable(text: str) -> str:
    return shown(text.expandtabs(), MESSAGE_CHARACTERS)
