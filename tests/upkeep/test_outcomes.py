"""What the watch hands from the job that checks to the job that reports."""

from __future__ import annotations

import json

import pytest

from registry.documents.findings import Finding, RegistryError, Severity
from registry.upkeep.outcomes import (
    Outcome,
    Outcomes,
    as_lines,
    outcomes_bytes,
    read_outcomes,
)

NASTY = "<img src=x> @all | \x1b[2J ::error::x"


def found(what: str) -> Finding:
    return Finding("index.json", 3, "R060", Severity.ERROR, what, "Do not use it.")


def document(*checks: Outcome) -> Outcomes:
    return Outcomes(schema_id="watch/1", checks=checks)


def test_the_document_survives_being_written() -> None:
    outcomes = document(
        Outcome.of("rebuild", "failed", "", (found(NASTY),)), Outcome.of("keys", "ok")
    )
    data = outcomes_bytes(outcomes)
    assert read_outcomes(data, "watch.json") == outcomes
    assert outcomes.failed
    assert json.loads(data)["schema"] == "watch/1"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b'{"checks": [], "schema": "watch/2"}',
        b'{"checks": [{"id": "other", "status": "ok"}], "schema": "watch/1"}',
        b'{"checks": [{"id": "keys", "status": "fine"}], "schema": "watch/1"}',
    ],
)
def test_a_broken_document_is_refused(data: bytes) -> None:
    with pytest.raises(RegistryError) as caught:
        read_outcomes(data, "watch.json")
    assert [one.code for one in caught.value.findings] == ["N046"]


def test_more_findings_than_are_kept_are_counted() -> None:
    outcome = Outcome.of(
        "download", "failed", "x", tuple(found(str(n)) for n in range(700))
    )
    assert len(outcome.findings) == 500
    assert outcome.note.startswith("700 findings, of which 500 are kept")


def test_no_line_is_a_command_of_the_runner() -> None:
    outcome = Outcome.of("rebuild", "failed", "\n::error::x", (found("\n::error::y"),))
    lines = list(as_lines(document(outcome)))
    assert len(lines) == 3
    for line in lines:
        assert not line.lstrip().startswith("::")
        assert "\n" not in line
        assert "\x1b" not in line
