"""Expressions of people: linear in the text, and refused with a reason."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.documents.patterns import EXPRESSION_CHARACTERS, Expression


def test_it_is_found_anywhere_unless_anchored() -> None:
    assert Expression("net(50|101)").found_in("resnet50_v1")
    assert not Expression("^net").found_in("resnet50_v1")
    assert Expression("").found_in("")
    assert Expression("ü+$").found_in("grün".replace("n", "ü"))


def test_what_hangs_other_engines_does_not_hang_this_one() -> None:
    began = time.process_time()
    assert not Expression("(a+)+$").found_in("a" * 10_000 + "b")
    assert time.process_time() - began < 30  # Python's own would need an age


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("(", "unclosed group"),
        ("a{2,1}", "invalid repetition count range"),
        ("(?=a)", "look-around"),
        (r"(a)\1", "backreferences are not supported"),
        ("a" * (EXPRESSION_CHARACTERS + 1), "more than 500 characters"),
        ("(a{1000}){1000}", "size"),
    ],
)
def test_what_is_no_expression_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)) as caught:
        Expression(text)
    assert "\n" not in str(caught.value)


@given(st.text(max_size=30), st.text(max_size=30))
def test_plain_text_is_found_as_python_finds_it(needle: str, text: str) -> None:
    assert Expression(re.sub(r"(\W)", r"[\1]", "")).found_in(text)
    if needle.isalnum() and needle.isascii():
        assert Expression(needle).found_in(text) == (needle in text)


def test_a_text_that_is_no_unicode_matches_nothing() -> None:
    assert not Expression("a").found_in("a\ud800")
