"""The cells of one column: grammar, type, range, enumeration and order, vectorised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from registry.documents import decimals, limits, workloads
from registry.documents.findings import Severity, code, finding, shown

if TYPE_CHECKING:
    from registry.documents.columns import Column
    from registry.documents.findings import Code, Finding

__all__ = ["WHOLE_BOUND", "typed"]

GRAMMAR = code(
    "C010",
    Severity.ERROR,
    "A cell is no plain decimal number.",
    "Write at most 15 digits before and 9 after a point (18 for whole numbers); no"
    " plus, exponent, comma, NaN, infinity, leading zeros or negative zero.",
    "B9",
)
RANGE = code(
    "C011",
    Severity.ERROR,
    "A number is outside the range of its column.",
    "Check the unit; leave cells empty whose reading failed.",
    "B9",
    "B13",
)
WORD = code(
    "C012",
    Severity.ERROR,
    "A text is none of its column's words.",
    "Use a word that docs/columns.md lists. A workload of your own is `other`, or `w_` "
    "and 12 of the characters a-z and 2-7.",
    "B9",
    "B14",
)
EMPTY = code(
    "C013",
    Severity.ERROR,
    "A cell is empty in a column that needs a value in every row.",
    "Fill the cell or leave the row out.",
    "B9",
)
ORDER = code(
    "C014",
    Severity.ERROR,
    "Times in a table do not grow from row to row.",
    "Sort the rows by a clock that never steps, and keep one row a time.",
    "B9",
)
REPEATED = code(
    "C015",
    Severity.ERROR,
    "The number of a run is given to more than one row.",
    "Number the runs so that each has one row.",
    "B9",
)
ALL_EMPTY = code(
    "C016",
    Severity.ERROR,
    "A column has no value at all.",
    "Leave the column out.",
    "B9",
)

WHOLE_BOUND: Final = 1e18
_INTEGER: Final = r"^(?:0|[1-9][0-9]{0,14})$"
_NEGATIVE_ZERO: Final = r"^-0(?:\.0*)?$"


def typed(
    cells: pl.Series, entry: Column, table: str, path: str, problems: list[Finding]
) -> pl.Series:
    """Check the texts of a column and return its values.

    Args:
        cells: The texts, null where a value is missing; the first is on line 2.
        entry: What the catalogue says of the column.
        table: The table's name.
        path: The file's name in findings.
        problems: Where findings are added.

    Returns:
        Int64, Float64 or String with nulls; of no use if there were findings.

    """
    check = _Check(cells, entry.name, path, problems)
    present = cells.is_not_null()
    if table in entry.filled:
        check.refuse(~present, EMPTY, "is empty")
    elif not present.any() and table != "runs" and not entry.required:
        problems.append(
            finding(ALL_EMPTY, path, f"{entry.name} is empty in every row", line=1)
        )
    if entry.kind == "text":
        check.refuse(
            present & ~_is_word(cells, entry), WORD, "is no word of the column"
        )
        return cells
    pattern = _INTEGER if entry.kind == "id" else decimals.GRAMMAR
    good = cells.str.contains(pattern)
    if cells.str.starts_with("-").any():
        good &= ~cells.str.contains(_NEGATIVE_ZERO)
    wanted = "is no whole number" if entry.kind == "id" else "is no plain number"
    if check.refuse(present & ~good, GRAMMAR, wanted):
        return cells
    dtype = pl.Int64 if entry.kind == "id" else pl.Float64
    values = cells.cast(dtype)
    low, high = entry.minimum, entry.maximum
    outside = (values < low) | (values > high)
    extent = f"{decimals.plain(low)} to {decimals.plain(high)} {entry.unit}".strip()
    check.refuse(outside, RANGE, f"is outside {extent}")
    if entry.name == "time_seconds":
        check.refuse(
            values.diff() <= 0, ORDER, "is not after the time of the row before"
        )
    if table == "runs" and entry.name == "run":
        check.refuse(present & ~values.is_first_distinct(), REPEATED, "is taken")
    return values


def _is_word(cells: pl.Series, entry: Column) -> pl.Series:
    if entry.values:
        return cells.is_in(list(entry.values))
    return cells.str.contains(workloads.LABEL_PATTERN)


class _Check:
    """Turns masks of bad cells into findings: the first few by line, and a count."""

    def __init__(
        self, cells: pl.Series, name: str, path: str, problems: list[Finding]
    ) -> None:
        self._cells = cells
        self._name = name
        self._path = path
        self._problems = problems

    def refuse(self, bad: pl.Series, kind: Code, why: str) -> bool:
        """Add findings for the marked cells; tell whether there are any."""
        rows = bad.fill_null(value=False).arg_true()
        for row in rows.head(limits.SHOWN_PER_COLUMN):
            what = f'{self._name}: "{shown(self._cells[row] or "", 40)}" {why}'
            self._problems.append(finding(kind, self._path, what, line=row + 2))
        more = len(rows) - limits.SHOWN_PER_COLUMN
        if more > 0:
            what = f"{self._name}: {more} more cells are wrong in the same way"
            self._problems.append(finding(kind, self._path, what))
        return len(rows) > 0
