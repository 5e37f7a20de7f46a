"""WITHDRAWN.yaml: a bundle stays where it is, but no model is made from it any more."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
)
from registry.documents.instants import day
from registry.documents.manifest import Day
from registry.documents.strict_yaml import read_yaml
from registry.documents.validation import Document, DocumentCodes, validate
from registry.documents.yaml_writer import write_yaml

__all__ = ["Withdrawal", "check_day", "read_withdrawal", "withdrawal_bytes"]

_FIX = "Write the three lines that CONTRIBUTING.md shows, with your day and reason."

CODES = DocumentCodes(
    unknown=code(
        "M030", Severity.ERROR, "A withdrawal holds an unknown field.", _FIX, "W12"
    ),
    missing=code("M031", Severity.ERROR, "A withdrawal lacks a field.", _FIX, "W12"),
    value=code(
        "M032", Severity.ERROR, "A value in a withdrawal is not allowed.", _FIX, "W12"
    ),
    contradiction=code(
        "M033", Severity.ERROR, "A withdrawal is not in canonical form.", _FIX, "W12"
    ),
)

NOT_YET = code(
    "M034",
    Severity.ERROR,
    "A withdrawal's day of decision is in the future.",
    "Write the day on which it was decided, in UTC.",
    "W12",
)
_DAY_SECONDS: Final = 86_400


class Withdrawal(Document):
    """Why and when a bundle was withdrawn.

    Attributes:
        schema_id: the version of this format; `schema` in the file.
        day: the day of the decision.
        reason: one word of a fixed list, so that nobody is named.
    """

    schema_id: Literal["withdrawn/1"] = Field(alias="schema")
    day: Day
    reason: Literal[
        "duplicate",
        "key-compromised",
        "licence",
        "measurement-error",
        "privacy",
        "request",
    ]


def read_withdrawal(data: bytes, path: str) -> Withdrawal:
    """Read a withdrawal, which must be in canonical form.

    Raises:
        RegistryError: Y codes and M030 to M033.
    """
    document = read_yaml(data, path)
    read = validate(Withdrawal, document.value, path, CODES, document.lines)
    wanted = withdrawal_bytes(read)
    if data != wanted:
        lines = [*data.split(b"\n"), b"", b"", b""]
        pairs = zip(wanted.splitlines(), lines, strict=False)
        odd = (at for at, (own, other) in enumerate(pairs, 1) if own != other)
        line = next(odd, wanted.count(b"\n"))
        text = wanted.splitlines()[line - 1].decode("ascii")
        what = f"this line must be `{text}`, and three lines are all"
        raise RegistryError(finding(CODES.contradiction, path, what, line=line))
    return read


def check_day(withdrawal: Withdrawal, path: str, now: int) -> list[Finding]:
    """Check that a new withdrawal was decided already, anywhere on earth.

    Args:
        withdrawal: what the change adds.
        path: its file.
        now: the present, in seconds since 1970.
    """
    latest = day(now + _DAY_SECONDS)
    if withdrawal.day <= latest:
        return []
    return [finding(NOT_YET, path, f"the day is {withdrawal.day}")]


def withdrawal_bytes(withdrawal: Withdrawal) -> bytes:
    """The canonical bytes of a withdrawal."""
    return write_yaml(withdrawal.model_dump(mode="json", by_alias=True))
