"""YAML: readings, refusals with lines, and the canonical writer."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.documents.findings import RegistryError
from registry.documents.strict_yaml import read_yaml, write_yaml

SAMPLE = b"""\
machine: m1
cpu:
  cores: 010
  list:
  - no
  - a: 12:30:45
    b: 2024-01-01
text: |
  one
  two # not a comment
empty:
"""


def test_scalars_stay_texts() -> None:
    assert read_yaml(SAMPLE, "p").value == {
        "machine": "m1",
        "cpu": {"cores": "010", "list": ["no", {"a": "12:30:45", "b": "2024-01-01"}]},
        "text": "one\ntwo # not a comment\n",
        "empty": "",
    }


def test_every_value_has_its_line() -> None:
    lines = read_yaml(SAMPLE, "p").lines
    assert lines[("cpu", "list")] == 4
    assert lines[("cpu", "list", 0)] == 5
    assert lines[("cpu", "list", 1, "b")] == 7
    assert lines[("text",)] == 8
    assert lines[()] == 1


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("a: 1\nb: &x 2\n", "Y006", 2),
        ("a: 1\nb: *x\n", "Y006", 2),
        ("a: !!str 1\n", "Y006", 1),
        ("a: 1\n<<: {b: 2}\n", "Y006", 2),
        ("a: 1\n---\nb: 2\n", "Y006", 2),
        ("%YAML 1.1\n---\na: 1\n", "Y006", 1),
        ("a: >\n  x\n", "Y006", 1),
        ("a: |2\n  x\n", "Y006", 1),
        ("? [a]\n: b\n", "Y006", 1),
        ("a: 1\nb: 2\na: 3\n", "Y005", 3),
        ("a: 1 # note\n", "Y007", 1),
        ("a: 1\n\n# note\n", "Y007", 3),
        ("- a\n", "Y008", None),
        ("", "Y008", None),
        ("just text\n", "Y008", None),
        ("a: [1\n", "Y003", 2),
        ("a:\tb: c: d\n", "Y003", 1),
    ],
)
def test_what_is_not_allowed_has_a_code_and_a_line(
    text: str, code: str, line: int | None
) -> None:
    with pytest.raises(RegistryError) as caught:
        read_yaml(text.encode(), "p")
    (found,) = caught.value.findings
    assert (found.code, found.line) == (code, line)


def test_comments_are_read_where_asked_for() -> None:
    assert read_yaml(b"a: 1 # x\n", "p", comments=True).value == {"a": "1"}


def test_a_comment_is_told_from_a_quoted_sign() -> None:
    assert read_yaml("a: 'é#'\nb: c#d\n".encode(), "p").value == {"a": "é#", "b": "c#d"}


scalars = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=30)
keys = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=12)
blocks = st.lists(
    st.from_regex(r"[!-~][ -~]{0,20}", fullmatch=True), min_size=1, max_size=4
).map(lambda lines: "".join(f"{line}\n" for line in lines))
trees = st.recursive(
    scalars | blocks,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(keys.filter(lambda k: k != "<<"), inner, max_size=4)
    ),
    max_leaves=15,
)


@settings(deadline=None)
@given(st.dictionaries(keys.filter(lambda k: k != "<<"), trees, min_size=1, max_size=4))
def test_what_is_written_reads_back(value: dict[str, object]) -> None:
    data = write_yaml(value)
    assert read_yaml(data, "p").value == value
    assert write_yaml(read_yaml(data, "p").value) == data


def test_typed_scalars_are_written_so_that_other_readers_see_their_type() -> None:
    data = write_yaml(
        {"i": 7763, "s": "7763", "f": 0.5, "b": True, "w": "no", "t": "2024-01-01"}
    )
    assert data == (b'i: 7763\ns: "7763"\nf: 0.5\nb: true\nw: "no"\nt: "2024-01-01"\n')


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        {"a": None},
        {1: "a"},
        {"a": "é"},
        {"a": "\x07"},
        {"a": "x\ny"},
        {"a": b""},
    ],
)
def test_what_has_no_canonical_form_is_not_written(value: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        write_yaml(value)
