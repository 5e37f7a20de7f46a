"""Matrices as they are written: a table with a row each, or axes that are multiplied.

TRIMS's tables can be used as they are: rows whose outputfile begins with ``//`` are
skipped, and short rows lack their last columns. In YAML:

    schema: matrix/1
    experiment: models.yaml
    axes:
      concurrency: [1, 5, 10]
      distribution: [none, pareto]
    skip:
      - {concurrency: 10, distribution: pareto}
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field

from registry.documents import limits, strict_yaml
from registry.documents.findings import Finding, RegistryError, Severity, code, finding
from registry.documents.strict_text import decode
from registry.documents.validation import Document, DocumentCodes, validate
from tools.experiments.files import read_bytes
from tools.experiments.matrix_rows import (
    COLUMN,
    ROW,
    ROWS,
    Row,
    column_problem,
    row_of,
    unique,
)

__all__ = ["Matrix", "MatrixDocument", "read_matrix"]

_BYTES: Final = 4 * limits.MIB
_COLUMNS: Final = 64
_SKIP: Final = "//"

NOT_TABLE = code(
    "B052",
    Severity.ERROR,
    "A matrix is no table that can be read.",
    "Write UTF-8 CSV with a header line, which has the column outputfile.",
)
CODES = DocumentCodes(
    unknown=code(
        "B053",
        Severity.ERROR,
        "A matrix holds a field that no matrix has.",
        "Remove the field; `powerkit bench schema matrix` prints all fields.",
    ),
    missing=code(
        "B054",
        Severity.ERROR,
        "A matrix lacks a field.",
        "Add the field; `powerkit bench schema matrix` prints all fields.",
    ),
    value=code(
        "B055",
        Severity.ERROR,
        "A value in a matrix is not allowed.",
        "Use the type that `powerkit bench schema matrix` prints.",
    ),
    contradiction=code(
        "B056",
        Severity.ERROR,
        "Fields of a matrix contradict each other.",
        "Mend the one that is wrong.",
    ),
)

Value = Annotated[str, Field(max_length=4096)]


class MatrixDocument(Document):
    """A matrix in YAML.

    Attributes:
        schema_id: The version of this format; ``schema`` in the document.
        experiment: The experiment's file, relative to the document.
        axes: Values of each condition; every combination becomes a row.
        rows: Further rows, condition by condition; ``outputfile`` names one.
        skip: Conditions under which a combination is left out.
    """

    schema_id: Literal["matrix/1"] = Field(default="matrix/1", alias="schema")
    experiment: Value | None = None
    axes: dict[str, Annotated[tuple[Value, ...], Field(min_length=1)]] = Field(
        default_factory=dict
    )
    rows: tuple[dict[str, Value], ...] = ()
    skip: tuple[dict[str, Value], ...] = ()


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix that was read.

    Attributes:
        rows: its rows, in order.
        skipped: names of rows that their file says to skip.
        experiment: the file of the experiment, if the matrix names one.
    """

    rows: tuple[Row, ...]
    skipped: tuple[str, ...] = ()
    experiment: Path | None = None


def read_matrix(path: Path) -> Matrix:
    """Read a matrix: YAML by its ending, a table otherwise.

    Raises:
        RegistryError: B001, B050 to B056, Y codes, with every problem.
    """
    data = read_bytes(path, _BYTES)
    yaml = path.suffix.lower() in {".yaml", ".yml"}
    return read_axes(data, path) if yaml else read_table(data, str(path))


def read_table(data: bytes, path: str) -> Matrix:
    """Read a table.

    Raises:
        RegistryError: B050 to B052, with every problem.
    """
    text = decode(data, path, NOT_TABLE)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[Row] = []
    skipped: list[str] = []
    found: list[Finding] = []
    header: list[str] | None = None
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if header is None:
                header = _header(cells, path, reader.line_num)
                continue
            values = {k: v.strip() for k, v in zip(header, cells, strict=False)}
            if values.get("outputfile", "").startswith(_SKIP):
                skipped.append(values["outputfile"].removeprefix(_SKIP).strip())
                continue
            found += _too_long(header, cells, path, reader.line_num)
            _add(values, path, reader.line_num, rows, found)
    except csv.Error as error:
        what = str(error)
        found.append(finding(NOT_TABLE, path, what, line=reader.line_num))
    if header is None:
        found.append(finding(NOT_TABLE, path, "there is no header line"))
    return Matrix(_checked(rows, found, path), tuple(skipped))


