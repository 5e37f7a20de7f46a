"""What a verification says: all findings in one fixed order, and the full results."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from registry.documents.canonical import Json
from registry.documents.findings import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from registry.documents.findings import Finding

__all__ = ["Outcome", "Report", "extended", "in_order"]


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a verification.

    Attributes:
        findings: all findings, each once, ordered by path, line and code.
        bundles: how many bundles were looked at.
        seconds: how long it took.
        expectation_results: full result of the expectations by dataset.
        approvals: how many approvals a change of trust has that count; None if GitHub
            was not asked.
    """

    findings: tuple[Finding, ...]
    bundles: int
    seconds: float
    expectation_results: dict[str, Json]
    approvals: int | None = None

    @property
    def refused(self) -> bool:
        """Whether any finding is an error."""
        return any(one.severity is Severity.ERROR for one in self.findings)


@dataclass(slots=True)
class Outcome:
    """A report in the making.

    Attributes:
        findings: findings so far.
        bundles: bundles so far.
        results: expectation results so far.
        began: when, on the monotonic clock.
    """

    findings: list[Finding] = field(default_factory=list)
    bundles: int = 0
    results: dict[str, Json] = field(default_factory=dict)
    began: float = field(default_factory=time.perf_counter)

    def report(self) -> Report:
        """The finished report."""
        return Report(
            findings=in_order(self.findings),
            bundles=self.bundles,
            seconds=time.perf_counter() - self.began,
            expectation_results=dict(sorted(self.results.items())),
        )


def extended(report: Report, findings: Iterable[Finding]) -> Report:
    """A report with further findings."""
    return replace(report, findings=in_order([*report.findings, *findings]))


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings without repetition, by path, line, code and text."""
    return tuple(
        sorted(
            set(findings),
            key=lambda one: (one.path, one.line or 0, one.code, one.what, one.fix),
        )
    )
