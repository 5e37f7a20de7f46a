"""The text of a trace file in blocks of bounded size, unpacked if it is gzip.

What is no JSON text at all is refused here, by its first bytes.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from registry.documents.findings import RegistryError, Severity, code, finding
from tools.traces import limits
from tools.traces.found import Found

__all__ = ["V001", "V002", "V004", "Window", "blocks"]

V001 = code(
    "V001",
    Severity.ERROR,
    "A trace file is empty.",
    "Check that the traced program ended by itself and had room to write.",
)
V002 = code(
    "V002",
    Severity.ERROR,
    "A file is no Chrome trace but another format.",
    "Give a file in the Trace Event Format (JSON), or convert this one.",
)
V004 = code(
    "V004",
    Severity.ERROR,
    "A compressed trace is larger than a trace may be.",
    "Unpack it yourself, if you trust it, and give the unpacked file.",
)

_GZIP: Final = b"\x1f\x8b"
_BOM: Final = b"\xef\xbb\xbf"
_SPACE: Final = b" \t\r\n"
_BLANK: Final = re.compile(rb"[ \t\r\n]*")
_MAGIC: Final = (
    (b"\x10\x00\x04\x46\x78\x54\x16\x00", "a Fuchsia trace (FXT)"),
    (b"SQLite format 3\x00", "an SQLite database, as nvprof and nsys write them"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x28\xb5\x2f\xfd", "compressed with Zstandard"),
    (b"BZh", "compressed with bzip2"),
    (b"\xfd7zXZ\x00", "compressed with xz"),
    (_GZIP, "gzip inside gzip"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
    (b"<", "an HTML or XML page, such as a systrace report"),
    (b"# tracer:", "an ftrace log, as systrace writes it"),
    (b"TRACE:", "an ftrace log, as atrace writes it"),
    (b"\x0a", "a Perfetto trace (protobuf)"),
)


def blocks(path: Path, found: Found) -> Iterator[bytes]:
    """Read the text of a trace, block by block.

    Args:
        path: the file.
        found: is told how much was read, and whether gzip ended too early.

    Raises:
        RegistryError: V001, V002 or V004.
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        # Nothing is sought for: the file may be a pipe.
        head = file.read(len(_GZIP))
        found.file_bytes = len(head)
        found.compressed = head == _GZIP
        unpack = _unpacked if found.compressed else _plain
        first = True
        for block in unpack(head, file, path, found):
            found.bytes_read += len(block)
            text = block
            if first and (first := not block.strip(_SPACE + _BOM)) is False:
                text = _begin(block, path)
            yield text
    if first:
        raise RegistryError(finding(V001, str(path), "it holds nothing but space"))


def _plain(head: bytes, file: IO[bytes], _path: Path, found: Found) -> Iterator[bytes]:
    block = head + file.read(max(limits.BLOCK_BYTES - len(head), 0))
    found.file_bytes = len(block)
    while block:
        yield block
        block = file.read(limits.BLOCK_BYTES)
        found.file_bytes += len(block)


def _unpacked(
    head: bytes, file: IO[bytes], path: Path, found: Found
) -> Iterator[bytes]:
    """Unpack every member of a gzip file, up to the first damage."""
    total, member = 0, zlib.decompressobj(wbits=31)
    pending = head
    while True:
        pending = pending or _more(file, found)
        try:
            text = member.decompress(pending, limits.BLOCK_BYTES)
        except zlib.error:
            found.unterminated = True
            found.damage(total)
            return
        if not pending and not text and not member.eof:
            found.unterminated = True
            return
        total += len(text)
        _check_size(total, found.file_bytes, path)
        if text:
            yield text
        pending = member.unconsumed_tail
        if member.eof:
            pending = member.unused_data
            if len(pending) < len(_GZIP):  # the read before may end in a member's mark
                pending += _more(file, found)
            if not pending.startswith(_GZIP):
                if pending.strip(b"\x00"):  # not the end, and no padding of a tape
                    found.damage(total)
                return
            member = zlib.decompressobj(wbits=31)


def _more(file: IO[bytes], found: Found) -> bytes:
    block = file.read(limits.COMPRESSED_BLOCK_BYTES)
    found.file_bytes += len(block)
    return block


def _check_size(unpacked: int, packed: int, path: Path) -> None:
    if unpacked > limits.UNPACKED_BYTES:
        what = f"it unpacks to more than {limits.UNPACKED_BYTES} bytes"
    elif (
        unpacked > limits.UNPACKED_FREE_BYTES
        and unpacked > packed * limits.UNPACKED_RATIO
    ):
        what = (
            f"{packed} bytes unpack to more than {limits.UNPACKED_RATIO} times as many"
        )
    else:
        return
    raise RegistryError(finding(V004, str(path), what))


def _begin(block: bytes, path: Path) -> bytes:
    """The first block, its byte order mark blanked, if it can be JSON.

    Raises:
        RegistryError: V002, it is another format.
    """
    if block.startswith(_BOM):
        block = b"   " + block[len(_BOM) :]
    text = block.lstrip(_SPACE)
    if text[:1] in {b"[", b"{"}:
        return block
    what = next((name for magic, name in _MAGIC if block.startswith(magic)), None)
    if what is None:
        what = next((name for magic, name in _MAGIC if text.startswith(magic)), None)
    if what is None:
        what = "binary data" if b"\x00" in block[:4096] else "text, but no JSON"
    raise RegistryError(finding(V002, str(path), f"it is {what}"))


class Window:
    """The part of a trace's text that is held: what was not yet understood.

    Attributes:
        data: the bytes held; those before `at` are done with.
        at: where the rest begins in `data`.
        ended: whether `data` reaches to the end of the text.
        doubtful: up to which offset the text is to be read with care.

    """

    __slots__ = ("_before", "_source", "at", "data", "doubtful", "ended")

    def __init__(self, source: Iterator[bytes]) -> None:
        """Begin before the first block."""
        self._source = source
        self._before = 0
        self.data = b""
        self.at = 0
        self.ended = False
        self.doubtful = 0

    @property
    def offset(self) -> int:
        """Where the rest begins in the text of the file, in bytes."""
        return self._before + self.at

    def __len__(self) -> int:
        """How many bytes are left in the window."""
        return len(self.data) - self.at

    def fill(self, size: int) -> bool:
        """Hold at least so many bytes, if the text has them.

        Returns:
            Whether something was added.
        """
        if len(self) >= size or self.ended:
            return False
        parts, have = [self.data[self.at :]], len(self)
        before = have
        while have < size:
            block = next(self._source, None)
            if block is None:
                self.ended = True
                break
            parts.append(block)
            have += len(block)
        self._before += self.at
        self.data, self.at = b"".join(parts), 0
        return have > before

    def peek(self) -> bytes:
        """The next byte that is no space, left in place; empty at the end."""
        while True:
            blank = _BLANK.match(self.data, self.at)
            self.at = self.at if blank is None else blank.end()
            if self.at < len(self.data):
                return self.data[self.at : self.at + 1]
            if not self.fill(1):
                return b""
