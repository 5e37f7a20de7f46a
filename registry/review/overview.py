"""What stands around the parts of a packet: its title, a glance, findings and files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from registry.documents.findings import Severity
from registry.gate.paths import contribution
from registry.gate.report import counted
from registry.review.page import Code, Listing, Paragraph, Section, Table
from registry.review.trust_change import approvals_facts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.documents.findings import Finding
    from registry.gate.outcome import Report
    from registry.review.page import Cell
    from registry.review.proposal import Proposal

__all__ = ["files_section", "findings_section", "glance_section", "title_of"]

_PATHS: Final = 200


def title_of(proposal: Proposal) -> tuple[Cell, ...]:
    """Say what the change is."""
    dataset = Code(proposal.dataset or "")
    if proposal.kind == "bundle":
        return "Review of bundle ", dataset
    if proposal.kind == "withdrawal":
        return "Review of the withdrawal of ", dataset
    if proposal.kind == "trust":
        return ("Review of a change of trust",)
    return ("Review of a change without data or trust",)


def glance_section(
    proposal: Proposal, report: Report, sections: Sequence[Section]
) -> Section:
    """Say first what matters most."""
    said = counted(report.findings)
    verdict = "The gate refuses it" if report.refused else "The gate lets it pass"
    points: list[tuple[Cell, ...]] = [(f"{verdict}: {said}.",)]
    if proposal.kind in ("code", "other"):
        count = len(proposal.changed)
        points = [
            (f"It touches {count} files and no bundle, withdrawal or trust file.",),
            ("The gate and this packet judge data; read this change as code.",)
            if count
            else ("The main branch has all of it already.",),
        ]
        if report.findings:
            points.append((f"{verdict}: {said}.",))
    elif proposal.author is None:
        text = "Nobody knows here who proposes this; with its number GitHub is asked: "
        points.append((text, Code("registry"), " ", Code("review"), " NUMBER"))
    if len(proposal.datasets) > 1:
        text = f"It touches {len(proposal.datasets)} datasets; only the first is shown."
        points.append((text,))
    approvals = approvals_facts(proposal, report.approvals)
    if approvals:
        text = f"It needs {approvals['needed']} approvals of maintainers"
        given = "." if report.approvals is None else f", has {report.approvals}."
        points.append((text + given,))
    points += [note for one in sections for note in one.notes]
    facts = {
        "refused": report.refused,
        "findings": len(report.findings),
        "files": len(proposal.changed),
        "approvals": approvals,
    }
    return Section("glance", "At a glance", (Listing(tuple(points)),), facts)


def findings_section(findings: tuple[Finding, ...]) -> Section:
    """List everything that the gate found, errors first."""
    ranked = sorted(findings, key=lambda one: list(Severity).index(one.severity))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            Code(one.code),
            one.severity.value,
            Code(one.path if one.line is None else f"{one.path}:{one.line}"),
            one.what,
            one.fix,
        )
        for one in ranked
    )
    columns = ("code", "severity", "where", "what", "what to do")
    facts = {
        "findings": [
            {
                "code": one.code,
                "severity": one.severity.value,
                "path": one.path,
                "line": one.line,
                "what": one.what,
            }
            for one in ranked
        ]
    }
    table = Table("All findings, errors first", columns, rows)
    return Section("findings", "Findings of the gate", (table,), facts)


def files_section(proposal: Proposal) -> Section:
    """List the files that differ: what a change of data touches besides shows here."""
    rows = tuple(
        (
            Code(one.path),
            one.status,
            "contribution" if contribution(one.path) else "code or other",
        )
        for one in proposal.changed[:_PATHS]
    )
    blocks: list[Table | Paragraph] = [
        Table("Files that differ", ("file", "status", "kind"), rows)
    ]
    if len(proposal.changed) > _PATHS:
        text = f"{len(proposal.changed) - _PATHS} more files differ."
        blocks.append(Paragraph.of(text))
    facts = {"files": [one.path for one in proposal.changed[:_PATHS]]}
    return Section("files", "Files", tuple(blocks), facts)
