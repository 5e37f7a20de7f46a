"""Attacks on the parsers: rows B1, B6 and B8 to B11 of the threat model."""

from __future__ import annotations

import builtins
import gzip
import pickle
import time
from collections.abc import Callable
from typing import NoReturn

import pytest
import yaml

from registry.documents import limits, strict_yaml
from registry.documents.findings import RegistryError
from registry.documents.manifest import read_manifest
from registry.documents.names import path_problem
from registry.documents.spec import read_spec
from registry.documents.strict_csv import read_table
from registry.documents.strict_json import read_json
from registry.documents.strict_yaml import read_yaml

HEADER = b"time_seconds,run,acpi_watts\n"


def codes_of(read: Callable[..., object], *args: object) -> set[str]:
    """Return the codes with which a document is refused, within a second or two."""
    start = time.perf_counter()
    with pytest.raises(RegistryError) as caught:
        read(*args)
    assert time.perf_counter() - start < 20
    for found in caught.value.findings:
        assert found.what.isprintable()
        assert found.fix
    return {found.code for found in caught.value.findings}


PATHS = [
    *("/etc/passwd", "../x", "a/../b", "./a", ".", "..", "", "a//b", "a/", "/"),
    *("C:/x", "c:x", "\\\\host\\share", "a\\b", "~/x", ".git/config", "a/.gitmodules"),
    *("con", "nul.csv", "com1", "lpt9.txt", "aux", "prn.x", "a/con/b"),
    *("a.", "a ", " a", "a\x00b", "a\nb", "a\x1b[2J", "a\u202eb", "a\u200db"),
    *(
        "A.csv",
        "\u0430dmin",
        "e\u0301",
        "é",
        "$(id)",
        "`id`",
        "%00",
        "a%2e%2e",
        "a" * 65,
    ),
    *("a/b/c/d/e", "--help", "-rf", "a;b", "a|b", "a*b", "a?b", "<img>", "@all"),
]


@pytest.mark.parametrize("path", PATHS)
def test_b1_odd_paths_are_refused_before_any_open(
    path: str, monkeypatch: pytest.MonkeyPatch, manifest_of: Callable[..., bytes]
) -> None:
    def opened(*_: object, **__: object) -> NoReturn:
        pytest.fail("something was opened")

    data = [
        manifest_of(spec={"path": path, "sha256": "0" * 64}),
        manifest_of(path=path),
        manifest_of(dataset=path),
    ]
    monkeypatch.setattr(builtins, "open", opened)
    assert path_problem(path) is not None
    for encoded in data:
        assert codes_of(read_manifest, encoded, "m") <= {"M003", "M004", "J007"}


def test_b1_the_unchanged_manifest_is_read(manifest_of: Callable[..., bytes]) -> None:
    assert read_manifest(manifest_of(), "m").dataset == "a"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (HEADER + b"\n" * (limits.ROWS + 1), "C001"),
        (b"a," * limits.COLUMNS + b"a\n1\n", "C001"),
        (HEADER + b"1" * (limits.LINE_BYTES + 1) + b"\n", "C001"),
        (b"1" * (limits.FILE_BYTES + 1), "C001"),
    ],
    ids=["rows", "columns", "line", "file"],
)
def test_b6_tables_one_over_a_limit(data: bytes, code: str) -> None:
    assert code in codes_of(read_table, data, "samples.csv", "samples")


def test_b6_documents_one_over_a_limit() -> None:
    json_data = b'"' + b"a" * limits.JSON_BYTES + b'"'
    assert codes_of(read_json, json_data, "p") == {"J001"}
    yaml_data = b"a: " + b"b" * limits.YAML_BYTES
    assert codes_of(read_yaml, yaml_data, "p") == {"Y001"}


OTHER_FORMATS = {
    "pickle": pickle.dumps({"a": 1}),
    "Parquet": b"PAR1\x15\x04",
    "gzip": gzip.compress(b"time_seconds,run\n1,2\n"),
    "zip": b"PK\x03\x04rest",
    "xz": b"\xfd7zXZ\x00",
    "zstd": b"\x28\xb5\x2f\xfdrest",
    "numpy": b"\x93NUMPY\x01\x00",
    "HDF5": b"\x89HDF\r\n",
    "byte order mark": b"\xef\xbb\xbf" + HEADER,
    "UTF-16": "time_seconds,run\n".encode("utf-16"),
    "UTF-16 without mark": "time_seconds,run\n".encode("utf-16-le"),
    "zero byte": HEADER + b"1,2,\x003\n",
    "Latin-1": HEADER + b"1,2,\xe9\n",
    "script": b"#!/bin/sh\n",
    "LFS pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
}


@pytest.mark.parametrize("name", OTHER_FORMATS)
def test_b8_other_formats_under_a_text_name(name: str) -> None:
    data = OTHER_FORMATS[name]
    table = codes_of(read_table, data, "samples.csv", "samples")
    assert table <= {"C002", "C003"}
    assert codes_of(read_json, data, "p") <= {"J002", "J003"}
    assert codes_of(read_yaml, data, "p") <= {"Y002", "Y003", "Y007", "Y008"}


CELLS = [
    *("=1+1", "+1", "@SUM(A1)", "-1+2", "\t1", "|cmd", '"1"', "'1", '"1,5"', "1;2"),
    *("nan", "NaN", "inf", "-inf", "Infinity", "1e400", "1e5", "1E5", "0x10", "1_000"),
    *("1.2.3", ".5", "5.", "00", "01", "-0", "-0.0", "--1", "1-", "- 1", " 1", "1 "),
    *(
        "9" * 19,
        "9" * 5000,
        "1.0000000001",
        "\u0661",
        "1\xa0000",
        "null",
        "NA",
        "true",
        "-",
    ),
    *("2026-01-01", "12:30", "1/2", "$1", "1%", "\r", "\u2212" + "1", "\ufeff1"),
]