def _header(cells: list[str], path: str, line: int) -> list[str]:
    names = [cell.strip() for cell in cells]
    wrong = [what for name in names if (what := column_problem(name)) is not None]
    found = [finding(COLUMN, path, what, line=line) for what in wrong[:20]]
    if "outputfile" not in names:
        what = "the column outputfile is missing"
        found.append(finding(NOT_TABLE, path, what, line=line))
    if len(set(names)) != len(names) or len(names) > _COLUMNS:
        what = f"a column is there twice, or there are more than {_COLUMNS}"
        found.append(finding(NOT_TABLE, path, what, line=line))
    if found:
        raise RegistryError(found)
    return names


def _too_long(
    header: list[str], cells: list[str], path: str, line: int
) -> list[Finding]:
    """Find a row with more cells than columns: a comma in a text without quotes."""
    if not any(cell.strip() for cell in cells[len(header) :]):
        return []
    what = f"{len(cells)} cells in {len(header)} columns: quote a text with a comma"
    return [finding(NOT_TABLE, path, what, line=line)]


def _add(
    values: Mapping[str, str],
    path: str,
    line: int | None,
    rows: list[Row],
    found: list[Finding],
) -> None:
    if len(rows) + len(found) >= ROWS:
        raise RegistryError([*found[:20], finding(ROW, path, f"more than {ROWS} rows")])
    try:
        rows.append(row_of(values, path, line))
    except RegistryError as error:
        found.extend(error.findings)


def _checked(rows: list[Row], found: list[Finding], path: str) -> tuple[Row, ...]:
    problems = [*found, *unique(rows, path)]
    if not problems and not rows:
        problems.append(finding(ROW, path, "there is no row"))
    if problems:
        raise RegistryError(problems[: limits.SHOWN_PER_DOCUMENT])
    return tuple(rows)


def read_axes(data: bytes, path: Path) -> Matrix:
    """Read a matrix in YAML.

    Raises:
        RegistryError: Y codes, B050 to B056, with every problem.
    """
    name = str(path)
    read = strict_yaml.read_yaml(data, name, comments=True)
    document = validate(MatrixDocument, read.value, name, CODES, read.lines)
    found: list[Finding] = []
    places = [("axes", key) for key in document.axes]
    places += [("rows", key) for row in document.rows for key in row]
    places += [("skip", key) for row in document.skip for key in row]
    for part, key in places:
        if (what := column_problem(key)) is not None:
            line = read.lines.get((part, key)) or read.lines.get((part,))
            found.append(finding(COLUMN, name, what, line=line))
    count = 1
    for values in document.axes.values():
        count *= len(values)
    if count + len(document.rows) > ROWS:
        found.append(finding(ROW, name, f"more than {ROWS} combinations"))
    if found:
        raise RegistryError(found[: limits.SHOWN_PER_DOCUMENT])
    rows: list[Row] = []
    skipped: list[str] = []
    for one in _combinations(document):
        if any(skip.items() <= one.items() for skip in document.skip):
            skipped.append(one["outputfile"])
        else:
            _add(one, name, None, rows, found)
    for number, row in enumerate(document.rows):
        named = row if "outputfile" in row else row | {"outputfile": _name(row)}
        _add(named, name, read.lines.get(("rows", number)), rows, found)
    experiment = document.experiment and path.resolve().parent / document.experiment
    return Matrix(_checked(rows, found, name), tuple(skipped), experiment or None)


def _combinations(document: MatrixDocument) -> list[dict[str, str]]:
    if not document.axes:
        return []
    every = itertools.product(*document.axes.values())
    found = [dict(zip(document.axes, values, strict=True)) for values in every]
    return [{**one, "outputfile": _name(one)} for one in found]


def _name(values: Mapping[str, str]) -> str:
    """Name a row after its conditions."""
    parts = [f"{key}-{value}" for key, value in values.items()]
    text = re.sub(r"[^A-Za-z0-9._+-]+", "-", "_".join(parts))
    return text.strip("-._+")[:100].rstrip(".") or "row"
