"""Canonical JSON: one value, one sequence of bytes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.documents.canonical import encode, encode_numbers, sha256

texts = st.text(st.characters(codec="ascii"), max_size=20)
values = st.recursive(
    st.none() | st.booleans() | texts | st.integers(-(2**53) + 1, 2**53 - 1),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner),
    max_leaves=20,
)


@settings(deadline=None)
@given(values)
def test_what_is_encoded_reads_back_and_encodes_alike(value: object) -> None:
    data = encode(value)
    assert json.loads(data) == value
    assert encode(json.loads(data)) == data
    assert data.endswith(b"\n")
    assert data.count(b"\n") == 1


def test_keys_are_sorted_and_nothing_is_padded() -> None:
    assert encode({"b": [1, None], "a": "é"}) == '{"a":"é","b":[1,null]}\n'.encode()


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (1.5, "float"),
        (2**53, "beyond"),
        ({1: 2}, "key is int"),
        (b"x", "bytes"),
        ({"a": {3}}, "set"),
        ("e\u0301", "normal form"),
        ("\ud800", "surrogate"),
    ],
)
def test_what_has_no_canonical_form_is_refused(value: object, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        encode(value)


def test_numbers_are_finite_and_shortest() -> None:
    assert encode_numbers([0.1, -0.0, 1e22, 3]) == b"[0.1,0.0,1e+22,3]\n"
    for bad in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="float"):
            encode_numbers(bad)


def test_sha256_is_hexadecimal() -> None:
    assert sha256(b"") == (
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    )
