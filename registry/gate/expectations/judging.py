"""From measures to findings: run the suite, and say in words what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from registry.documents.findings import finding
from registry.gate.expectations.codes import NOT_EVALUATED
from registry.gate.expectations.great import validate
from registry.gate.expectations.suites import suite

if TYPE_CHECKING:
    from registry.documents.bundle import Bundle
    from registry.documents.canonical import Json
    from registry.documents.findings import Finding
    from registry.gate.expectations.great import Verdict
    from registry.gate.expectations.measure import Measure, Measures
    from registry.gate.expectations.suites import Expectation

__all__ = ["judge"]

_SHOWN: Final = 4
"""How many of the offending runs or columns a finding names."""


def judge(bundle: Bundle, measures: Measures) -> tuple[tuple[Finding, ...], Json]:
    """Judge measures by the suite of the bundle's profile."""
    chosen = suite(bundle.manifest.profile)
    outcome = validate(chosen, measures)
    findings = tuple(
        _finding(bundle, chosen.expectation(verdict.id), verdict)
        for verdict in outcome.verdicts
        if not verdict.success
    )
    return findings, outcome.result


def _finding(bundle: Bundle, expected: Expectation, verdict: Verdict) -> Finding:
    path = f"{bundle.path}/{expected.file}"
    if verdict.error:
        what = f"{expected.id}: {verdict.error}"
        return finding(NOT_EVALUATED, path, what)
    texts = {
        "observed": _listed([_observed(item) for item in verdict.unexpected]),
        "subjects": _listed([item.subject for item in verdict.unexpected], " and", ","),
        "min": _number(expected.min_value),
        "max": _number(expected.max_value),
    }
    what = expected.what.format_map(texts)
    return finding(expected.code, path, f"{what} ({expected.id})")


def _observed(item: Measure) -> str:
    number = _number(item.value)
    return f"{item.subject}: {number}" if item.subject else number


def _listed(texts: list[str], last: str = ";", between: str = ";") -> str:
    shown = texts[:_SHOWN] if len(texts) > _SHOWN + 1 else texts
    rest = len(texts) - len(shown)
    if rest:
        return f"{f'{between} '.join(shown)}{last} {rest} more"
    return f"{between} ".join(shown)


def _number(value: float | None) -> str:
    return "nothing" if value is None else f"{value:.4g}"
