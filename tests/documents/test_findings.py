"""Findings are printable, short and declared once."""

from __future__ import annotations

import pytest

from registry.documents import findings
from registry.documents.findings import (
    CODES,
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
    shown,
)

SAMPLE = findings.Code(
    "Z001", Severity.WARNING, "A sample is odd.", "Mend it.", ("B1",)
)


def test_a_finding_takes_severity_and_fix_from_its_code() -> None:
    made = finding(SAMPLE, "specs/a.yaml", "odd", line=3)
    assert made == Finding(
        "specs/a.yaml", 3, "Z001", Severity.WARNING, "odd", "Mend it."
    )
    strict = finding(SAMPLE, "p", "odd", severity=Severity.ERROR, fix="Other.")
    assert (strict.severity, strict.fix) == (Severity.ERROR, "Other.")


def test_texts_of_a_finding_are_printable_and_short() -> None:
    made = finding(SAMPLE, "a\x1b[2J\nb", "x\u202e\x00" + "y" * 1000)
    assert made.path == r"a\x1b[2J\nb"
    assert made.what.startswith(r"x\u202e\x00y")
    assert made.what.isprintable()
    assert len(made.what) == 300


def test_shown_escapes_half_surrogates() -> None:
    assert shown("\ud800") == r"\ud800"
    assert shown("a" * 61) == "a" * 59 + "…"


def test_a_code_is_declared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(findings, "CODES", {})
    code("Z002", Severity.INFO, "One.", "Do.")
    with pytest.raises(RuntimeError, match="Z002 is declared twice"):
        code("Z002", Severity.INFO, "Two.", "Do.")


def test_a_refusal_needs_a_reason_and_tells_it() -> None:
    with pytest.raises(ValueError, match="at least one"):
        RegistryError([])
    error = RegistryError(finding(SAMPLE, "p", "odd"))
    assert str(error) == "p: Z001 odd"
    assert len(error.findings) == 1


def test_declared_codes_read_as_sentences() -> None:
    for declared in CODES.values():
        assert declared.title.endswith("."), declared.id
        assert declared.fix.endswith("."), declared.id
        assert declared.id[0].isupper()
        assert len(declared.id) == 4
