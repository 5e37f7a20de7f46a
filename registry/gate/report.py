"""Show findings: as text, table, JSON, GitHub annotations or Markdown.

All escaping is here. Texts of findings are printable already; what remains is to keep
them from meaning anything to the place where they are shown (threat-model.md W4).
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from typing import TYPE_CHECKING, TextIO

from registry.documents.findings import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from registry.documents.findings import Finding
    from registry.gate.outcome import Report

__all__ = [
    "as_documents",
    "as_json",
    "as_text",
    "counted",
    "print_findings",
    "print_report",
    "step_summary",
    "workflow_commands",
]

_ORDER = (Severity.ERROR, Severity.WARNING, Severity.INFO)
_COMMANDS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFO: "notice",
}
_STYLES = {
    Severity.ERROR: "bold red",
    Severity.WARNING: "yellow",
    Severity.INFO: "cyan",
}
_SUMMARY_BYTES = 900_000
"""GitHub refuses a step summary of more than 1 MiB."""


def counted(findings: Iterable[Finding]) -> str:
    """One line: how many findings of each severity there are."""
    count = Counter(one.severity for one in findings)
    parts = [
        f"{count[severity]} {severity.value}{'' if count[severity] == 1 else 's'}"
        for severity in _ORDER[:2]
    ]
    if count[Severity.INFO]:
        parts.append(f"{count[Severity.INFO]} info")
    return ", ".join(parts)


def as_json(findings: Sequence[Finding], bundles: int | None = None) -> str:
    """Findings as a document of the schema findings/1, for programs.

    The same findings always give the same text; it holds no time and no host.
    """
    count = Counter(one.severity for one in findings)
    document: dict[str, object] = {
        "schema": "findings/1",
        "errors": count[Severity.ERROR],
        "warnings": count[Severity.WARNING],
        "findings": as_documents(findings),
    }
    if bundles is not None:
        document["bundles"] = bundles
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=True) + "\n"


def as_documents(findings: Iterable[Finding]) -> list[dict[str, object]]:
    """Findings as they stand in any document for programs."""
    return [
        {
            "path": one.path,
            "line": one.line,
            "code": one.code,
            "severity": one.severity.value,
            "what": one.what,
            "fix": one.fix,
        }
        for one in findings
    ]


def as_text(findings: Iterable[Finding]) -> str:
    """Findings as plain lines.

    A line never begins with a foreign text, which a runner could take for a command,
    and never holds ``##[``, the older form, which GitHub's runner obeys anywhere.
    """
    lines: list[str] = []
    for one in findings:
        lines.append(f"{one.severity.value} {one.code} {_place(one)}: {one.what}")
        lines.append(f"    fix: {one.fix}")
    return "".join(f"{line}\n" for line in lines).replace("##[", "# #[")


def print_findings(
    findings: Sequence[Finding],
    *,
    json_output: bool = False,
    bundles: int | None = None,
    file: TextIO | None = None,
) -> None:
    """Print findings as a program, a person at a terminal or a log wants them.

    Args:
        findings: what to print.
        json_output: print the findings/1 document instead.
        bundles: how many bundles were looked at, if that is known.
        file: where to; standard output if None.
    """
    out = sys.stdout if file is None else file
    if json_output:
        out.write(as_json(findings, bundles))
    elif out.isatty() and findings:
        _print_table(findings, out)
    else:
        out.write(as_text(findings))


def print_report(report: Report, *, json_output: bool = False) -> None:
    """Print a verification's findings and, for people, one line of summary."""
    print_findings(report.findings, json_output=json_output, bundles=report.bundles)
    if not json_output:
        what = f"{report.bundles} bundle{'' if report.bundles == 1 else 's'}"
        summary = f"{what} verified in {report.seconds:.1f} s: "
        sys.stdout.write(summary + counted(report.findings) + "\n")


def workflow_commands(findings: Iterable[Finding]) -> str:
    """Findings as GitHub workflow commands, the most important first.

    GitHub shows ten errors and ten warnings a step; the step summary has all.
    """
    ranked = sorted(findings, key=lambda one: _ORDER.index(one.severity))
    return "".join(f"{_annotation(one)}\n" for one in ranked)


def step_summary(report: Report) -> str:
    """A verification as a Markdown page for GitHub's step summary."""
    parts = [
        "## Verification of the registry\n\n",
        f"{report.bundles} bundles, {counted(report.findings)}.\n",
    ]
    if report.findings:
        parts.append("\n| | code | where | what | fix |\n|---|---|---|---|---|\n")
    size = sum(map(len, parts))
    for number, one in enumerate(report.findings):
        cells = (one.severity.value, one.code, _place(one), one.what, one.fix)
        row = f"| {' | '.join(_markdown(cell) for cell in cells)} |\n"
        size += len(row)
        if size > _SUMMARY_BYTES:
            parts.append(f"\n{len(report.findings) - number} more are in the log.\n")
            break
        parts.append(row)
    return "".join(parts)


def _place(one: Finding) -> str:
    return one.path if one.line is None else f"{one.path}:{one.line}"


def _annotation(one: Finding) -> str:
    properties = {"file": one.path, "title": one.code}
    if one.line is not None:
        properties["line"] = str(one.line)
    listed = ",".join(f"{key}={_property(text)}" for key, text in properties.items())
    message = _message(f"{one.what}\nFix: {one.fix}")
    return f"::{_COMMANDS[one.severity]} {listed}::{message}"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


def _markdown(text: str) -> str:
    """A text as code whose every mark is an entity: no link, mention, tag or column."""
    plain = "".join(
        char if char.isalnum() or char in " -" else f"&#{ord(char)};" for char in text
    )
    return f"<code>{plain}</code>"


def _print_table(findings: Sequence[Finding], out: TextIO) -> None:
    from rich.console import Console  # noqa: PLC0415 - slow import
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(show_lines=True)
    for title in ("finding", "where", "what is wrong and how to mend it"):
        table.add_column(title, overflow="fold")
    for one in findings:
        style = _STYLES[one.severity]
        table.add_row(
            Text(f"{one.severity.value}\n{one.code}", style=style),
            Text(_place(one)),
            Text(f"{one.what}\n") + Text(one.fix, style="dim"),
        )
    Console(file=out).print(table)
