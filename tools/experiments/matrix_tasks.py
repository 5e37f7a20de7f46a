"""The rows of a matrix as tasks: which are done, and which are to be made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
    shown,
)
from registry.documents.patterns import Expression
from tools.experiments.files import read_document
from tools.experiments.folders import foreign
from tools.experiments.matrix_rows import Row, applied, row_digest
from tools.experiments.spec import Spec

__all__ = [
    "ROW_FILE",
    "SCHEMA",
    "Policy",
    "State",
    "Task",
    "select_rows",
    "shared_service",
    "tasks",
]

ROW_FILE: Final = "row.json"
"""The file that says what became of a row, in its folder."""
SCHEMA: Final = "matrix-row/1"

TAKEN = code(
    "B057",
    Severity.ERROR,
    "A row of a matrix has results already.",
    "Give --resume to keep what is done, or --profile-output-overwrite to delete it.",
)
CHANGED = code(
    "B058",
    Severity.ERROR,
    "A row of a matrix has results of other conditions.",
    "Give another --profile-output, or --profile-output-overwrite to delete them.",
)
DIFFERENT = code(
    "B065",
    Severity.ERROR,
    "Rows of a matrix need different services, so one cannot be kept for all.",
    "Leave --keep-service out, or give all rows the same service and conditions of it.",
)
NO_ROW = code(
    "B060",
    Severity.ERROR,
    "An expression selects no row of the matrix.",
    "Give a regular expression that is found in the names of rows.",
)


class State(StrEnum):
    """What became of a row, or what is to become of it."""

    NEW = "new"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    REDO = "redo"
    RETRY = "retry"


@dataclass(frozen=True, slots=True)
class Policy:
    """What to do with rows that have results.

    Attributes:
        resume: keep those that are done, and make anew those that were only begun.
        retry_failed: make anew those that failed.
        overwrite: make all anew.
    """

    resume: bool = False
    retry_failed: bool = False
    overwrite: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """A row with its experiment and what is to be done.

    Attributes:
        row: the row.
        spec: its experiment.
        folder: its folder.
        digest: of everything that decides its results.
        state: done and failed rows stay as they are, all others are made.
        before: what an earlier matrix noted of it.
    """

    row: Row
    spec: Spec
    folder: Path
    digest: str
    state: State
    before: Mapping[str, Any]

    @property
    def kept(self) -> bool:
        """Whether the row stays as it is."""
        return self.state in {State.DONE, State.FAILED}


def select_rows(rows: Sequence[Row], expression: str | None) -> list[Row]:
    """Return the rows in whose name a regular expression is found.

    Raises:
        RegistryError: B060, it fits none or is no expression.
    """
    if expression is None:
        return list(rows)
    try:
        fits = Expression(expression).found_in
    except ValueError as error:
        what = f'"{shown(expression)}" is no regular expression: {error}'
        raise RegistryError(finding(NO_ROW, "--select", what)) from None
    found = [row for row in rows if fits(row.name)]
    if not found:
        what = f'"{shown(expression)}" is found in none of {len(rows)} rows'
        raise RegistryError(finding(NO_ROW, "--select", what))
    return found


def tasks(
    rows: Sequence[Row], spec: Spec, folder: Path, path: str, policy: Policy
) -> list[Task]:
    """Find out what is to be done, before anything is.

    Args:
        rows: the rows.
        spec: the experiment that rows change.
        folder: where the folders of rows are.
        path: the matrix's file, for findings.
        policy: what to do with results that are there.

    Raises:
        RegistryError: the B codes of `applied`, B057, B058, with all rows' problems.
    """
    made: list[Task] = []
    found: list[Finding] = []
    for row in rows:
        try:
            own = applied(spec, row, path)
        except RegistryError as error:
            found.extend(error.findings)
            continue
        digest = row_digest(row, own)
        place = folder / row.name
        before = _noted(place)
        state = _state(place, before, digest, policy)
        if isinstance(state, Finding):
            found.append(state)
        else:
            made.append(Task(row, own, place, digest, state, before))
    if found:
        raise RegistryError(found[:100])
    return made


def shared_service(planned: Sequence[Task]) -> Task | None:
    """Return a task whose service is that of all rows that are to be made.

    Raises:
        RegistryError: B065, rows need different ones.
    """
    wanted = [task for task in planned if not task.kept]
    for task in wanted[1:]:
        first = wanted[0]
        if _service_of(first) != _service_of(task):
            what = f"{task.row.name} does not have the service of {first.row.name}"
            raise RegistryError(finding(DIFFERENT, "--keep-service", what))
    return wanted[0] if wanted else None


def _service_of(task: Task) -> tuple[object, ...]:
    """Return all that decides how the service of a row is started."""
    own = task.row.service_environment
    return task.spec.service, task.spec.visible_devices, task.spec.trace, dict(own)


def _noted(folder: Path) -> Mapping[str, Any]:
    """Read what an earlier matrix noted; nothing if it noted nothing that counts."""
    path = folder / ROW_FILE
    if path.is_symlink() or not path.is_file():
        return {}
    try:
        noted = read_document(path)
    except RegistryError:
        return {}
    return noted if noted.get("schema") == SCHEMA else {}


def _state(
    folder: Path, before: Mapping[str, Any], digest: str, policy: Policy
) -> State | Finding:
    if not folder.exists() and not folder.is_symlink():
        return State.NEW
    state = before.get("state")
    if policy.overwrite or (policy.resume and state not in {State.DONE, State.FAILED}):
        odd = foreign(folder)
        return odd[0] if odd else State.REDO
    if not policy.resume:
        return finding(TAKEN, str(folder), "its folder is there")
    if before.get("digest") != digest:
        what = "its conditions or the experiment have changed since"
        return finding(CHANGED, str(folder), what)
    if state == State.FAILED:
        return State.RETRY if policy.retry_failed else State.FAILED
    return State.DONE
