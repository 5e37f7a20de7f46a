"""Write a Chrome trace event by event: whole or not at all.

    with TraceWriter(path, metadata={"otherData": {"host": "a"}}) as trace:
        trace.write([{"name": "a", "ph": "X", "ts": 0, "dur": 5, "pid": 1, "tid": 1}])

The file is an object with one event a line, which Perfetto and chrome://tracing open;
its other keys stand behind the events, so that they may tell what was found on the way.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Literal, Self

import msgspec

from tools.files.writing import part_beside

__all__ = ["TraceWriter", "microseconds", "microseconds_text"]

_LEVEL: Final = 5
"""Of gzip: a third quicker than 6, and a few per cent larger."""
_BATCH: Final = 10_000
"""How many events are held at once."""
_ENCODER: Final = msgspec.json.Encoder()


def microseconds(ns: int) -> float | int:
    """Nanoseconds as `ts` and `dur` want them: microseconds, exact to three decimals.

    Beyond 2**53 ns, about 104 days, a float cannot hold them; see `microseconds_text`.
    """
    return ns // 1000 if ns % 1000 == 0 else ns / 1000


def microseconds_text(ns: int) -> bytes:
    """Nanoseconds as the JSON text of microseconds, exact whatever their size."""
    whole, rest = divmod(abs(ns), 1000)
    return b"%s%d.%03d" % (b"-" if ns < 0 else b"", whole, rest)


class TraceWriter:
    """A trace being written.

    It has a name of its own until its end, so that nobody reads half a trace.

    Attributes:
        metadata: other keys of the file; they may be changed until its end.
        events: how many events were written, those of `raw` apart.

    """

    def __init__(
        self,
        path: Path,
        *,
        metadata: Mapping[str, Any] | None = None,
        display_time_unit: Literal["ns", "ms"] = "ns",
    ) -> None:
        """Choose a file; it is made when the `with` block begins.

        Args:
            path: where the trace will be; it is gzip if its name ends in ``.gz``.
            metadata: other keys of the file.
            display_time_unit: what viewers show, unless the other keys tell; times are
                microseconds either way.
        """
        self.metadata: dict[str, Any] = dict(metadata or {})
        self.events = 0
        self._path = path
        self._unit = display_time_unit
        self._part = path
        self._raw: IO[bytes] | None = None
        self._file: IO[bytes] | gzip.GzipFile | None = None
        self._empty = True

    def __enter__(self) -> Self:
        """Make the file under a temporary name in its folder, which is made too.

        Raises:
            OSError: it cannot be written, or is there and no plain file.
        """
        self._part = part_beside(self._path)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._raw = self._part.open("xb")
        try:
            self._begin(self._raw)
        except BaseException:
            self._leave()
            raise
        return self

    def _begin(self, raw: IO[bytes]) -> None:
        """Write what stands before the events."""
        if self._path.name.endswith(".gz"):
            # No name and no time of its own: equal events give equal bytes.
            self._file = gzip.GzipFile(
                filename="", mode="wb", fileobj=raw, compresslevel=_LEVEL, mtime=0
            )
        else:
            self._file = raw
        self._put(b'{"traceEvents":[\n')

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the file its name, or leave nothing if something was raised."""
        assert self._raw is not None  # noqa: S101  the block was entered
        try:
            if kind is None:
                self._finish()
                self._part.replace(self._path)
        finally:
            self._leave()

    def write(self, events: Iterable[Mapping[str, Any]]) -> None:
        """Write events; values are whatever msgspec encodes, `Raw` texts included."""
        source = iter(events)
        while held := list(islice(source, _BATCH)):
            self.encoded(held)

    def raw(self, pieces: bytes) -> None:
        """Write a JSON array of events, as `pieces` gives them, without decoding it."""
        inner = pieces.strip()[1:-1].strip()
        if inner:
            self._put((b"" if self._empty else b",\n") + inner)
            self._empty = False

    def encoded(self, events: list[Any]) -> None:
        """Write msgspec structs, an event each; the quickest way."""
        self.events += len(events)
        self._lines(events)

    def _lines(self, events: list[Any]) -> None:
        if not events:
            return
        lines = _ENCODER.encode_lines(events)
        if lines.count(b"\n") == len(events):
            lines = lines.replace(b"\n", b",\n")[:-2]
        else:  # JSON has no bare line feed in a string: no event has this pair in it
            lines = lines.rstrip().replace(b"}\n{", b"},\n{")
        self._put((b"" if self._empty else b",\n") + lines)
        self._empty = False

    def _finish(self) -> None:
        """Write what stands behind the events and see it on the disk."""
        assert self._raw is not None  # noqa: S101
        others = {"displayTimeUnit": self._unit} | self.metadata
        others.pop("traceEvents", None)
        self._put(b"\n],\n" + _ENCODER.encode(others)[1:-1] + b"}\n")
        with self._named():
            self._close()
            self._raw.flush()
            os.fsync(self._raw.fileno())

    def _leave(self) -> None:
        """Let go of the file; on a full disk that fails, as was told already."""
        assert self._raw is not None  # noqa: S101
        self._part.unlink(missing_ok=True)
        with suppress(OSError):
            self._close()
        with suppress(OSError):
            self._raw.close()

    def _close(self) -> None:
        """End the gzip member; the file below it stays open."""
        if self._file is not None and self._file is not self._raw:
            self._file.close()

    def _put(self, data: bytes) -> None:
        assert self._file is not None  # noqa: S101
        with self._named():
            self._file.write(data)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Say which file it was that cannot be written; the system does not."""
        try:
            yield
        except OSError as error:
            error.filename = error.filename or str(self._path)
            raise
