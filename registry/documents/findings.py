"""What a check says: stable codes, findings with place and remedy, one error."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from registry.documents import limits

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "CODES",
    "Code",
    "Finding",
    "RegistryError",
    "Severity",
    "code",
    "finding",
    "shown",
]


class Severity(StrEnum):
    """How much a finding matters: only an error refuses a contribution."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Code:
    """One kind of finding.

    Attributes:
        id: A letter for the subject and three digits, for example ``M004``. It never
            changes its meaning and is never used again.
        severity: The severity of its findings unless a check says otherwise.
        title: One sentence on what is wrong in general.
        fix: What the contributor should do.
        threats: Rows of the threat model that the check answers.

    """

    id: str
    severity: Severity
    title: str
    fix: str
    threats: tuple[str, ...] = ()


CODES: dict[str, Code] = {}
"""Every declared code by its id, in the order in which modules were imported."""


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One thing that is wrong, where it is and how to mend it.

    Attributes:
        path: The file or folder, relative to the root of the registry.
        line: The line in it, counted from 1, or None if no line can be named.
        code: The id of a declared code.
        severity: How much it matters.
        what: What is wrong, as plain printable text of at most 300 characters.
        fix: What to do about it.

    """

    path: str
    line: int | None
    code: str
    severity: Severity
    what: str
    fix: str


class RegistryError(Exception):
    """A document cannot be used; carries everything that is wrong with it."""

    findings: tuple[Finding, ...]

    def __init__(self, findings: Finding | Iterable[Finding]) -> None:
        """Keep the findings; a refusal without a reason is a mistake of the caller."""
        one = (findings,) if isinstance(findings, Finding) else tuple(findings)
        if not one:
            message = "a refusal needs at least one finding"
            raise ValueError(message)
        self.findings = one
        super().__init__("; ".join(f"{f.path}: {f.code} {f.what}" for f in one[:3]))


def code(
    id: str,  # noqa: A002 - the field's name
    severity: Severity,
    title: str,
    fix: str,
    *threats: str,
) -> Code:
    """Declare a code beside its check.

    Raises:
        RuntimeError: The id is taken; raised when the declaring module is imported.

    """
    if id in CODES:
        message = f"finding code {id} is declared twice"
        raise RuntimeError(message)
    declared = Code(id, severity, title, fix, threats)
    CODES[id] = declared
    return declared


def finding(
    code: Code,
    path: str,
    what: str,
    *,
    line: int | None = None,
    fix: str | None = None,
    severity: Severity | None = None,
) -> Finding:
    """Make a finding of a declared code; texts are escaped and cut to a safe length."""
    return Finding(
        path=shown(path, limits.MESSAGE_CHARACTERS),
        line=line,
        code=code.id,
        severity=code.severity if severity is None else severity,
        what=shown(what, limits.MESSAGE_CHARACTERS),
        fix=shown(code.fix if fix is None else fix, limits.MESSAGE_CHARACTERS),
    )


def shown(value: object, limit: int = 60) -> str:
    """Show a foreign value as printable text of at most ``limit`` characters.

    Control, format, surrogate and other unprintable characters appear escaped, so that
    a value can neither move a terminal's cursor nor reverse the direction of a line.
    """
    text = str(value)[: limit + 1]
    escaped = "".join(
        character
        if character.isprintable()
        else character.encode("unicode_escape", "surrogatepass").decode("ascii")
        for character in text
    )
    return escaped if len(escaped) <= limit else escaped[: limit - 1] + "…"
