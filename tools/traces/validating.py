"""Everything that is wrong with a trace: with its text, its events and their pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from registry.documents.findings import Finding, Severity, code, finding
from tools.traces.damage import V011, damage, lines_of
from tools.traces.found import Found
from tools.traces.summaries import Input, Summary

__all__ = ["Validated", "validate"]

V012 = code(
    "V012",
    Severity.ERROR,
    "Events name no phase that the format knows.",
    "Give each event one of its phases in `ph`.",
)
V013 = code(
    "V013",
    Severity.ERROR,
    "Events have no time.",
    "Give each event a number of microseconds in `ts`.",
)
V014 = code(
    "V014",
    Severity.ERROR,
    "Complete events have no duration, or a negative one.",
    "Give each complete event a number of microseconds in `dur`, at least 0.",
)
V015 = code(
    "V015",
    Severity.WARNING,
    "Beginnings and ends do not match.",
    "End each slice on its own thread, the innermost first.",
)
V016 = code(
    "V016",
    Severity.WARNING,
    "Slices of a thread overlap, so that none is inside the other.",
    "Put them on threads of their own, or write asynchronous events.",
)
V017 = code(
    "V017",
    Severity.WARNING,
    "Arrows have one end only.",
    "Write a start (s) and an end (f) with the same name, category and id.",
)
V018 = code(
    "V018",
    Severity.WARNING,
    "Counters have values that are no numbers, or no time.",
    "Give each counter event a time, and numbers in its args.",
)
V019 = code(
    "V019",
    Severity.WARNING,
    "A trace holds no events.",
    "Nothing, if nothing was to be traced.",
)

LATE_NS: Final = 9 * 10**15
"""9.0e12 µs, above which a double steps by more than a nanosecond."""


@dataclass(frozen=True, slots=True)
class Validated:
    """What a trace holds and what is wrong with it.

    Attributes:
        path: the file.
        found: its form, and what could not be read.
        phases: how many events of each phase it has.
        findings: every problem.

    """

    path: Path
    found: Found
    phases: dict[str, int]
    findings: tuple[Finding, ...]

    @property
    def valid(self) -> bool:
        """Whether nothing in it is an error."""
        return all(one.severity is not Severity.ERROR for one in self.findings)


def validate(path: Path, report: Callable[[Found], None] = lambda _: None) -> Validated:
    """Read a trace to its end and tell what is wrong with it.

    Args:
        path: the file.
        report: is told now and then how far the reading is.

    Raises:
        RegistryError: V001 to V004, it is no trace.
        OSError: it cannot be read.
    """
    seen = Summary().add(path, report)
    found = seen.found
    lines = lines_of(path, found.corrupt_at)
    findings = damage(path, found, lines=lines) + _events(path, seen)
    return Validated(path, found, dict(seen.phases), tuple(findings))


def _events(path: Path, seen: Input) -> list[Finding]:
    """Problems of the events that could be read."""
    odd, flows = seen.troubles, seen.flows
    findings = []
    for declared, parts in (
        (V012, {"events without a known phase": seen.unknown_phases}),
        (V013, {"events without a time": odd.without_time}),
        (
            V014,
            {
                "complete events without a duration": odd.without_duration,
                "with a negative one": odd.negative_duration,
            },
        ),
        (
            V015,
            {
                "ends where nothing was open": odd.unmatched_ends,
                "ends of another name than anything open": odd.mismatched_ends,
                "ends that were not those of the innermost": odd.interleaved_ends,
                "beginnings without an end": odd.unclosed,
            },
        ),
        (V016, {"slices outlive the one that they begin in": odd.overlapping}),
        (
            V017,
            {
                "arrows without a start": flows.without_start,
                "arrows without an end": flows.without_end,
            },
        ),
        (V018, {"values of counters": seen.counter_values_unusable}),
    ):
        told = [f"{count} {what}" for what, count in parts.items() if count]
        if told:
            findings.append(finding(declared, str(path), ", ".join(told)))
    ends = [one for one in (seen.first_ns, seen.last_ns) if one is not None]
    if any(abs(ns) > LATE_NS for ns in ends):
        what = f"they reach {max(map(abs, ends)) / 1e9:.4g} s"
        findings.append(finding(V011, str(path), what))
    if not seen.found.events:
        findings.append(finding(V019, str(path), "it has none"))
    return findings
