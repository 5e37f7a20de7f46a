"""Writes a recording as CSV, and reads it back strictly and within bounds.

The first line is ``# `` and one line of JSON: the schema recording/1, the start on both
clocks, and for each column its unit, kind, wrap and origin. The second line has the
names, and each further line is a row: ``time_seconds`` since the first row, the raw
readings as exact decimal numbers of units, and for each source when its read began
after ``time_seconds`` and how long it took. What is missing is empty.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, Literal

import msgspec

from registry.documents import limits
from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
    shown,
)
from tools.files.writing import whole
from tools.readings.series import Gaps, Missing, Series, decimal_text
from tools.recording.recording import CELLS, Pace, Recording

__all__ = ["read_recording", "write_recording"]

BAD: Final = code(
    "O020",
    Severity.ERROR,
    "A file is no recording of this kit.",
    "Give a file that `powerkit monitor --samples` wrote, unchanged.",
)
BAD_ROW: Final = code(
    "O021",
    Severity.ERROR,
    "A row of a recording cannot be read.",
    "Record again, or take the unchanged file.",
)

_FILE_BYTES: Final = 1024 * limits.MIB
_ROW_BYTES: Final = 256 * limits.KIB
_COLUMNS: Final = 4096
_PROBLEMS: Final = 20
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,95}")
_TIME_DECIMALS: Final = 9
_FIRST_ROW: Final = 3


@dataclass(frozen=True, slots=True)
class _Header:
    """The first line of a file."""

    started_monotonic_ns: int
    started_epoch_ns: int
    pace: Pace
    columns: tuple[Series, ...]
    sources: tuple[str, ...]
    missing: tuple[Missing, ...] = ()
    gaps: tuple[tuple[str, str, int], ...] = ()
    full: bool = False
    schema: Literal["recording/1"] = "recording/1"


def write_recording(recording: Recording, path: Path) -> None:
    """Write a recording whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    with whole(path) as part, part.open("xb") as file:
        file.write(b"# " + msgspec.json.encode(_header(recording)) + b"\n")
        file.write(",".join(_names(recording.columns, recording.sources)).encode())
        file.write(b"\n")
        for line in _lines(recording):
            file.write(line.encode())


def read_recording(path: Path) -> Recording:
    """Read a recording.

    Raises:
        RegistryError: O020, it is no recording; O021, rows that cannot be read, the
            first ones by line.
        OSError: it cannot be read at all.
    """
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > _FILE_BYTES:
            raise RegistryError(
                finding(BAD, str(path), f"it has more than {_FILE_BYTES} bytes")
            )
        header = _read_header(file, str(path))
        recording = Recording(
            header.columns,
            header.pace,
            header.missing,
            Gaps({(series, why): count for series, why, count in header.gaps}),
            header.started_epoch_ns,
            full=header.full,
        )
        problems = _read_rows(file, recording, header, str(path))
    if problems:
        raise RegistryError(problems)
    return recording


def _header(recording: Recording) -> _Header:
    return _Header(
        recording.times_ns[0] if len(recording) else 0,
        recording.started_epoch_ns,
        recording.pace,
        recording.columns,
        recording.sources,
        recording.missing,
        tuple(
            (series, why, count)
            for (series, why), count in recording.gaps.counts.items()
        ),
        recording.full,
    )


def _names(columns: tuple[Series, ...], sources: tuple[str, ...]) -> list[str]:
    names = ["time_seconds", *(one.name for one in columns)]
    for source in sources:
        names += [f"read_{source}_offset_seconds", f"read_{source}_seconds"]
    return names


def _lines(recording: Recording) -> Iterator[str]:
    decimals = [one.decimals for one in recording.columns]
    times = recording.times_ns
    for row, time_ns in enumerate(times):
        cells = [decimal_text(time_ns - times[0], _TIME_DECIMALS)]
        for reading, places in zip(recording.row(row), decimals, strict=True):
            cells.append("" if reading is None else decimal_text(reading, places))
        for source in recording.sources:
            start = recording.starts_ns[source][row] - time_ns
            cells.append(decimal_text(start, _TIME_DECIMALS))
            took = recording.took_ns[source][row]
            cells.append(decimal_text(took, _TIME_DECIMALS))
        yield ",".join(cells) + "\n"


def _read_header(file: IO[bytes], path: str) -> _Header:
    line = file.readline(limits.JSON_BYTES + 1)
    if not line.startswith(b"# {") or not line.endswith(b"\n"):
        what = "its first line is not # and JSON, of at most 1 MiB"
        raise RegistryError(finding(BAD, path, what, line=1))
    try:
        header = msgspec.json.decode(line[2:], type=_Header)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        what = f"its first line: {error or 'it is nested too deep'}"
        raise RegistryError(finding(BAD, path, what, line=1)) from None
    problems = [finding(BAD, path, what, line=1) for what in _wrong(header)]
    if not problems:
        wanted = ",".join(_names(header.columns, header.sources)).encode() + b"\n"
        if file.readline(len(wanted) + 1) != wanted:
            what = "the names of its columns are not those of its first line"
            problems.append(finding(BAD, path, what, line=2))
    if problems:
        raise RegistryError(problems)
    return header


