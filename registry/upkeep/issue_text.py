"""The words of an issue about a failing check; what strangers wrote stays plain text.

The first line is a hidden marker that holds the check and a digest of its findings, so
that the next run finds the issue, and sees whether there is anything new to say.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final

from registry.documents import limits
from registry.publish.escape import code_span, markdown
from registry.upkeep.audit import UNREAD
from registry.upkeep.outcomes import CHECKS

if TYPE_CHECKING:
    from registry.documents.findings import Finding
    from registry.upkeep.outcomes import CheckId, Outcome

__all__ = [
    "PASSED",
    "body",
    "comment",
    "marked",
    "passed",
    "state_of",
    "title",
    "twin",
]

PASSED: Final = "passed"
"""The state of a check that passes again."""

_MARKER: Final = re.compile(r"<!-- watch:([a-z]+) (passed|[0-9a-f]{16}) -->(?:\r?\n|$)")
_NEEDS: Final = re.compile(r": needs (.{1,80}?)(?:; unknown: .*)?$")
_HEAD: Final = "| code | where | what |\n|---|---|---|\n"
_PERMISSIONS: Final = 20
_FIX: Final = limits.MESSAGE_CHARACTERS
_ROWS: Final = 50
"""How many findings an issue shows."""
_CHARACTERS: Final = 50_000
"""How long they may be together; GitHub takes 65,536 characters."""
_RUN: Final = re.compile(r"https?://[A-Za-z0-9.:-]+/[A-Za-z0-9._/-]+")


def title(check: CheckId) -> str:
    """The title of a check's issue."""
    return f"Watch: {CHECKS[check]}"


def state_of(outcome: Outcome) -> str:
    """A digest of what a check found: equal findings have equal states."""
    text = "\0".join(
        f"{one.code}\0{one.path}\0{one.line}\0{one.what}" for one in outcome.findings
    )
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def marked(text: str | None) -> tuple[str, str] | None:
    """The check and state in the marker at the beginning of a text, if it has one."""
    match = _MARKER.match(text or "")
    return None if match is None else (match.group(1), match.group(2))


def body(outcome: Outcome, run: str | None) -> str:
    """The text of a new issue."""
    return (
        f"{_marker(outcome.id, state_of(outcome))}"
        "The nightly watch opened this issue and closes it when the check passes"
        " again.\n\n"
        f"{_told(outcome)}{_link(run)}"
    )


def comment(outcome: Outcome, run: str | None) -> str:
    """What is said when the findings are others than before."""
    return (
        f"{_marker(outcome.id, state_of(outcome))}"
        f"The findings have changed.\n\n{_told(outcome)}{_link(run)}"
    )


def passed(check: CheckId, run: str | None) -> str:
    """What is said before an issue is closed."""
    return f"{_marker(check, PASSED)}The check passes again.\n{_link(run)}"


def twin(check: CheckId, number: int) -> str:
    """What is said before the younger of two issues about one check is closed."""
    return f"{_marker(check, PASSED)}This is told in issue {number}.\n"


def _marker(check: str, state: str) -> str:
    return f"<!-- watch:{check} {state} -->\n"


def _told(outcome: Outcome) -> str:
    """What was found: each remedy once, and below it what it is for."""
    groups: dict[str, list[str]] = {}
    permissions: dict[str, None] = {}
    size = rows = left = 0
    for one in outcome.findings:
        missing = _NEEDS.search(one.what) if one.code == UNREAD.id else None
        if missing is not None:
            permissions[missing[1]] = None
            continue
        row = _row(one)
        size += len(row) + (0 if one.fix in groups else len(markdown(one.fix, _FIX)))
        if left or rows == _ROWS or size > _CHARACTERS:
            left += 1
            continue
        groups.setdefault(one.fix, []).append(row)
        rows += 1
    parts = [
        f"**Remedy:** {markdown(fix, _FIX)}\n\n{_HEAD}{''.join(rows)}"
        for fix, rows in groups.items()
    ]
    if permissions:
        parts.append(_unread(list(permissions)))
    if left:
        parts.append(f"{left} more are in the run's `watch.json`.\n")
    return "\n".join(parts)


def _row(one: Finding) -> str:
    place = one.path if one.line is None else f"{one.path}:{one.line}"
    return f"| {code_span(one.code)} | {code_span(place)} | {markdown(one.what)} |\n"


def _unread(permissions: list[str]) -> str:
    """What a workflow's token may not read; it cannot be given another one."""
    listed = ", ".join(code_span(one) for one in permissions[:_PERMISSIONS])
    return (
        f"The workflow's token lacks {listed}, so some of it was not compared:"
        " an administrator's `registry github audit-settings` compares it all.\n"
    )


def _link(run: str | None) -> str:
    """The address of the run; it is the runner's own, but a text all the same."""
    if run is None or _RUN.fullmatch(run) is None:
        return ""
    return f"\n[The run]({run})\n"
