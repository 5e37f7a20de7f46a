"""Reports: the same findings for programs, people, logs and GitHub, all escaped."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.documents.findings import Severity, code, finding
from registry.gate import report
from registry.gate.outcome import Outcome, Report, in_order

BAD = code("I901", Severity.ERROR, "Something is wrong.", "Mend it.")
ODD = code("I902", Severity.WARNING, "Something is odd.", "Look at it.")
ONE = finding(BAD, "datasets/a/runs.csv", "cell 3 is empty", line=7)
TWO = finding(ODD, "specs/a.yaml", "100 % sure: no, not")


def test_text_never_begins_with_foreign_text() -> None:
    assert report.as_text([ONE, TWO]) == (
        "error I901 datasets/a/runs.csv:7: cell 3 is empty\n"
        "    fix: Mend it.\n"
        "warning I902 specs/a.yaml: 100 % sure: no, not\n"
        "    fix: Look at it.\n"
    )


def test_json_is_the_schema_and_ascii() -> None:
    text = report.as_json([finding(BAD, "é", "<é>")], bundles=3)
    assert text.isascii()
    assert json.loads(text) == {
        "schema": "findings/1",
        "bundles": 3,
        "errors": 1,
        "warnings": 0,
        "findings": [
            {
                "path": "é",
                "line": None,
                "code": "I901",
                "severity": "error",
                "what": "<é>",
                "fix": "Mend it.",
            }
        ],
    }


def test_counts() -> None:
    info = finding(ODD, "a", "b", severity=Severity.INFO)
    assert report.counted([]) == "0 errors, 0 warnings"
    assert report.counted([ONE, TWO, info]) == "1 error, 1 warning, 1 info"


def test_annotations_put_errors_first_and_escape() -> None:
    odd = finding(ODD, "a,b:c%d", "x\ny::error::z")
    assert report.workflow_commands([odd, ONE]) == (
        "::error file=datasets/a/runs.csv,title=I901,line=7::"
        "cell 3 is empty%0AFix: Mend it.\n"
        "::warning file=a%2Cb%3Ac%25d,title=I902::"
        "x\\ny::error::z%0AFix: Look at it.\n"
    )


@given(st.text(), st.text())
def test_annotation_is_one_line_with_no_second_command(path: str, what: str) -> None:
    text = report.workflow_commands([finding(BAD, path, what)])
    assert text.count("\n") == 1
    properties = text.removeprefix("::error file=").partition("::")[0]
    assert properties.count(",") == 1
    assert ":" not in properties


@given(st.text(), st.text())
def test_markdown_has_no_marks_of_foreign_text(path: str, what: str) -> None:
    made = Report((finding(BAD, path, what),), 1, 0.0, {})
    row = report.step_summary(made).splitlines()[-1]
    cells = row.removeprefix("| ").removesuffix(" |").split(" | ")
    assert len(cells) == 5
    for cell in cells:
        inside = cell.removeprefix("<code>").removesuffix("</code>")
        rest = inside.replace("&#", "").replace(";", "")
        assert all(char.isalnum() or char in " -" for char in rest)


def test_summary_is_cut_before_github_refuses_it() -> None:
    many = tuple(finding(BAD, "a", "." * 250, line=line) for line in range(1, 3000))
    text = report.step_summary(Report(many, 1, 0.0, {}))
    assert len(text) < 1_000_000
    assert text.endswith("more are in the log.\n")


def test_summary_without_findings() -> None:
    text = report.step_summary(Report((), 2, 0.0, {}))
    assert "2 bundles, 0 errors, 0 warnings." in text
    assert "|" not in text


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_table_on_a_terminal_shows_markup_as_it_is() -> None:
    out = Terminal()
    info = finding(ODD, "a", "[red]b[/red]", severity=Severity.INFO)
    report.print_findings([ONE, TWO, info], file=out)
    shown = out.getvalue()
    for text in ("datasets/a/runs.csv:7", "I901", "[red]b[/red]", "Look at it."):
        assert text in shown


def test_plain_and_json_output(capsys: pytest.CaptureFixture[str]) -> None:
    made = Report((TWO,), 1, 1.23, {})
    report.print_report(made)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("warning I902")
    assert lines[-1] == "1 bundle verified in 1.2 s: 0 errors, 1 warning"
    report.print_report(made, json_output=True)
    assert json.loads(capsys.readouterr().out)["warnings"] == 1


def test_order_is_fixed_and_without_repetition() -> None:
    other = finding(BAD, "datasets/a/runs.csv", "no line")
    assert in_order([TWO, ONE, other, ONE]) == (other, ONE, TWO)
    outcome = Outcome([ONE, ONE], 1, {"b": 1, "a": 2})
    made = outcome.report()
    assert made.findings == (ONE,)
    assert list(made.expectation_results) == ["a", "b"]
    assert made.refused
    assert not Report((TWO,), 1, 0.0, {}).refused