@pytest.mark.parametrize("cell", CELLS)
def test_b9_cells_that_are_no_plain_number(cell: str) -> None:
    data = HEADER + b"0,0,100\n1,0," + cell.encode() + b"\n"
    codes = codes_of(read_table, data, "samples.csv", "samples")
    assert codes <= {"C001", "C003", "C004", "C010", "C011"}


@pytest.mark.parametrize(
    ("rows", "line", "what"),
    [
        (b"0,0,1\n\n", 3, "the line is empty"),
        (b"\n0,0,1\n", 2, "the line is empty"),
        (b"0,0,1", 2, "the last line has no end"),
        (b"0,0,1\n1,0\n", 3, "2 cells"),
        (b"0,0,1\n1,0,1,1\n", 3, "4 cells"),
        (b"0,0,1\n\n\n", 3, "the line is empty"),
        (b"0,0,1,5\n", 2, "4 cells"),
    ],
)
def test_b9_ragged_and_blank_lines(rows: bytes, line: int, what: str) -> None:
    with pytest.raises(RegistryError) as caught:
        read_table(HEADER + rows, "samples.csv", "samples")
    found = caught.value.findings[0]
    assert (found.line, what in found.what) == (line, True)


def test_b9_time_must_grow_and_numbers_must_be_in_range() -> None:
    for rows, code in (
        (b"1,0,1\n1,0,1\n", "C014"),
        (b"2,0,1\n1,0,1\n", "C014"),
        (b"0,0,4294967295\n", "C011"),
        (b"-1,0,1\n", "C011"),
        (b"1700000000,0,1\n", "C011"),
    ):
        assert codes_of(read_table, HEADER + rows, "p", "samples") == {code}


BOMB = b"a: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(
    b"%c: &%c [%s]\n" % (now, now, b",".join([b"*%c" % (now - 1)] * 9))
    for now in range(ord("b"), ord("j"))
)


@pytest.mark.parametrize(
    ("data", "codes"),
    [
        (BOMB, {"Y006"}),
        (b"a: " + b"[" * 60_000, {"Y003", "Y004"}),
        (b"a: " + b"[" * 17 + b"]" * 17, {"Y004"}),
        (b"a: " + b"{b: " * 17 + b"1" + b"}" * 17, {"Y004"}),
        (b"a:\n" + b"- x\n" * 12_000, {"Y001"}),
        (b"a: 1\na: 2\n", {"Y005"}),
        (b"a: {b: 1, b: 2}\n", {"Y005"}),
        (b"a: !!python/object/apply:os.system [id]\n", {"Y006"}),
        (b"!!python/name:os.system a: b\n", {"Y006"}),
        (b"a: 1\n--- \nb: 2\n", {"Y006"}),
        (b"base: &b {x: 1}\nc:\n  <<: *b\n", {"Y006"}),
        (b"%TAG ! tag:x,2000:\n---\na: 1\n", {"Y006"}),
        (b"? {a: 1}\n: 2\n", {"Y006"}),
        (b"a: 1\x00\n", {"Y002"}),
        (b"a: \x1b[2J\n", {"Y003"}),
        (b"a: " + b"b" * 70_000, {"Y001"}),
        (b"a:\n" + b" - " * 20_000, {"Y003", "Y004"}),
        (b"? " * 20_000, {"Y003", "Y004", "Y006"}),
    ],
    ids=range(18),
)
@pytest.mark.parametrize("loader", [yaml.CSafeLoader, yaml.SafeLoader])
def test_b10_yaml_features_that_bite(
    data: bytes, codes: set[str], loader: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(strict_yaml, "_LOADER", loader)
    assert codes_of(read_yaml, data, "specs/a.yaml") <= codes
    assert codes_of(read_spec, data, "specs/a.yaml") <= codes


def test_b10_scalars_are_not_converted() -> None:
    text = b"a: no\nb: 12:30:45\nc: 010\nd: 2026-01-01\ne: 1e3\nf: ~\ng: .inf\nh: 0x1\n"
    assert read_yaml(text, "p").value == {
        "a": "no",
        "b": "12:30:45",
        "c": "010",
        "d": "2026-01-01",
        "e": "1e3",
        "f": "~",
        "g": ".inf",
        "h": "0x1",
    }


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"[" * 100_000, "J004"),
        (b'{"a":' * 100_000, "J004"),
        (b"[" * 17 + b"]" * 17, "J004"),
        (b'{"a":1,"a":2}', "J005"),
        (b'{"b":{"a":1,"\\u0061":2}}', "J005"),
        (b"[NaN]", "J006"),
        (b"[Infinity]", "J006"),
        (b"[-Infinity]", "J006"),
        (b"[1e400]", "J006"),
        (b"[1.0]", "J006"),
        (b"[" + b"9" * 5000 + b"]", "J006"),
        (b"[9007199254740992]", "J006"),
        (b'["\\ud800"]', "J007"),
        (b'{"\\udc00":1}', "J007"),
        (b'["\\u0000"]', "J007"),
        (b'["\xed\xa0\x80"]', "J002"),
        (b'{"a":1}{"b":2}', "J003"),
        (b"{'a':1}", "J003"),
        (b"[1,]", "J003"),
        (b"[01]", "J003"),
        (b'"\\"' * 200_000, "J003"),
        (b"", "J003"),
    ],
    ids=range(22),
)
def test_b11_json_that_readers_disagree_on(data: bytes, code: str) -> None:
    assert codes_of(read_json, data, "p") == {code}
