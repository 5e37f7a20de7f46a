"""What `powerkit trace memory` reads and prints."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, TextIO

from registry.documents.findings import Finding, RegistryError
from registry.gate.report import as_documents
from tools.commands.tables import as_csv, as_markdown
from tools.commands.traces_output import opened, print_rows
from tools.commands.traces_reading import each_file, files_of
from tools.traces.allocations import Calls
from tools.traces.choices import MemoryForm, Size
from tools.traces.found import Found
from tools.traces.memory import Change, MemoryUse, read_memory
from tools.traces.writing import TraceWriter, microseconds

__all__ = ["Followed", "as_cpp", "followed", "print_memory"]

SCHEMA: Final = "trace-memory/1"
LEFT: Final = ("file", "model", "process", "device")


@dataclass(frozen=True, slots=True)
class Followed:
    """The memory of all traces, and what was wrong with files passed over."""

    uses: list[MemoryUse]
    findings: list[Finding]


def followed(
    paths: Sequence[Path],
    calls: Calls,
    counter: Path | None,
    output: Path | None,
    *,
    hidden: bool,
) -> Followed:
    """Follow the allocations of some traces.

    Args:
        paths: files and folders.
        calls: which events allocate and free.
        counter: where to write live memory as a trace, if anywhere.
        output: where the result will be written, which must be none of the traces.
        hidden: whether to say nothing of the progress.

    Raises:
        RegistryError: a path that was named is no trace; all problems at once.
    """
    chosen = files_of(paths, output, counter)
    writing = nullcontext(None) if counter is None else TraceWriter(counter)
    with writing as trace:
        many = sum(len(each.files) for each in chosen) > 1
        lanes = None if trace is None else _Lanes(trace, many=many)

        def read(path: Path, report: Callable[[Found], None]) -> MemoryUse:
            if lanes is None:
                return read_memory(path, calls, report=report)
            return read_memory(path, calls, changed=lanes.of(path), report=report)

        uses, refused, problems = each_file(chosen, read, hidden=hidden)
        if problems:
            raise RegistryError(problems)
    return Followed(uses, refused)


class _Lanes:
    """Processes of the counter trace; those of several files are numbered anew."""

    def __init__(self, trace: TraceWriter, *, many: bool) -> None:
        self.trace = trace
        self.many = many
        self.numbers: dict[tuple[Path, int | str], int | str] = {}

    def of(self, path: Path) -> Callable[[Change], None]:
        return lambda change: self.trace.write(self._events(path, change))

    def _events(self, path: Path, change: Change) -> Iterator[dict[str, Any]]:
        key = path, change.pid
        if key not in self.numbers:
            own = len(self.numbers) + 1
            self.numbers[key] = own if self.many else change.pid
            yield {
                "name": "process_name",
                "ph": "M",
                "pid": self.numbers[key],
                "args": {"name": f"{path.name}: process {change.pid}"},
            }
        yield {
            "name": "live memory",
            "ph": "C",
            "ts": microseconds(change.ns),
            "pid": self.numbers[key],
            "args": {f"{change.device or 'device'} bytes": change.live},
        }


def print_memory(
    done: Followed, form: MemoryForm, size: Size, output: Path | None
) -> None:
    """Print what was followed.

    Args:
        done: the memory of all traces.
        form: how.
        size: which size `cpp` prints.
        output: a file to print to; standard output if None.
    """
    rows = [row for use in done.uses for row in _rows(use)]
    with opened(output) as out:
        if form is MemoryForm.JSON:
            _print_json(done, out)
        elif form is MemoryForm.CPP:
            out.write(as_cpp(done.uses, size))
        elif form is MemoryForm.CSV:
            out.write(as_csv(rows))
        elif form is MemoryForm.TSV:
            out.write(_as_tsv(rows))
        elif form is MemoryForm.MD:
            out.write(as_markdown(rows))
        elif rows:
            print_rows([_short(row) for row in rows], out, left=LEFT)
            for use in done.uses:
                out.writelines(f"{use.path}: {note}\n" for note in _notes(use))
        else:
            out.write("no event allocates or frees memory\n")


def as_cpp(uses: Sequence[MemoryUse], size: Size) -> str:
    """A C++ map from each model to its size, the largest if it has several traces."""
    sizes: dict[str, int] = {}
    for use in uses:
        name = use.model or use.path.name.removesuffix(".gz").removesuffix(".json")
        total = sum(int(getattr(row, f"{size}_bytes")) for row in use.rows)
        sizes[name] = max(total, sizes.get(name, 0))
    lines = [f"    {{{_quoted(name)}, {value}u}},\n" for name, value in sizes.items()]
    return (
        "#include <cstddef>\n#include <map>\n#include <string>\n\n"
        "static const std::map<std::string, size_t> model_internal_memory_usage = {\n"
        f"{''.join(lines)}}};\n"
    )


def _quoted(text: str) -> str:
    """A C++ string literal of nothing but printable ASCII."""
    plain = "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}"
        for byte in text.encode("utf-8", "replace")
    )
    return f'"{plain}"'


def _rows(use: MemoryUse) -> Iterator[dict[str, Any]]:
    for row in use.rows:
        yield {"file": str(use.path), "model": use.model or ""} | asdict(row)


def _short(row: dict[str, Any]) -> dict[str, Any]:
    """The columns that a terminal has room for, and others where they say something."""
    names = {
        "file": "file",
        "model": "model",
        "process": "process",
        "device": "device",
        "allocations": "allocations",
        "total_bytes": "total",
        "peak_bytes": "peak",
        "leaked_bytes": "leaked",
        "frees": "frees",
        "unmatched_frees": "unmatched",
        "double_allocations": "doubled",
    }
    return {title: row[name] for name, title in names.items()}


def _notes(use: MemoryUse) -> Iterator[str]:
    for row in use.rows:
        where = f"process {row.process}" + (f", {row.device}" if row.device else "")
        if row.peak_ns is not None:
            yield f"{where}: most live at {row.peak_ns / 1e6:,.3f} ms"
        if row.reported_peak_bytes is not None:
            yield f"{where}: its allocator reports a peak: {row.reported_peak_bytes:,}"
        if row.negative_sizes:
            yield f"{where}: {row.negative_sizes} of negative size, taken as frees"
        if row.without_size:
            yield f"{where}: {row.without_size} allocations of unknown size, left out"
    if use.without_time or use.without_end:
        lacking = f"{use.without_time} calls without time"
        yield f"{lacking}, {use.without_end} without size and end, left out"


def _as_tsv(rows: Sequence[dict[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, dialect="excel-tab", lineterminator="\n")
    if rows:
        writer.writerow(rows[0])
    for row in rows:
        writer.writerow("" if value is None else value for value in row.values())
    return out.getvalue()


def _print_json(done: Followed, out: TextIO) -> None:
    document = {
        "schema": SCHEMA,
        "traces": [
            {
                "path": str(use.path),
                "model": use.model,
                "without_time": use.without_time,
                "without_end": use.without_end,
                "devices": [asdict(row) for row in use.rows],
            }
            for use in done.uses
        ],
        "refused": as_documents(done.findings),
    }
    json.dump(document, out, indent=2, sort_keys=True, allow_nan=False)
    out.write("\n")
