"""When a server is ready: it answers, a port takes calls, a line or a file appears.

A probe is written as a text: `http://HOST:PORT/PATH` (any status from 200 to 399),
`tcp:HOST:PORT`, `regex:TEXT` (searched for in each line that the server prints) or
`file:PATH`. Without a probe a server is ready once it is started.
"""

from __future__ import annotations

import http.client
import re
import socket
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, TypeAlias
from urllib.parse import urlsplit

from registry.documents.patterns import Expression

__all__ = [
    "Always",
    "HttpProbe",
    "LineProbe",
    "PathProbe",
    "Probe",
    "Seen",
    "TcpProbe",
    "read_probe",
]

ANSWER_SECONDS: Final = 1.0
"""How long one question may take; the server's end is noticed in between."""
_STATUS_BYTES: Final = 1024
_STATUS: Final = re.compile(rb"HTTP/1\.[01] ([0-9]{3})[ \r\n]")


class Seen(Protocol):
    """What was seen of the server's output."""

    def is_set(self) -> bool:
        """Whether the line that was sought came."""


@dataclass(frozen=True, slots=True)
class Always:
    """No probe: ready once started."""

    def before(self) -> str | None:
        """Nothing can be in the way."""
        return None

    def lacks(self, _: Seen) -> str | None:
        """Nothing is lacking."""
        return None


@dataclass(frozen=True, slots=True)
class TcpProbe:
    """Ready when a connection is taken."""

    host: str
    port: int

    def before(self) -> str | None:
        """Say who is there already, which is not our server."""
        if self._refusal() is None:
            return f"something answers at {self.host}:{self.port} already"
        return None

    def lacks(self, _: Seen) -> str | None:
        """What is still lacking, or None."""
        return self._refusal()

    def _refusal(self) -> str | None:
        try:
            with socket.create_connection((self.host, self.port), ANSWER_SECONDS):
                return None
        except (OSError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or str(error) or "no answer"
            return f"{self.host}:{self.port}: {why}"


@dataclass(frozen=True, slots=True)
class HttpProbe:
    """Ready when a GET is answered with a status from 200 to 399."""

    secure: bool
    host: str
    port: int
    target: str

    def before(self) -> str | None:
        """Say who is there already, which is not our server."""
        return TcpProbe(self.host, self.port).before()

    def lacks(self, _: Seen) -> str | None:
        """What is still lacking, or None."""
        kind = (
            http.client.HTTPSConnection if self.secure else http.client.HTTPConnection
        )
        connection = kind(self.host, self.port, timeout=ANSWER_SECONDS)
        until = time.monotonic() + ANSWER_SECONDS
        try:
            connection.request("GET", self.target, headers={"Connection": "close"})
            status = _status(connection.sock, until)
        except (OSError, http.client.HTTPException, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error) or "no answer"
            return f"{self.host}:{self.port}: {why}"
        finally:
            connection.close()
        if 200 <= status < 400:
            return None
        return f"{self.host}:{self.port} answered with status {status}"


def _status(answer: socket.socket, until: float) -> int:
    """Read the status of an answer, and no more: the rest may never end.

    Args:
        answer: where it comes from.
        until: when it must be there, in seconds of the monotonic clock.

    Raises:
        OSError: it is not there in time.
        ValueError: it is no answer of a web server.
    """
    head = b""
    while b"\n" not in head and len(head) < _STATUS_BYTES:
        answer.settimeout(max(until - time.monotonic(), 0.001))
        piece = answer.recv(_STATUS_BYTES)
        if not piece:
            break
        head += piece
    found = _STATUS.match(head)
    if found is None:
        line = head.partition(b"\n")[0].decode("ascii", "replace").strip()
        raise ValueError(
            f"no HTTP: {line[:60]}" if line else "it closed the connection"
        )
    return int(found[1])


@dataclass(frozen=True, slots=True)
class LineProbe:
    """Ready when a line holds what was sought."""

    pattern: Expression

    def before(self) -> str | None:
        """Nothing can be in the way: only the new server's lines are read."""
        return None

    def lacks(self, seen: Seen) -> str | None:
        """What is still lacking, or None."""
        return None if seen.is_set() else f"no line matches {self.pattern.text}"


class PathProbe:
    """Ready when a file appears, or is written anew if there was one before."""

    def __init__(self, path: Path) -> None:
        """Take the file's path."""
        self.path = path
        self._old = self._mark()

    def __eq__(self, other: object) -> bool:
        """Whether the other looks for the same file."""
        return isinstance(other, PathProbe) and self.path == other.path

    def __hash__(self) -> int:
        """The path's."""
        return hash(self.path)

    def before(self) -> str | None:
        """Note the file of an earlier server, which says nothing about this one."""
        self._old = self._mark()
        return None

    def lacks(self, _: Seen) -> str | None:
        """What is still lacking, or None."""
        mark = self._mark()
        if mark is None:
            return f"there is no file {self.path}"
        return f"{self.path} is of an earlier start" if mark == self._old else None

    def _mark(self) -> tuple[int, int, int] | None:
        try:
            found = self.path.stat()
        except (OSError, ValueError):
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size


Probe: TypeAlias = Always | HttpProbe | TcpProbe | LineProbe | PathProbe


def read_probe(text: str | None, folder: Path | None = None) -> Probe:
    """Read a probe's text; see the module.

    Args:
        text: the probe; none if None or empty.
        folder: what a relative path is relative to; the working folder if None.

    Raises:
        ValueError: it is no probe; the message says why.
    """
    if not text:
        return Always()
    kind, _, rest = text.partition(":")
    if kind in {"http", "https"}:
        return _http(text)
    if kind == "tcp":
        host, port = _place(rest)
        return TcpProbe(host, port)
    if kind == "regex" and rest:
        return LineProbe(_pattern(rest))
    if kind == "file" and rest and "\0" not in rest:
        return PathProbe((folder or Path()) / rest)
    raise ValueError("it must be http://…, tcp:HOST:PORT, regex:TEXT or file:PATH")


def _http(text: str) -> HttpProbe:
    if any(character <= " " or character > "~" for character in text):
        raise ValueError("a URL has no spaces and only ASCII characters")
    parts = urlsplit(text)
    secure = parts.scheme == "https"
    if not parts.hostname or parts.username is not None:
        raise ValueError("a URL is of the form http://HOST:PORT/PATH")
    port = (443 if secure else 80) if parts.port is None else parts.port
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return HttpProbe(secure, parts.hostname, port, target)


def _place(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not re.fullmatch(r"[0-9]{1,5}", port):
        raise ValueError("it must be tcp:HOST:PORT, for example tcp:localhost:8080")
    if not 0 < int(port) < 1 << 16:
        raise ValueError("a port is a number from 1 to 65535")
    return host, int(port)


def _pattern(text: str) -> Expression:
    try:
        return Expression(text)
    except ValueError as error:
        raise ValueError(f"the pattern cannot be read: {error}") from None
