"""Compare the repository's settings on GitHub with the wanted ones, all in one run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from registry.documents import limits
from registry.documents.findings import Severity, code, finding
from registry.upkeep.answers import hidden, met, said
from registry.upkeep.readings import Unread, read_settings
from registry.upkeep.wanted import wishes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from registry.documents.findings import Finding
    from registry.gate.github.connection import Connection
    from registry.upkeep.readings import Answer
    from registry.upkeep.wanted import Setting

__all__ = ["Audit", "State", "as_json", "as_lines", "audit", "compare"]

State: TypeAlias = Literal["ok", "differs", "unread"]

DIFFERS = code(
    "N040",
    Severity.ERROR,
    "A setting of the repository on GitHub is not as it must be.",
    "Set it as the finding says; docs/github-settings.md says why.",
    "W2",
    "W8",
    "W9",
    "W10",
    "W11",
)
UNREAD = code(
    "N041",
    Severity.WARNING,
    "A setting of the repository on GitHub cannot be read with the token in use.",
    "Give GH_TOKEN a token of an administrator with the permission that the finding "
    "names, and run it again.",
    "W8",
)

_SHOWN: Final = 6
"""How many settings a finding names."""


@dataclass(frozen=True, slots=True)
class Audit:
    """The outcome of a comparison.

    Attributes:
        repository: ``OWNER/NAME``.
        states: What is known of each setting.
        findings: One for each setting that differs, and for each thing not readable.
    """

    repository: str
    states: Mapping[str, State]
    findings: tuple[Finding, ...]

    @property
    def fine(self) -> bool:
        """Whether everything was read and is as wanted."""
        return not self.findings


def audit(connection: Connection) -> Audit:
    """Read settings and people of a repository and compare.

    Args:
        connection: The repository.

    Raises:
        RegistryError: N001 to N005, the repository itself cannot be read; N001 or N003,
            GitHub gives no answers any more.
    """
    from registry.upkeep.people import check_people  # noqa: PLC0415 - it declares more

    settings = compare(connection.name, read_settings(connection))
    people = check_people(connection)
    return Audit(settings.repository, settings.states, settings.findings + people)


def compare(repository: str, found: Mapping[str, Answer | Unread]) -> Audit:
    """Compare what was read with what is wanted.

    Args:
        repository: ``OWNER/NAME``, for commands in findings.
        found: Answers by reading.
    """
    states: dict[str, State] = {}
    findings: list[Finding] = []
    unread: dict[tuple[str, str], list[str]] = {}
    for setting in wishes().settings:
        answer = found[setting.reading.id]
        why = _why_unread(setting, answer, repository)
        if why is not None or isinstance(answer, Unread):
            states[setting.id] = "unread"
            unread.setdefault((setting.reading.id, why or ""), []).append(setting.id)
        elif any(met(one, answer.value) for one in setting.wants):
            states[setting.id] = "ok"
        else:
            states[setting.id] = "differs"
            findings.append(_difference(repository, setting, answer.value))
    for (_, why), names in unread.items():
        listed = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
        what = f"not readable: {why}; unknown: {listed}"
        findings.append(finding(UNREAD, "github/settings", what))
    return Audit(repository, states, tuple(findings))


def _why_unread(
    setting: Setting, answer: Answer | Unread, repository: str
) -> str | None:
    if isinstance(answer, Unread):
        return answer.why
    reading = setting.reading
    wants = setting.wants
    if reading.hides and any(hidden(answer.value, one.steps) for one in wants):
        return f"{reading.path.replace('{name}', repository)}: needs {reading.needs}"
    return None


def _difference(repository: str, setting: Setting, answer: Any) -> Finding:
    parts = [
        f"{one.at} is {said(one, answer)}, should be {one.words}"
        for one in setting.wants
    ]
    command = setting.way.command.replace("{owner}/{repo}", repository)
    fix = f"{setting.way.page}; or: {command}"
    if len(fix) > limits.MESSAGE_CHARACTERS:
        fix = f"{setting.way.page}; docs/github-settings.md has the command"
    return finding(DIFFERS, f"github/{setting.id}", "; or ".join(parts), fix=fix)


def as_json(done: Audit) -> dict[str, Any]:
    """The outcome as a document of the schema audit/1."""
    return {
        "schema": "audit/1",
        "repository": done.repository,
        "settings": dict(done.states),
        "findings": [
            {
                "path": one.path,
                "code": one.code,
                "severity": one.severity.value,
                "what": one.what,
                "fix": one.fix,
            }
            for one in done.findings
        ],
    }


def as_lines(done: Audit) -> Iterator[str]:
    """The outcome in one line for people, after the findings."""
    counts = dict.fromkeys(("ok", "differs", "unread"), 0)
    for state in done.states.values():
        counts[state] += 1
    yield (
        f"{done.repository}: {counts['ok']} settings as they should be,"
        f" {counts['differs']} differ, {counts['unread']} could not be read"
    )
