"""Tables at any width: numbers stay whole, none is lost, a log's rows are lines."""

from __future__ import annotations

import io
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.commands.columns import WIDTH, print_columns
from tools.commands.forms import Form
from tools.commands.tables import print_table

HEADS = ["run", "workload", "iteration", "wall_s", "rss_bytes", "performance", "ended"]
ROWS = [
    ["20261130T144457Z-33e819055293", "matmul", "1", "0.7123", "63770624", "26", "ok"],
    ["20261130T144458Z-1b4a0d9bfa33", "fft", "12", "10.25", "104", "1.5e+10", "late"],
]
NUMBERS = (2, 3, 4, 5)


class Terminal(io.StringIO):
    """A terminal, as wide as COLUMNS says."""

    def isatty(self) -> bool:
        return True


def on_terminal(
    monkeypatch: pytest.MonkeyPatch,
    columns: int,
    heads: list[str] = HEADS,
    rows: list[list[str]] = ROWS,
    numbers: tuple[int, ...] = NUMBERS,
) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    out = Terminal()
    print_columns(heads, rows, out, numbers=numbers)
    plain = out.getvalue().replace("\x1b[1m", "").replace("\x1b[0m", "")
    return [line.rstrip() for line in plain.splitlines()]


def test_a_table_that_fits_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = on_terminal(monkeypatch, 120)
    assert [line.split() for line in lines] == [HEADS, *ROWS]


@pytest.mark.parametrize("columns", [80, 60, 45])
def test_one_that_does_not_is_parted(
    monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    lines = on_terminal(monkeypatch, columns)
    parts = [part.splitlines() for part in "\n".join(lines).split("\n\n")]
    assert len(parts) > 1
    assert max(map(len, lines)) <= columns
    assert [head for part in parts for head in part[0].split()[1:]] == HEADS[1:]
    for number, row in enumerate(ROWS, start=1):
        assert {part[number].split()[0] for part in parts} == {row[0]}
        assert [cell for part in parts for cell in part[number].split()[1:]] == row[1:]


def test_long_texts_are_folded_before_that(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "cudnn_convolution_forward_" * 4
    lines = on_terminal(monkeypatch, 80, ["name", "count"], [[name, "123456"]], (1,))
    assert lines[0].split() == ["name", "count"]
    assert lines[1].endswith(" 123456")
    assert "".join([lines[1].split()[0], *lines[2:]]) == name
    assert max(map(len, lines)) <= 80


def test_a_log_has_a_line_for_each_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    wide = [f"a_long_name_of_column_{number}" for number in range(20)]
    out = io.StringIO()
    print_columns(wide, [["1"] * 20], out, numbers=range(20))
    assert [line.split() for line in out.getvalue().splitlines()] == [wide, ["1"] * 20]
    assert len(out.getvalue().splitlines()[0]) > WIDTH


def test_no_line_ends_with_blanks(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"name": "a", "state": "ok"}, {"name": "b", "state": "interrupted"}]
    print_table(rows, Form.TABLE, {}, title="Two")
    assert capsys.readouterr().out == (
        "Two\nname  state\na     ok\nb     interrupted\n"
    )


_TEXT = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=40)


@given(
    st.lists(st.lists(_TEXT, min_size=5, max_size=5), min_size=1, max_size=4),
    st.integers(20, 120),
)
def test_no_character_is_lost(rows: list[list[str]], columns: int) -> None:
    heads = ["v", "w", "x", "y", "z"]
    with pytest.MonkeyPatch.context() as patch:
        lines = on_terminal(patch, columns, heads, rows, (1, 3))
    printed = Counter("".join(lines))
    wanted = Counter("".join(text for row in rows for text in row))
    del printed[" "]
    assert wanted <= printed
