"""Make one packet of a change: everything that a maintainer should see of it.

    packet = make_packet(open_proposal(repo, "main", "HEAD", now=now))

Equal commits, author and time give equal packets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.gate.verify_change import verify_change
from registry.review.overview import (
    files_section,
    findings_section,
    glance_section,
    title_of,
)
from registry.review.page import Packet
from registry.review.parts import Parts

if TYPE_CHECKING:
    from collections.abc import Callable

    from registry.gate.outcome import Report
    from registry.review.proposal import Proposal

__all__ = ["make_packet"]


def make_packet(
    proposal: Proposal,
    report: Report | None = None,
    *,
    jobs: int = 1,
    expectations: bool = True,
    models: bool = True,
    progress: Callable[[str], None] | None = None,
) -> Packet:
    """Make the packet of a change.

    Args:
        proposal: the change.
        report: what the gate says of it; by default it is asked, without GitHub.
        jobs: processes that fit models; the packet does not depend on it.
        expectations: whether to run the expectation suite.
        models: whether to fit models, which takes minutes where recordings are long.
        progress: called with lines for people.
    """
    show = progress or (lambda _: None)
    if report is None:
        show("verifying the change")
        author = proposal.author
        report = verify_change(
            proposal.repo,
            proposal.base,
            proposal.head,
            author=None if author is None else author.id,
            published_keys=None if author is None else author.keys,
            now=proposal.now,
            expectations=expectations,
        )
    parts = Parts(proposal, report, jobs=jobs, models=models, progress=show)
    sections = [*parts.sections(), files_section(proposal)]
    if report.findings:
        sections.insert(0, findings_section(report.findings))
    sections.insert(0, glance_section(proposal, report, sections))
    title = title_of(proposal)
    return Packet(title, proposal.kind, proposal.base, proposal.head, tuple(sections))
