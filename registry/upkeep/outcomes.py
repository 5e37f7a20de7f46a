"""What the watch found: one outcome a check, as a document that another job reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field, TypeAdapter, ValidationError

from registry.documents import limits
from registry.documents.canonical import encode
from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
    shown,
)
from registry.documents.strict_json import read_json
from registry.documents.validation import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "CHECKS",
    "CheckId",
    "Outcome",
    "Outcomes",
    "as_lines",
    "missing",
    "outcomes_bytes",
    "read_outcomes",
]

CheckId: TypeAlias = Literal[
    "download",
    "pages",
    "release",
    "rebuild",
    "fresh",
    "keys",
    "settings",
    "maintainers",
    "watch",
]

CHECKS: Final[dict[CheckId, str]] = {
    "download": "the newest release cannot be downloaded as Kepler does it",
    "pages": "the site does not serve the newest release",
    "release": "the newest release does not pass its checks",
    "rebuild": "the newest release cannot be built again byte by byte",
    "fresh": "main has data that no release holds",
    "keys": "keys of contributors end",
    "settings": "settings of the repository are not as they must be",
    "maintainers": "maintainers or code owners are not as they must be",
    "watch": "the nightly checks did not run to their end",
}
"""Every check and what it means that it fails; the last is not one of `Outcomes`."""

BAD_OUTCOMES = code(
    "N046",
    Severity.ERROR,
    "The outcome of the nightly checks is missing or unreadable.",
    "Look at the log of the job that runs `registry watch check`, and run it again.",
    "P3",
)

_MOST: Final = 500
"""How many findings of a check are kept."""


class _Found(Document):
    path: Annotated[str, Field(max_length=limits.MESSAGE_CHARACTERS)]
    line: int | None
    code: Annotated[str, Field(pattern=r"^[A-Z][0-9]{3}$")]
    severity: Severity
    what: Annotated[str, Field(max_length=limits.MESSAGE_CHARACTERS)]
    fix: Annotated[str, Field(max_length=limits.MESSAGE_CHARACTERS)]


class Outcome(Document):
    """The outcome of one check.

    Attributes:
        id: The check.
        status: ``skipped`` says nothing: there was nothing to check, or it may not be
            read.
        note: What was done, or why nothing was, in a few words.
        found: What is wrong, or what a passing check still has to say.
    """

    id: CheckId
    status: Literal["ok", "failed", "skipped"]
    note: Annotated[str, Field(max_length=limits.MESSAGE_CHARACTERS)] = ""
    found: Annotated[tuple[_Found, ...], Field(max_length=_MOST)] = ()

    @classmethod
    def of(
        cls,
        check: CheckId,
        status: Literal["ok", "failed", "skipped"],
        note: str = "",
        findings: tuple[Finding, ...] = (),
    ) -> Outcome:
        """Make an outcome from findings."""
        most = limits.MESSAGE_CHARACTERS
        kept = tuple(
            _Found(
                path=shown(one.path, most),
                line=one.line,
                code=one.code,
                severity=one.severity,
                what=shown(one.what, most),
                fix=shown(one.fix, most),
            )
            for one in findings[:_MOST]
        )
        if len(findings) > _MOST:
            note = f"{len(findings)} findings, of which {_MOST} are kept; {note}"
        note = shown(note, most)
        return cls(id=check, status=status, note=note, found=kept)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found."""
        return tuple(Finding(**one.model_dump()) for one in self.found)


class Outcomes(Document):
    """The outcomes of all checks of one run."""

    schema_id: Literal["watch/1"] = Field(
        validation_alias="schema", serialization_alias="schema"
    )
    checks: tuple[Outcome, ...]

    @property
    def failed(self) -> bool:
        """Whether any check failed."""
        return any(one.status == "failed" for one in self.checks)


def outcomes_bytes(outcomes: Outcomes) -> bytes:
    """Write the document; equal outcomes give equal bytes."""
    return encode(outcomes.model_dump(mode="json", by_alias=True))


def read_outcomes(data: bytes, path: str) -> Outcomes:
    """Read the document.

    Raises:
        RegistryError: N046, whatever is wrong with it.
    """
    try:
        value: Any = read_json(data, path, max_bytes=8 * limits.MIB)
        return TypeAdapter(Outcomes).validate_python(value)
    except RegistryError as error:
        what = error.findings[0].what
    except ValidationError as error:
        what = f"{error.error_count()} of its fields are not as they should be"
    raise RegistryError(finding(BAD_OUTCOMES, path, what))


def missing(path: str) -> RegistryError:
    """What is to be said if there is no document."""
    return RegistryError(finding(BAD_OUTCOMES, path, "there is no such file"))


def as_lines(outcomes: Outcomes) -> Iterator[str]:
    """The outcomes as lines for people."""
    for one in outcomes.checks:
        yield f"{one.status:7} {one.id}{f': {one.note}' if one.note else ''}"
        for found in one.findings:
            yield f"        {found.code} {found.path}: {found.what}"
            yield f"             fix: {found.fix}"
