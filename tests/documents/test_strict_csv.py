"""CSV tables: what is read, each refusal with its line, and the canonical writer."""

from __future__ import annotations

import random
import time
from typing import NoReturn

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.documents import limits
from registry.documents.findings import RegistryError
from registry.documents.strict_csv import read_table, write_table

SAMPLES = b"""\
time_seconds,run,rapl_package_0_joules_total,acpi_watts,cpu_cycles_total
0,,10.5,200,1
1.000001,0,60.25,,123456789012345678
2,0,,210.125,3
"""
RUNS = b"""\
run,workload,placement,accepted,rejected_because,performance,performance_unit
0,idle,none,1,,,
1,w_abcdefghij27,compact,0,steal-time,12.5,bogo_ops
"""


def refusal(data: bytes, table: str = "samples") -> list[tuple[str, int | None, str]]:
    with pytest.raises(RegistryError) as caught:
        read_table(data, "t.csv", table)
    return [(found.code, found.line, found.what) for found in caught.value.findings]


def test_a_table_is_typed_by_the_catalogue() -> None:
    frame = read_table(SAMPLES, "samples.csv", "samples")
    assert frame.schema == {
        "time_seconds": pl.Float64,
        "run": pl.Int64,
        "rapl_package_0_joules_total": pl.Float64,
        "acpi_watts": pl.Float64,
        "cpu_cycles_total": pl.Float64,
    }
    assert frame["run"].to_list() == [None, 0, 0]
    assert frame["acpi_watts"].to_list() == [200.0, None, 210.125]


def test_words_are_texts() -> None:
    frame = read_table(RUNS, "runs.csv", "runs")
    assert frame["rejected_because"].to_list() == [None, "steal-time"]
    assert frame["accepted"].to_list() == [1, 0]


def test_canonical_tables_survive_reading_and_writing() -> None:
    assert write_table(read_table(RUNS, "p", "runs"), "runs") == RUNS
    frame = read_table(SAMPLES, "p", "samples")
    again = read_table(write_table(frame, "samples"), "p", "samples")
    assert again.equals(frame)


@pytest.mark.parametrize(
    ("row", "code", "what"),
    [
        ("3,0,+1,2,3", "C003", "0x2b"),
        ("3,0,1 ,2,3", "C003", "0x20"),
        ('3,0,"1",2,3', "C003", "0x22"),
        ("3,0,1\r,2,3", "C003", "0x0d"),
        ("3,0,1,2", "C004", "4 cells, the header has 5"),
        ("3,0,1,2,3,4", "C004", "6 cells, the header has 5"),
        ("", "C004", "the line is empty"),
        ("3,0,1e5,2,3", "C010", '"1e5" is no plain number'),
        ("3,0,nan,2,3", "C010", "nan"),
        ("3,0,inf,2,3", "C010", "inf"),
        ("3,0,01,2,3", "C010", "01"),
        ("3,0,-0,2,3", "C010", "-0"),
        ("3,0,-0.000,2,3", "C010", "-0.000"),
        ("3,0,1_000,2,3", "C010", "1_000"),
        ("3,0,1.0000000001,2,3", "C010", "1.0000000001"),
        ("3,0,1,2,1234567890123456789", "C010", "1234567890123456789"),
        ("3,0.5,1,2,3", "C010", "is no whole number"),
        ("3,0,-1,2,3", "C011", "is outside 0 to"),
        ("3,0,1,4294967.295,3", "C011", "is outside 0.1 to 100000 watts"),
        ("3,0,1,0,3", "C011", "acpi_watts"),
        (",0,1,2,3", "C013", "time_seconds"),
        ("2,0,1,2,3", "C014", "is not after"),
        ("1,0,1,2,3", "C014", "is not after"),
    ],
)
def test_a_bad_cell_is_named_with_its_line(row: str, code: str, what: str) -> None:
    ((found, line, sentence),) = refusal(SAMPLES + row.encode() + b"\n")
    assert (found, line) == (code, 5)
    assert what in sentence


@pytest.mark.parametrize(
    ("data", "code", "what"),
    [
        (b"", "C004", "the file is empty"),
        (b"time_seconds,run", "C004", "the last line has no end"),
        (b"time_seconds,run\n", "C008", "only a header"),
        (b"time_seconds,run,run\n1,2,3\n", "C006", "run appears twice"),
        (b"time_seconds\n1\n", "C007", "no column run"),
        (b"time_seconds,run,\n1,2,3\n", "C005", 'column 3 ""'),
        (b"time_seconds,run,hostname\n1,2,a\n", "C005", "hostname"),
        (b"time_seconds,run,workload\n1,2,int\n", "C005", "workload"),
        (b"time_seconds,run,cycles\n1,2,3\n", "C005", "has cpu_cycles_total"),
        (b"time_seconds,run,acpi_watts\n1,2,\n", "C016", "empty in every row"),
    ],
)
def test_a_bad_header_or_shape_is_named(data: bytes, code: str, what: str) -> None:
    ((found, _, sentence),) = refusal(data)
    assert found == code
    assert what in sentence


