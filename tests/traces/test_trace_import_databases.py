"""Databases that are damaged, hostile or none are refused, each with a reason."""

from __future__ import annotations

import functools
import sqlite3
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.documents.findings import Finding, RegistryError
from tests.simulators.profilers import (
    NSYS,
    NVPROF,
    nsys_recording,
    nvprof_recording,
    write,
)
from tools.traces.forms import Source
from tools.traces.imports import databases
from tools.traces.imports.importing import import_trace

if TYPE_CHECKING:
    from collections.abc import Callable

RUNTIME = "CUPTI_ACTIVITY_KIND_RUNTIME"


def refused(path: Path, source: Source = Source.AUTO) -> Finding:
    """Import a file, which must be refused and leave nothing; give the finding."""
    before = sorted(path.parent.iterdir())
    with pytest.raises(RegistryError) as error:
        import_trace(path, path.with_name("trace.json"), source)
    assert sorted(path.parent.iterdir()) == before
    return error.value.findings[0]


def changed(folder: Path, *statements: str) -> Path:
    """A database of nsys that somebody changed with statements of SQL."""
    path = write(folder / "nsys.sqlite", NSYS, nsys_recording())
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return path


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "nvprof.sqlite"
    path.write_bytes(b"SQLite format 2\0 or so")

    one = refused(path, Source.NVPROF)

    assert (one.code, one.what) == ("V050", "it is no SQLite database")


def test_a_report_of_nsys_has_to_be_exported_first(tmp_path: Path) -> None:
    path = tmp_path / "report1.nsys-rep"
    path.write_bytes(b"\0binary")

    one = refused(path)

    assert one.code == "V050"
    assert "nsys export --type sqlite" in one.what


@pytest.mark.parametrize("size", [16, 60, 100, 1000, 8192])
def test_a_database_that_is_cut_off_is_refused(tmp_path: Path, size: int) -> None:
    path = write(tmp_path / "nvprof.sqlite", NVPROF, nvprof_recording())
    path.write_bytes(path.read_bytes()[:size])

    assert refused(path).code == "V051"


def test_other_tables_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "places.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE moz_places (id INTEGER PRIMARY KEY)")
    connection.close()

    one = refused(path)

    assert one.code == "V050"
    assert one.what == "its tables are neither nvprof's nor nsys's: moz_places"


def test_a_view_in_place_of_a_table_is_refused(tmp_path: Path) -> None:
    path = changed(
        tmp_path,
        f"ALTER TABLE {RUNTIME} RENAME TO hidden",
        f"CREATE VIEW {RUNTIME} AS SELECT * FROM hidden",  # noqa: S608
    )

    one = refused(path)

    assert one.code == "V051"
    assert one.what == f"{RUNTIME} is a view where a table is expected"


def test_a_view_that_nobody_asks_for_does_no_harm(tmp_path: Path) -> None:
    path = changed(tmp_path, "CREATE VIEW mine AS SELECT * FROM StringIds")

    assert import_trace(path, tmp_path / "trace.json").read[RUNTIME] == 3


def test_a_virtual_table_is_refused(tmp_path: Path) -> None:
    path = changed(
        tmp_path,
        "DROP TABLE OSRT_API",
        "PRAGMA writable_schema=ON",
        "INSERT INTO sqlite_master VALUES ('table', 'OSRT_API', 'OSRT_API', 0,"
        " 'CREATE VIRTUAL TABLE OSRT_API USING nosuch(start)')",
    )

    one = refused(path)

    assert one.code == "V051"
    assert one.what == "OSRT_API is a program where a table is expected"


def test_a_computed_column_is_not_computed(tmp_path: Path) -> None:
    path = changed(
        tmp_path,
        "DROP TABLE OSRT_API",
        "CREATE TABLE OSRT_API (start INT, end INT GENERATED ALWAYS AS (start + 1),"
        " globalTid INT, nameId INT)",
        "INSERT INTO OSRT_API (start, globalTid, nameId) VALUES (1, 1, 1)",
    )

    account = import_trace(path, tmp_path / "trace.json")

    assert account.untimed["OSRT_API"] == 1


def test_changes_in_a_second_file_are_told_of(tmp_path: Path) -> None:
    path = write(tmp_path / "nsys.sqlite", NSYS, nsys_recording())
    (tmp_path / "nsys.sqlite-wal").write_bytes(b"wal")

    one = refused(path)

    assert one.code == "V053"
    assert one.what == "nsys.sqlite-wal holds changes that are not in it yet"


def test_nothing_is_written_beside_a_database(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    path = changed(folder, "PRAGMA journal_mode=WAL")
    before = path.read_bytes()

    with databases.Database(path) as database:
        assert next(database.rows(RUNTIME, ("start",)))
        assert list(folder.iterdir()) == [path]

    assert path.read_bytes() == before
    assert list(folder.iterdir()) == [path]


def test_a_value_that_is_too_large_is_refused(tmp_path: Path) -> None:
    path = changed(tmp_path, "UPDATE StringIds SET value = zeroblob(2000000)")

    one = refused(path)

    assert one.code == "V051"
    assert "string or blob too big" in one.what


def test_a_table_that_is_too_long_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "nsys.sqlite", NSYS, nsys_recording())
    monkeypatch.setattr(databases, "ROWS", 2)

    one = refused(path)

    assert one.code == "V052"
    assert one.what.endswith("has more than 2 rows")


def test_reading_that_takes_too_many_steps_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # every pair of starts and ends with one id is a row: 4 million of them
    marker = {"id": 1, "objectKind": 2, "objectId": b"\0" * 12, "name": 1}
    rows = nvprof_recording()
    rows["CUPTI_ACTIVITY_KIND_MARKER"] = [
        marker | {"flags": flag, "timestamp": 1000 + at}
        for at in range(1000)
        for flag in (2, 4)
    ]
    path = write(tmp_path / "nvprof.sqlite", NVPROF, rows)
    monkeypatch.setattr(databases, "_STEPS", 10_000)
    monkeypatch.setattr(databases, "_STEPS_PER_BYTE", 1)

    one = refused(path)

    assert one.code == "V051"
    assert one.what.endswith("it takes more steps to read than its size allows")


def test_text_that_is_no_utf8_is_mended(tmp_path: Path) -> None:
    path = changed(
        tmp_path, "UPDATE StringIds SET value = CAST(X'66FF6F' AS TEXT) WHERE id = 4"
    )

    import_trace(path, tmp_path / "trace.json")

    assert '"f\ufffdo"' in (tmp_path / "trace.json").read_text("utf-8")


def test_long_texts_are_cut(tmp_path: Path) -> None:
    path = changed(tmp_path, "UPDATE StringIds SET value = printf('%.*c', 90000, 'x')")

    import_trace(path, tmp_path / "trace.json")

    text = (tmp_path / "trace.json").read_text("utf-8")
    assert "x" * databases.TEXT_CHARACTERS in text
    assert "x" * (databases.TEXT_CHARACTERS + 1) not in text


def test_statements_of_ours_only_read_and_call_two_functions(tmp_path: Path) -> None:
    path = write(tmp_path / "nsys.sqlite", NSYS, nsys_recording())
    with databases.Database(path) as database:
        for statement in (
            "ATTACH 'other' AS other",
            "DELETE FROM StringIds",
            "SELECT load_extension('x')",
            "SELECT zeroblob(5)",
            "PRAGMA journal_mode=WAL",
            "CREATE TABLE a (b)",
        ):
            with pytest.raises(RegistryError, match="V051"):
                list(database.query("a", statement))


@functools.cache
def contents(source: Source) -> bytes:
    schema, rows = {
        Source.NVPROF: (NVPROF, nvprof_recording()),
        Source.NSYS: (NSYS, nsys_recording()),
    }[source]
    with tempfile.TemporaryDirectory() as folder:
        return write(Path(folder) / "a.sqlite", schema, rows).read_bytes()


@pytest.mark.parametrize("source", [Source.NVPROF, Source.NSYS])
def test_flipped_bits_are_findings_or_events(
    source: Source, tmp_path_factory: pytest.TempPathFactory
) -> None:
    _flip(source, tmp_path_factory.mktemp("flips"))()


def _flip(source: Source, folder: Path) -> Callable[[], None]:
    data = contents(source)
    # the first page has the header and the schema; all others have rows
    near = st.integers(0, 4095)
    far = st.integers(0, len(data) - 1)
    flips = st.lists(
        st.tuples(near | far, st.integers(0, 255)), min_size=1, max_size=20
    )

    @settings(max_examples=50)
    @given(flips)
    def check(changes: list[tuple[int, int]]) -> None:
        mutated = bytearray(data)
        for place, value in changes:
            mutated[place] = value
        path, out = folder / "a.sqlite", folder / "trace.json"
        path.write_bytes(mutated)
        out.unlink(missing_ok=True)
        try:
            account = import_trace(path, out, source)
        except RegistryError as error:
            codes = {one.code for one in error.findings}
            assert codes <= {"V050", "V051", "V052"}
            assert not out.exists()
        else:
            assert account.read
            assert out.read_bytes().endswith(b"}\n")
        assert {one.name for one in folder.iterdir()} <= {"a.sqlite", "trace.json"}

    return check
