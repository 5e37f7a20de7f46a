"""What `powerkit trace combine` and `powerkit trace validate` print."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from registry.documents.findings import Finding, Severity, finding
from registry.gate.report import as_documents, print_findings
from tools.commands.tables import counted
from tools.commands.traces_told import print_document, print_line, print_table
from tools.traces.combination import Combined, Part
from tools.traces.containers import V003
from tools.traces.damage import V011, damage
from tools.traces.found import Found
from tools.traces.sources import Sources

if TYPE_CHECKING:
    from tools.traces.validating import Validated  # loads numpy

__all__ = ["print_combined", "print_validated"]


def print_combined(done: Combined, sources: Sources, *, json_output: bool) -> None:
    """Print what became of each file, and what was wrong with it."""
    findings = [one for part in done.parts for one in _warnings(part)]
    if json_output:
        document = {
            "schema": "trace-combine/1",
            "output": str(done.output),
            "events": done.events,
            "display_time_unit": done.display_time_unit,
            "files": [_part(part) for part in done.parts],
            "passed_over": [
                {"path": str(path), "reason": reason}
                for path, reason in sources.passed_over
            ],
            "findings": as_documents(findings),
        }
        print_document(document)
        return
    rows = [_row(part) for part in done.parts]
    columns = [
        number
        for number in range(len(_HEADS))
        if number < _ALWAYS or any(row[number] for row in rows)
    ]
    print_table(
        [_HEADS[number] for number in columns],
        [[row[number] for number in columns] for row in rows],
    )
    for line in _passed_over(sources):
        print_line(line)
    files = counted(len(done.parts), "file")
    print_line(f"{done.output}: {done.events:,} events of {files}")
    print_findings(findings, file=sys.stderr)


def print_validated(
    done: Sequence[Validated], refused: Sequence[Finding], *, json_output: bool
) -> None:
    """Print what each file holds, and every problem."""
    findings = [*refused, *(one for each in done for one in each.findings)]
    if json_output:
        document = {
            "schema": "trace-validate/1",
            "valid": not refused and all(one.valid for one in done),
            "files": [
                {"path": str(one.path), "valid": one.valid, "phases": one.phases}
                | _found(one.found)
                for one in done
            ],
            "findings": as_documents(findings),
        }
        print_document(document)
        return
    print_table(
        ("file", "form", "events", "phases", "valid"),
        [
            (
                one.path,
                one.found.container + " in gzip" * one.found.compressed,
                one.found.events,
                " ".join(f"{phase}:{count}" for phase, count in _often(one.phases)),
                "yes" if one.valid else "no",
            )
            for one in done
        ],
    )
    print_findings(findings)


_HEADS: Final = (
    "file",
    "events",
    "written",
    "processes",
    "renumbered",
    "offset µs",
    "ids replaced",
    "ignored",
    "taken out µs",
    "renamed",
    "lost",
    "other values",
    "no time",
)
_ALWAYS: Final = 5
"""How many columns are shown even if nothing stands in them."""


_TOLD: Final = 3
"""Of how many files that are no traces each is told why."""


def _often(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """The most frequent first; equal ones by name."""
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))


def _passed_over(sources: Sources) -> list[str]:
    """Say which files of folders were not used; many that are no traces by name."""
    strange = [path for path, why in sources.passed_over if why.startswith(V003.id)]
    if len(strange) <= _TOLD:
        strange = []
    lines = [
        f"passed over: {path} {why}"
        for path, why in sources.passed_over
        if path not in strange
    ]
    if strange:
        names = _often(Counter(path.name for path in strange))
        told = ", ".join(f"{count} x {name}" for name, count in names[:_TOLD])
        more = " and others" * (len(names) > _TOLD)
        lines.append(f"passed over, no traces: {told}{more}; --json says why")
    return lines


def _row(part: Part) -> tuple[object, ...]:
    return (
        part.label,
        part.found.events,
        part.written,
        part.processes,
        part.renumbered,
        part.offset_ns / 1000,
        part.relinked,
        part.ignored,
        part.taken_out_ns / 1000,
        part.renamed,
        part.found.bad_events,
        part.found.not_objects,
        part.untimed,
    )


def _warnings(part: Part) -> list[Finding]:
    """What was wrong with a file that was combined all the same."""
    findings = damage(part.path, part.found)
    if part.late:
        what = "some are above 9.0e12 µs, where viewers lose nanoseconds"
        findings.append(finding(V011, str(part.path), what))
    return [
        Finding(one.path, one.line, one.code, Severity.WARNING, one.what, one.fix)
        for one in findings
    ]


def _part(part: Part) -> dict[str, Any]:
    return {
        "path": str(part.path),
        "label": part.label,
        "offset_ns": part.offset_ns,
        "taken_out_ns": part.taken_out_ns,
        "written": part.written,
        "ignored": part.ignored,
        "unmatched_ignored": part.unmatched_ignored,
        "renamed": part.renamed,
        "processes": part.processes,
        "renumbered": part.renumbered,
        "ids_replaced": part.relinked,
        "repeated_names": part.repeated_names,
        "without_time": part.untimed,
    } | _found(part.found)


def _found(found: Found) -> dict[str, Any]:
    return {
        "container": found.container,
        "compressed": found.compressed,
        "unterminated": found.unterminated,
        "events": found.events,
        "salvaged": found.salvaged,
        "bad_events": found.bad_events,
        "not_objects": found.not_objects,
        "bad_utf8": found.bad_utf8,
        "not_numbers": found.not_numbers,
        "bytes": found.bytes_read,
        "corrupt": found.corrupt,
        "corrupt_at": list(found.corrupt_at),
        "metadata": sorted(found.metadata),
        "metadata_left_out": list(found.metadata_left_out),
    }
