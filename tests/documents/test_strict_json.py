"""JSON: readings and refusals."""

from __future__ import annotations

import pytest

from registry.documents.findings import RegistryError
from registry.documents.strict_json import read_json


def test_a_document_is_read() -> None:
    data = b'{"a": [1, true, null, "x[{"], "b": {"c": -9007199254740991}}'
    assert read_json(data, "p") == {
        "a": [1, True, None, "x[{"],
        "b": {"c": -(2**53) + 1},
    }


def test_floats_are_read_only_where_asked_for() -> None:
    assert read_json(b"[0.5, 1e3]", "p", floats=True) == [0.5, 1000.0]
    with pytest.raises(RegistryError, match="J006"):
        read_json(b"[1e999]", "p", floats=True)


def test_syntax_errors_have_a_line() -> None:
    with pytest.raises(RegistryError) as caught:
        read_json(b'{\n"a": 1,\n}', "m.json")
    (found,) = caught.value.findings
    assert (found.path, found.line, found.code) == ("m.json", 3, "J003")


def test_a_duplicate_key_is_named() -> None:
    with pytest.raises(RegistryError, match='J005 the key "a" appears twice'):
        read_json(b'{"b": {"a": 1, "c": 2, "a": 3}}', "p")


def test_not_utf8_has_a_line() -> None:
    with pytest.raises(RegistryError) as caught:
        read_json(b'{"a":\n"\xff"}', "p")
    assert caught.value.findings[0].line == 2


def test_the_size_is_bounded_by_the_caller() -> None:
    with pytest.raises(RegistryError, match="J001"):
        read_json(b"[1]", "p", max_bytes=2)
