"""What is wrong with the text of a trace, as findings, wherever it is read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from registry.documents.findings import Finding, Severity, code, finding
from tools.traces.blocks import blocks
from tools.traces.found import Found

__all__ = ["V011", "damage", "lines_of"]

V005 = code(
    "V005",
    Severity.WARNING,
    "A trace ends before its end.",
    "Nothing, if the program was stopped; what it had written is used.",
)
V006 = code(
    "V006",
    Severity.ERROR,
    "A trace is corrupt.",
    "Let each program write to a file of its own; the events that are whole are used.",
)
V007 = code(
    "V007",
    Severity.WARNING,
    "The events of a trace are mixed with other values.",
    "Write objects only; the other values are left out.",
)
V008 = code(
    "V008",
    Severity.WARNING,
    "The text of a trace is no UTF-8.",
    "Write names as UTF-8; bytes that are none became U+FFFD.",
)
V009 = code(
    "V009",
    Severity.WARNING,
    "A trace has numbers that JSON does not.",
    "Leave NaN and Infinity out; they became null.",
)
V010 = code(
    "V010",
    Severity.WARNING,
    "A trace tells too much beside its events.",
    "Keep other keys small; those above 16 MiB in all are left out.",
)
V011 = code(
    "V011",
    Severity.WARNING,
    "Times of a trace are too large to be exact.",
    "Move them with `powerkit trace combine FILE --zero -o OUT`.",
)

_LINES_SHOWN: Final = 3


def damage(path: Path, found: Found, *, lines: Sequence[int] = ()) -> list[Finding]:
    """What reading a file met.

    Args:
        path: the file.
        found: what was found, after all of it was read.
        lines: the lines of the corrupt places, as `lines_of` gives them.
    """
    name, findings = str(path), []
    if found.corrupt or found.bad_events:
        places = ", ".join(
            f"byte {offset}" for offset in found.corrupt_at[:_LINES_SHOWN]
        )
        more = found.corrupt - len(found.corrupt_at[:_LINES_SHOWN])
        what = f"corrupt at {places}" if places else "its last event is cut off"
        if more > 0:
            what += f" and {more} more places"
        what += f"; {found.bad_events} events are lost, {found.salvaged} salvaged"
        what += f" of {found.events} that are used"
        line = lines[0] if lines else None
        # A file that only ends too early is as its program left it.
        severity = None if found.corrupt else Severity.WARNING
        findings.append(finding(V006, name, what, line=line, severity=severity))
    if found.unterminated:
        what = f"the {found.container or 'file'} is not closed"
        findings.append(finding(V005, name, what))
    for declared, count, what in (
        (V007, found.not_objects, "values are no objects"),
        (V008, found.bad_utf8, "bytes are no UTF-8"),
        (V009, found.not_numbers, "events had NaN or Infinity"),
    ):
        if count:
            findings.append(finding(declared, name, f"{count} {what}"))
    if found.metadata_left_out:
        what = f"left out: {', '.join(found.metadata_left_out[:10])}"
        findings.append(finding(V010, name, what))
    return findings


def lines_of(path: Path, offsets: Sequence[int]) -> list[int]:
    """The lines, from 1, in which some bytes of a file's text stand.

    None of a pipe, which cannot be read again.

    Raises:
        OSError: the file cannot be read.
        RegistryError: it is no trace any more.
    """
    lines: list[int] = []
    wanted = sorted(offsets) if path.is_file() else []
    line, begin = 1, 0
    for block in blocks(path, Found()) if wanted else ():
        while wanted and wanted[0] < begin + len(block):
            at = wanted.pop(0) - begin
            lines.append(line + block.count(b"\n", 0, at))
        if not wanted:
            break
        line += block.count(b"\n")
        begin += len(block)
    return lines
