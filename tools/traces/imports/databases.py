"""Reads SQLite databases that somebody else wrote, and trusts nothing in them.

with Database(path) as database:
    for start, end in database.rows("CUPTI_ACTIVITY_KIND_RUNTIME", ("start", "end")):
        ...

A database can hold programs: views, triggers, virtual tables, computed columns. Only
plain tables are read, only by statements of ours, within limits of size and work.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import quote

from registry.documents.findings import RegistryError, Severity, code, finding, shown

__all__ = ["DAMAGED", "NOT_READ", "ROWS", "TOO_LARGE", "Database", "is_database"]

NOT_READ = code(
    "V050",
    Severity.ERROR,
    "A file to be imported is not what the importer reads.",
    "Give the file as the named tool saved it, and name the tool with `--from`.",
)
DAMAGED = code(
    "V051",
    Severity.ERROR,
    "A database is damaged, or is more than plain tables.",
    "Export it again with the tool that recorded it.",
)
TOO_LARGE = code(
    "V052",
    Severity.ERROR,
    "A recording is larger than what is imported.",
    "Record a shorter time, or fewer kinds of events.",
)
BESIDE = code(
    "V053",
    Severity.ERROR,
    "A part of a database lies in a second file.",
    "Close the tool that writes it, or open it once with `sqlite3 FILE .tables`.",
)
ROWS: Final = 50_000_000
"""Rows of one table."""
VALUE_BYTES: Final = 1 << 20
TEXT_CHARACTERS: Final = 4096
COLUMNS: Final = 500
TEXTS: Final = 65_536
"""How many looked-up texts are remembered."""
_MAGIC: Final = b"SQLite format 3\0"
_STEPS: Final = 1_000_000
"""Steps of SQLite's machine between two looks at how many it was."""
_STEPS_PER_BYTE: Final = 100
"""A scan needs one or two steps a byte; sorting by an index some more."""
_FUNCTIONS: Final = frozenset({"min", "typeof"})
_LIMITS: Final = {
    sqlite3.SQLITE_LIMIT_LENGTH: VALUE_BYTES,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: VALUE_BYTES,
    sqlite3.SQLITE_LIMIT_COLUMN: COLUMNS,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_ERRORS: Final = (sqlite3.Error, OverflowError, UnicodeError)
"""What sqlite3 raises; also about a damaged name that it wants to tell of."""
_PRAGMAS: Final = ("trusted_schema=OFF", "query_only=ON", "cell_size_check=ON")


def is_database(path: Path) -> bool:
    """Whether a file begins as those of SQLite do."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


class Database:
    """A database that is open for reading, and cannot be changed.

    Attributes:
        tables: the columns of each plain table, by its name.
    """

    tables: dict[str, frozenset[str]]

    def __init__(self, path: Path) -> None:
        """Open it.

        Raises:
            RegistryError: V050, V051 or V053: it is none, is damaged or is not whole.
        """
        self.path = path
        if not path.is_file() or not is_database(path):
            raise RegistryError(
                [finding(NOT_READ, str(path), "it is no SQLite database")]
            )
        self._is_whole()
        self._steps_left = 10 * _STEPS + _STEPS_PER_BYTE * path.stat().st_size
        # immutable: no lock and no journal, so nothing is ever written beside it
        name = f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1"
        self._connection = sqlite3.connect(name, uri=True)
        self.tables = {}
        self._programs: dict[str, str] = {}
        try:
            self._guard()
            self._read_schema()
        except _ERRORS as error:
            self.close()
            raise self._damaged(error) from None
        except RegistryError:
            self.close()
            raise

    def __enter__(self) -> Self:
        """Give itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def rows(
        self, table: str, columns: Sequence[str], *, order: str | None = None
    ) -> Iterator[tuple[Any, ...]]:
        """Rows of a table, in its own order or by a column.

        Args:
            table: its name; a table that is not there has no rows.
            columns: those that are wanted; one that is not there is None in each row.
            order: a column to sort by, rising.

        Raises:
            RegistryError: V051 or V052: it is damaged or too large.
        """
        if self._is_plain(table):
            wanted = ", ".join(self.column(table, one) for one in columns)
            by = f' ORDER BY "{order}"' if order in self.tables[table] else ""
            yield from self.query(table, f'SELECT {wanted} FROM "{table}"{by}')  # noqa: S608 - names of ours

    @property
    def names(self) -> frozenset[str]:
        """Names of tables, and of whatever stands in for one."""
        return frozenset(self.tables) | frozenset(self._programs)

    def column(self, table: str, name: str) -> str:
        """A column as a statement names it, or NULL where the table has none."""
        return f'"{name}"' if name in self.tables[table] else "NULL"

    def texts(self, table: str, key: str, value: str) -> Callable[[object], str | None]:
        """A function that looks texts up by a number, and remembers the latest.

        Args:
            table: the table of texts.
            key: its column of numbers.
            value: its column of texts.
        """
        if not self._is_plain(table) or not {key, value} <= self.tables[table]:
            return lambda _: None
        statement = f'SELECT "{value}" FROM "{table}" WHERE "{key}" = ?'  # noqa: S608 - names of ours

        @lru_cache(maxsize=TEXTS)
        def text(number: int) -> str | None:
            found = next(self.query(table, statement, (number,)), (None,))[0]
            return found if isinstance(found, str) else None

        return lambda number: text(number) if isinstance(number, int) else None

    def query(
        self, table: str, statement: str, values: Sequence[int] = ()
    ) -> Iterator[tuple[Any, ...]]:
        """Rows of a statement of ours about a table.

        Raises:
            RegistryError: V051 or V052: it is damaged or too large.
        """
        try:
            for number, row in enumerate(self._connection.execute(statement, values)):
                if number >= ROWS:
                    what = f"table {table} has more than {ROWS:,} rows"
                    raise RegistryError([finding(TOO_LARGE, str(self.path), what)])
                yield row
        except _ERRORS as error:
            raise self._damaged(error, table) from None

    def smallest(self, table: str, column: str) -> int | None:
        """The smallest whole number above 0 in a column, or None."""
        if not self._is_plain(table) or column not in self.tables[table]:
            return None
        # typeof: SQLite keeps any type in any column
        statement = (
            f'SELECT min("{column}") FROM "{table}"'  # noqa: S608 - names of ours
            f""" WHERE typeof("{column}") = 'integer' AND "{column}" > 0"""
        )
        return next((row[0] for row in self.query(table, statement)), None)

    def _is_whole(self) -> None:
        for suffix in ("-wal", "-journal"):
            beside = self.path.with_name(self.path.name + suffix)
            if beside.is_file() and beside.stat().st_size:
                what = f"{shown(beside.name)} holds changes that are not in it yet"
                raise RegistryError([finding(BESIDE, str(self.path), what)])

    def _guard(self) -> None:
        connection = self._connection
        for limit, value in _LIMITS.items():
            connection.setlimit(limit, value)
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        connection.text_factory = _text
        connection.set_authorizer(_authorise)
        connection.set_progress_handler(self._count_steps, _STEPS)

    def _count_steps(self) -> bool:
        self._steps_left -= _STEPS
        return self._steps_left < 0

    def _read_schema(self) -> None:
        """Learn which names are plain tables, and what the other ones are."""
        schema = "SELECT type, name, rootpage FROM sqlite_master"
        for kind, name, page in self.query("sqlite_master", schema):
            if kind == "table" and isinstance(page, int) and page > 0:
                quoted = str(name).replace('"', '""')
                # table_info leaves out computed columns, which are programs too
                described = self._connection.execute(f'PRAGMA table_info("{quoted}")')
                self.tables[str(name)] = frozenset(str(row[1]) for row in described)
            elif kind in {"table", "view"}:
                self._programs[str(name)] = "view" if kind == "view" else "program"

    def _is_plain(self, table: str) -> bool:
        if (kind := self._programs.get(table)) is not None:
            what = f"{shown(table)} is a {kind} where a table is expected"
            raise RegistryError([finding(DAMAGED, str(self.path), what)])
        return table in self.tables

    def _damaged(self, error: Exception, table: str | None = None) -> RegistryError:
        interrupted = "interrupted" in str(error)
        what = "it takes more steps to read than its size allows"
        if not interrupted:
            what = f"SQLite says: {shown(error, 120)}"
        where = "" if table is None else f"table {shown(table)}: "
        return RegistryError([finding(DAMAGED, str(self.path), where + what)])


def _text(value: bytes) -> str:
    return value[: 4 * TEXT_CHARACTERS].decode("utf-8", "replace")[:TEXT_CHARACTERS]


def _authorise(
    action: int, first: str | None, second: str | None, *_: str | None
) -> int:
    """Let a statement read columns, and call the functions of ours; nothing else."""
    if action in {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ}:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_PRAGMA and first == "table_info":
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION and second in _FUNCTIONS:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY
