"""What a program prints: kept in a log of bounded size, and its last lines at hand.

    with Child(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as child:
        with Output(child.process.stdout, log=Path("server.log")) as output:
            child.wait(5)
        print(output.tail(20))

A thread reads the pipe, so that the program never waits for a reader. Memory stays
bounded, whatever is printed: a line without end is cut, and only the last lines stay.
"""

from __future__ import annotations

import fcntl
import os
import select
import sys
import termios
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import IO, Final, Self

from registry.documents.findings import Finding, Severity, code, finding
from registry.documents.patterns import Expression

__all__ = ["LINE_BYTES", "LOG_BYTES", "Output"]

LINE_BYTES: Final = 4096
"""Where a line is cut."""
LOG_BYTES: Final = 16 << 20
"""When a log is put aside as `<name>.1` and begun anew."""
TAIL_LINES: Final = 200
_PIECE: Final = 1 << 16

F002 = code(
    "F002",
    Severity.WARNING,
    "What a program prints cannot be kept in its log.",
    "Check the log's folder, its permissions and the free space.",
)


class Output:
    """The output of one program; leaving the `with` block reads what is left."""

    def __init__(
        self,
        stream: IO[bytes] | None,
        *,
        log: Path | None = None,
        log_bytes: int = LOG_BYTES,
        seek: Expression | None = None,
        on_line: Callable[[str], object] | None = None,
    ) -> None:
        """Read a pipe from now on.

        Args:
            stream: the reading end; it is not closed here.
            log: a file for all output, begun anew; at most two of `log_bytes` lie
                there at a time.
            log_bytes: when the log is put aside as `<name>.1`.
            seek: a pattern that `seen` tells of, searched for in every line.
            on_line: called with every line, from the reading thread.
        """
        assert stream is not None  # noqa: S101  the program was started with a pipe
        self.seen = threading.Event()
        self.log = log
        self.problem: Finding | None = None
        self._source = stream.fileno()
        self._log_bytes = log_bytes
        self._seek = seek
        self._on_line = on_line
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)
        self._rest = b""
        self._cut = False
        self._file: IO[bytes] | None = None
        self._written = 0
        self._enough, self._wake = os.pipe()
        os.set_blocking(self._source, False)
        self._begin_log()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        """Give the output itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Read what the pipe holds, and no more: others may keep it open."""
        os.close(self._wake)
        self._thread.join()
        os.close(self._enough)
        if self._file is not None:
            self._file.close()

    def tail(self, lines: int) -> list[str]:
        """The last lines, the unfinished one included."""
        rest = self._text(self._rest)
        shown = [*self._tail.copy(), *([rest] if rest else [])]
        return shown[-lines:] if lines > 0 else []

    def _read(self) -> None:
        poll = select.poll()
        poll.register(self._source, select.POLLIN)
        poll.register(self._enough, select.POLLIN)
        last = False
        while not last:
            last = any(at == self._enough for at, _ in poll.poll())
            # At the end so much as is there now: someone else may print for ever.
            last = self._take(self._held() if last else _PIECE) or last
        if self._rest:
            self._line(self._rest)
            self._rest = b""

    def _held(self) -> int:
        """How many bytes the pipe holds."""
        told = fcntl.ioctl(self._source, termios.FIONREAD, bytes(4))
        return int.from_bytes(told, sys.byteorder)

    def _take(self, most: int) -> bool:
        """Take what is there; true at the end of the pipe."""
        while most > 0:
            try:
                piece = os.read(self._source, min(most, _PIECE))
            except BlockingIOError:
                return False
            except OSError:
                return True
            if not piece:
                return True
            most -= len(piece)
            self._keep(piece)
            self._split(piece)
        return False

    def _split(self, piece: bytes) -> None:
        *lines, rest = piece.split(b"\n")
        for line in lines:
            if not self._cut:
                self._line(self._rest + line)
            self._rest, self._cut = b"", False
        if self._cut:
            return
        self._rest += rest
        if len(self._rest) > LINE_BYTES:
            self._line(self._rest)
            self._rest, self._cut = b"", True
        elif self._rest:
            self._look(self._text(self._rest))

    def _line(self, line: bytes) -> None:
        text = self._text(line)
        self._tail.append(text)
        self._look(text)
        if self._on_line is None:
            return
        try:
            self._on_line(text)
        except (OSError, ValueError):  # the terminal is gone; the program is not
            self._on_line = None

    def _look(self, text: str) -> None:
        if self._seek and not self.seen.is_set() and self._seek.found_in(text):
            self.seen.set()

    @staticmethod
    def _text(line: bytes) -> str:
        return line[:LINE_BYTES].decode("utf-8", "replace").rstrip("\r")

    def _begin_log(self) -> None:
        if self.log is None:
            return
        try:
            self.log.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.log.open("wb", buffering=0)
        except OSError as error:
            self._complain(error)

    def _keep(self, piece: bytes) -> None:
        if self._file is None or self.log is None:
            return
        try:
            if self._written and self._written + len(piece) > self._log_bytes:
                self._file.close()
                self.log.replace(self.log.with_name(f"{self.log.name}.1"))
                self._file = self.log.open("wb", buffering=0)
                self._written = 0
            self._file.write(piece)
            self._written += len(piece)
        except OSError as error:
            self._complain(error)

    def _complain(self, error: OSError) -> None:
        """Remember the first problem, and go on without a log."""
        why = error.strerror or "it cannot be written"
        self.problem = finding(F002, str(self.log), why)
        if self._file is not None:
            self._file.close()
            self._file = None