def _wrong(header: _Header) -> Iterator[str]:
    """What cannot be true of a header."""
    names = [one.name for one in header.columns]
    if len(names) > _COLUMNS:
        yield f"it has more than {_COLUMNS} columns"
        return
    for name in sorted({name for name in names if names.count(name) > 1})[:_PROBLEMS]:
        yield f"the column {shown(name)} appears twice"
    sources = list(dict.fromkeys(one.source for one in header.columns))
    if sources != list(header.sources):
        yield "its sources are not those of its columns"
    bad = [name for name in (*names, *sources) if not _NAME.fullmatch(name)]
    for name in bad[:_PROBLEMS]:
        yield f"{shown(name)} is no name of a column or source"
    for one in header.columns:
        yield from _wrong_column(one)
    if header.pace.interval_ns <= 0:
        yield "its interval is not positive"
    if not 0 <= header.started_monotonic_ns < 2**62:
        yield "its start is out of range"


def _wrong_column(one: Series) -> Iterator[str]:
    """What cannot be true of a column."""
    if not 0 <= one.decimals <= _TIME_DECIMALS:
        yield f"the column {shown(one.name)} has {one.decimals} decimals"
    if one.modulus is not None and one.modulus <= 0:
        yield f"the column {shown(one.name)} begins again at {one.modulus}"
    if one.rate_maximum is not None and not one.rate_maximum > 0:
        yield f"the column {shown(one.name)} has a largest rate of 0 or less"
    if one.update_seconds is not None and not one.update_seconds > 0:
        yield f"the column {shown(one.name)} is renewed in no time"


def _read_rows(
    file: IO[bytes], recording: Recording, header: _Header, path: str
) -> list[Finding]:
    problems: list[Finding] = []
    places = [_TIME_DECIMALS, *(one.decimals for one in header.columns)]
    places += [_TIME_DECIMALS] * (2 * len(header.sources))
    before = -1
    number = _FIRST_ROW - 1
    while line := file.readline(_ROW_BYTES + 1):
        number += 1
        if len(line) > _ROW_BYTES or not recording.has_room:
            what = f"it holds more than {CELLS} numbers or a line is too long"
            problems.append(finding(BAD, path, what, line=number))
            break
        try:
            before = _append(recording, header, line, places, before)
            if number == _FIRST_ROW and before:
                raise ValueError("the first row is not at 0 seconds")  # noqa: TRY301
        except ValueError as error:
            problems.append(finding(BAD_ROW, path, str(error), line=number))
        if len(problems) >= _PROBLEMS:
            problems.append(finding(BAD_ROW, path, "more rows are not looked at"))
            break
    return problems


def _append(
    recording: Recording,
    header: _Header,
    line: bytes,
    places: list[int],
    before: int,
) -> int:
    """Add a row; give its time since the start.

    Raises:
        ValueError: it is no row, and why.
    """
    if not line.endswith(b"\n"):
        raise ValueError("the line does not end: the file was cut")
    cells = line[:-1].split(b",")
    if len(cells) != len(places):
        raise ValueError(f"{len(cells)} cells where {len(places)} belong")
    values = [_steps(cell, place) for cell, place in zip(cells, places, strict=True)]
    width = 1 + len(header.columns)
    time, *reads = values[0], *values[width:]
    if time is None or any(one is None for one in reads):
        raise ValueError("a time is missing")
    if time <= before:
        raise ValueError("its time is not after that of the row before")
    now = header.started_monotonic_ns + time
    pairs = zip(header.sources, reads[::2], reads[1::2], strict=True)
    recording.append(
        now,
        {source: (now + (start or 0), took or 0) for source, start, took in pairs},
        values[1:width],
    )
    return time


def _steps(cell: bytes, decimals: int) -> int | None:
    """Read an exact decimal number of units as steps; None if the cell is empty."""
    if not cell:
        return None
    digits = cell.removeprefix(b"-")
    whole, dot, part = digits.partition(b".")
    fits = len(part) == decimals and bool(dot) == bool(decimals)
    if not whole.isdigit() or not fits or (part and not part.isdigit()):
        raise ValueError(f"{shown(cell.decode('latin-1'))} is no number of its column")
    if len(digits) > 20:  # 2**63 has 19 digits
        raise ValueError("a number is too long")
    steps = int(whole + part)
    if steps >= 2**63:
        raise ValueError("a number is too large")
    return -steps if len(digits) != len(cell) else steps
