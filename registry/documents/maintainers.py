"""The maintainers' file: whose approvals a change of trust needs, and how many.

``registry/trust/maintainers.yaml`` is read from the main branch only: whom a change
names has no say about that change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal, Self

from pydantic import Field, StrictInt, model_validator

from registry.documents import limits, strict_yaml
from registry.documents.findings import RegistryError, Severity, code, finding
from registry.documents.trust import Login, Whole
from registry.documents.validation import (
    Document,
    DocumentCodes,
    contradictions,
    validate,
)
from registry.documents.yaml_writer import write_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.documents.strict_yaml import Location

__all__ = [
    "SCHEMA",
    "Maintainer",
    "Maintainers",
    "maintainers_bytes",
    "read_maintainers",
]

SCHEMA: Final = "maintainers/1"

_FIX = "Write the file as README.md shows: approvals of 2 or more, then ids."

CODES = DocumentCodes(
    unknown=code(
        "K030",
        Severity.ERROR,
        "The maintainers' file holds a key that it does not have.",
        _FIX,
        "S11",
    ),
    missing=code(
        "K031", Severity.ERROR, "The maintainers' file lacks a key.", _FIX, "S11"
    ),
    value=code(
        "K032",
        Severity.ERROR,
        "A value in the maintainers' file is not allowed.",
        _FIX,
        "S8",
        "S11",
    ),
    contradiction=code(
        "K033",
        Severity.ERROR,
        "Values of the maintainers' file contradict each other.",
        "Name each account once, in the order of ids, and no fewer accounts than the "
        "approvals that are asked for.",
        "S11",
    ),
)
NOT_CANONICAL = code(
    "K034",
    Severity.ERROR,
    "The maintainers' file is not in canonical form.",
    "Write the named line as the finding shows it, without further lines.",
    "S11",
)


class Maintainer(Document):
    """One maintainer.

    Attributes:
        id: The numeric id of the GitHub account.
        login: The account's name when it was written down: shown, never trusted.

    """

    id: Annotated[StrictInt, Field(ge=1, le=limits.INTEGER), Whole]
    login: Login


class Maintainers(Document):
    """Who may approve changes of trust.

    Attributes:
        schema_id: The version of this format; ``schema`` in the file.
        approvals: How many maintainers other than the author must approve. It is never
            below two, so that one stolen account changes nothing.
        maintainers: Who they are; empty as long as nobody was named.

    """

    schema_id: Literal["maintainers/1"] = Field(alias="schema")
    approvals: Annotated[StrictInt, Field(ge=2, le=limits.MAINTAINERS), Whole]
    maintainers: Annotated[tuple[Maintainer, ...], Field(max_length=limits.MAINTAINERS)]

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        problems = list(_problems(self))
        if problems:
            raise contradictions(problems)
        return self

    @property
    def logins(self) -> dict[int, str]:
        """Login by id."""
        return {one.id: one.login for one in self.maintainers}


def _problems(document: Maintainers) -> Iterator[tuple[Location, str]]:
    named = document.maintainers
    for number, one in enumerate(named[1:], 1):
        last = named[number - 1].id
        if one.id <= last:
            what = f"{one.id} stands behind {last}"
            yield ("maintainers", number, "id"), what
    if named and len(named) < document.approvals:
        what = f"{document.approvals} approvals are asked of {len(named)} accounts"
        yield ("approvals",), what


def read_maintainers(data: bytes, path: str) -> Maintainers:
    """Read the maintainers' file; its bytes must be exactly the canonical ones.

    Raises:
        RegistryError: Y codes of ``read_yaml``, K030 to K034.

    """
    document = strict_yaml.read_yaml(data, path)
    read = validate(Maintainers, document.value, path, CODES, document.lines)
    wanted = maintainers_bytes(read)
    if data != wanted:
        line, text = _first_odd(data, wanted)
        what = f"the line must be `{text}`" if text else "no such line belongs here"
        raise RegistryError(finding(NOT_CANONICAL, path, what, line=line))
    return read


def maintainers_bytes(maintainers: Maintainers) -> bytes:
    """Return the canonical bytes of the maintainers' file."""
    return write_yaml(maintainers.model_dump(mode="json", by_alias=True))


def _first_odd(data: bytes, wanted: bytes) -> tuple[int, str]:
    """The first line that differs, from 1, and what it should be (or nothing)."""
    lines, right = data.split(b"\n"), wanted.split(b"\n")
    at = next(n for n in range(len(data)) if lines[n : n + 1] != right[n : n + 1])
    return at + 1, b"".join(right[at : at + 1]).decode("ascii")
