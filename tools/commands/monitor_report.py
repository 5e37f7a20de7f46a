"""The report of `powerkit monitor`, as text, table, JSON or YAML."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from registry.documents.findings import shown
from tools.files.writing import write_whole
from tools.recording.recording import Recording
from tools.recording.summary import Summary
from tools.recording.table import COLUMNS, Row, human_bytes, separated, table_rows

if TYPE_CHECKING:
    from tools.processes.child import Ended

__all__ = [
    "document",
    "dumped",
    "how_it_ended",
    "notes",
    "put",
    "separated_rows",
    "table",
]

_MISSING_SHOWN: Final = 20
_WIDE: Final = 250  # where no terminal is, lines are not folded


def document(
    recording: Recording,
    summary: Summary,
    command: Mapping[str, Any] | None,
    *,
    full: bool,
) -> dict[str, Any]:
    """Everything as values for JSON and YAML, by the schema monitor/1."""
    found: dict[str, Any] = summary.document()
    found["missing"] = [asdict(one) for one in recording.missing]
    found["command"] = command
    if full:
        start = recording.times_ns[0] if len(recording) else 0
        found["samples"] = {
            "time_seconds": [(time - start) / 1e9 for time in recording.times_ns],
            **{
                one.name: [
                    None if value is None else value / one.steps
                    for value in recording.readings(one.name)
                ]
                for one in recording.columns
            },
        }
    return found


def dumped(found: Mapping[str, Any], *, yaml: bool) -> str:
    """A document as YAML or JSON."""
    if not yaml:
        return json.dumps(found, indent=2) + "\n"
    import yaml as pyyaml

    # By way of JSON, so that no Python type is left in it.
    plain = json.loads(json.dumps(found))
    text: str = pyyaml.safe_dump(plain, sort_keys=False, allow_unicode=True)
    return text


def separated_rows(
    recording: Recording, summary: Summary, separator: str, *, full: bool
) -> str:
    """The table as CSV or TSV, numbers in base units."""
    return separated(table_rows(summary, recording if full else None), separator)


def table(
    recording: Recording, summary: Summary, *, full: bool, to_file: Path | None
) -> str:
    """The table for people: only columns in which something stands."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    pretty = to_file is None and sys.stdout.isatty() and _speaks_utf8()
    rows = list(table_rows(summary, recording if full else None))
    used = [
        column
        for column in COLUMNS
        if any(row.get(column.name) is not None for row in rows)
    ]
    made = Table(show_edge=False, pad_edge=False, box=box.SQUARE if pretty else None)
    made.add_column("device", no_wrap=True)
    made.add_column("", no_wrap=True)
    if full:
        made.add_column("s", justify="right")
    for column in used:
        made.add_column(column.title, justify="right")
    energies = any(row["statistic"] == "energy" for row in rows)
    if energies:
        made.add_column("energy J", justify="right")
        made.add_column("by")
    before = ""
    for row in rows:
        if before not in ("", row["device"]):
            made.add_section()
        before = str(row["device"])
        cells = [before, str(row["statistic"])]
        if full:
            cells.append(_number(row["time_seconds"], 1, 3))
        cells += [_cell(row, column.name) for column in used]
        if energies:
            cells += [_energy(row), str(row["method"] or "")]
        made.add_row(*(Text(cell) for cell in cells))
    text = io.StringIO()
    width = None if pretty else _WIDE
    Console(file=text, width=width, force_terminal=pretty).print(made)
    # A table without lines is padded to the width of its last column.
    return "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())


def _speaks_utf8() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def notes(recording: Recording, summary: Summary) -> str:
    """How it was recorded, and what is lacking."""
    pace = summary.pace
    times = ", ".join(
        f"{one.source} {one.median_ns / 1e6:.2f} ms" for one in summary.read_times
    )
    every = f"every {pace.interval_ns / 1e6:g} ms"
    kept = f"{every}; {pace.late} late, {pace.missed} missed"
    lines = [
        f"{summary.rows} samples in {summary.seconds:.2f} s, {kept}",
        f"a sample took: {times}" if times else "nothing was read",
    ]
    if recording.gaps.counts:
        failed = sum(recording.gaps.counts.values())
        lines.append(f"{failed} readings failed; they are empty, not 0")
    lacking = [one for one in recording.missing if not one.expected]
    for one in lacking[:_MISSING_SHOWN]:
        what = f"{one.source} {one.what}".rstrip()
        remedy = f". {one.remedy}" if one.remedy else ""
        lines.append(f"not measured: {what}: {one.why}{remedy}")
    if len(lacking) > _MISSING_SHOWN:
        lines.append(f"not measured: {len(lacking) - _MISSING_SHOWN} more")
    lines += [
        f"left out: {one.source} {one.what}: {one.why}"
        for one in recording.missing
        if one.expected
    ]
    return "".join(f"{shown(line, 400)}\n" for line in lines)


def how_it_ended(command: tuple[str, ...], ended: Ended | None) -> str:
    """One line on the command itself."""
    name = shown(Path(command[0]).name)
    if ended is None:
        return f"{name} was ended by us\n"
    how = f"ended with {ended.returncode}"
    if ended.returncode < 0:
        how = f"was ended by signal {-ended.returncode}"
    cpu = ended.user_seconds + ended.system_seconds
    wall = ended.wall_ns / 1e9
    text = f"{name} {how} after {wall:.2f} s; {cpu:.2f} s of processor time"
    if ended.max_rss_bytes is not None:
        text += f", at most {human_bytes(ended.max_rss_bytes)}"
    return f"{text}\n"


def put(text: str, output: Path | None) -> None:
    """Write the report to standard output, or to a file whole or not at all."""
    if output is None:
        sys.stdout.write(text)
        return
    write_whole(output, text)


def _cell(row: Row, name: str) -> str:
    column = next(one for one in COLUMNS if one.name == name)
    value = row.get(name)
    if column.human:
        return str(row.get(f"human_{name.removesuffix('_bytes')}") or "")
    return _number(value, column.scale, column.digits)


def _number(value: object, scale: float, digits: int) -> str:
    return f"{value / scale:.{digits}f}" if isinstance(value, int | float) else ""


def _energy(row: Row) -> str:
    if row["statistic"] != "energy":
        return ""
    value = row["energy_joules"]
    return "unknown" if value is None else _number(value, 1, 1)