@pytest.mark.parametrize(
    ("row", "code"),
    [
        (b"2,secret-job,none,1,,,", "C012"),
        (b"2,w_ABC,none,1,,,", "C012"),
        (b"2,idle,here,1,,,", "C012"),
        (b"2,idle,none,2,,,", "C011"),
        (b"2,idle,none,1,because,,", "C012"),
        (b"1,idle,none,1,,,", "C015"),
        (b",idle,none,1,,,", "C013"),
        (b"2,,none,1,,,", "C013"),
    ],
)
def test_runs_hold_no_free_text(row: bytes, code: str) -> None:
    assert [found for found, _, _ in refusal(RUNS + row + b"\n", "runs")] == [code]


def test_many_bad_cells_are_counted() -> None:
    rows = b"".join(b"%d,x\n" % number for number in range(20))
    found = refusal(b"time_seconds,run\n" + rows)
    assert [line for _, line, _ in found] == [2, 3, 4, 5, 6, None]
    assert "15 more" in found[-1][2]


def test_many_ragged_lines_are_counted() -> None:
    found = refusal(b"time_seconds,run\n" + b"1\n" * 9)
    assert [line for _, line, _ in found] == [2, 3, 4, 5, 6, None]
    assert "9 lines in all" in found[-1][2]


def test_problems_of_several_columns_are_found_at_once() -> None:
    found = refusal(SAMPLES + b"1,x,x,0,x\n")
    assert [code for code, _, _ in found] == ["C014", "C010", "C010", "C011", "C010"]


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"a" * 70_000 + b"\n1\n", "longer than 65536 bytes"),
        (b"a," * 300 + b"a\n", "301 columns, at most 256"),
        (b"time_seconds,run\n" + b"1," * 40_000 + b"\n", "longer than 65536 bytes"),
        (b"time_seconds,run\n" + b"\n" * 2_000_001, "2000001 rows"),
        (b"," * (limits.FILE_BYTES - 1) + b"\n", "52428800 columns"),
        (b"1" * (limits.FILE_BYTES + 1), "52428801 bytes"),
    ],
    ids=["header", "columns", "line", "rows", "commas", "file"],
)
def test_floods_are_refused_at_once(data: bytes, what: str) -> None:
    start = time.perf_counter()
    found = refusal(data)
    assert [code for code, _, sentence in found if what in sentence] == ["C001"]
    assert len(found) < 20
    assert time.perf_counter() - start < 30


def test_many_unknown_columns_take_no_time() -> None:
    start = time.perf_counter()
    header = ",".join(f"unknown_{number}{'x' * 200}" for number in range(256))
    found = refusal(f"{header}\n{','.join('1' * 256)}\n".encode())
    assert len(found) == 258
    assert time.perf_counter() - start < 30


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(
            st.none() | st.integers(0, 10**6),
            st.none() | st.floats(0.1, 1e5, allow_nan=False),
            st.none() | st.integers(0, 10**15),
        ),
        min_size=1,
        max_size=20,
    )
)
def test_what_is_written_reads_back(
    rows: list[tuple[int | None, float | None, int | None]],
) -> None:
    runs, watts, cycles = zip(*rows, strict=True)
    columns = {
        "time_seconds": pl.Series(range(len(rows)), dtype=pl.Float64),
        "run": pl.Series(runs, dtype=pl.Int64),
    }
    if any(item is not None for item in watts):
        rounded = [None if item is None else round(item, 9) for item in watts]
        columns["acpi_watts"] = pl.Series(rounded, dtype=pl.Float64)
    if any(item is not None for item in cycles):
        columns["cpu_cycles_total"] = pl.Series(cycles, dtype=pl.Float64)
    frame = pl.DataFrame(columns)
    data = write_table(frame, "samples")
    assert read_table(data, "p", "samples").equals(frame)
    assert write_table(read_table(data, "p", "samples"), "samples") == data


def test_frames_that_are_no_table_are_not_written() -> None:
    with pytest.raises(RegistryError, match="C005"):
        write_table(pl.DataFrame({"x": [1]}), "samples")
    empty = pl.DataFrame(schema={"time_seconds": pl.Float64, "run": pl.Int64})
    with pytest.raises(RegistryError, match="C008"):
        write_table(empty, "samples")
    endless = pl.DataFrame({"time_seconds": [float("inf")], "run": [1]})
    with pytest.raises(ValueError, match="no plain decimal"):
        write_table(endless, "samples")


def test_what_polars_refuses_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> NoReturn:
        raise pl.exceptions.ComputeError("no")

    monkeypatch.setattr(pl, "read_csv", fails)
    ((code, _, _),) = refusal(SAMPLES)
    assert code == "C009"


def test_nan_is_missing() -> None:
    frame = pl.DataFrame({"run": [0, 1], "acpi_watts": [float("nan"), 0.5]})
    assert write_table(frame, "levels") == b"run,acpi_watts\n0,\n1,0.5\n"


def test_a_large_table_is_read_in_seconds() -> None:
    chance = random.Random(1)
    lines = [
        f",1,{chance.random() * 262143:.6f},{chance.randrange(10**12, 10**15)},"
        f"{chance.randrange(100, 400)},{chance.randrange(10**9)}.5"
        for _ in range(1000)
    ]
    body = "".join(f"{second}{lines[second % 1000]}\n" for second in range(300_000))
    header = (
        "time_seconds,run,rapl_package_0_joules_total,cpu_cycles_total,acpi_watts,"
        "cpu_seconds_total\n"
    )
    data = (header + body).encode()
    assert len(data) < limits.FILE_BYTES
    start = time.perf_counter()
    frame = read_table(data, "p", "samples")
    assert frame.height == 300_000
    assert time.perf_counter() - start < 30
