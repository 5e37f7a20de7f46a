"""A matrix of experiments, row by row, that can be stopped and taken up again.

Each row has a folder of its own with a file that says what became of it, under a digest
of everything that decides its results. A row that was begun and not ended is made anew.
"""

from __future__ import annotations

import fcntl
import re
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
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
from tools.experiments.files import read_document, write_document
from tools.experiments.folders import Reuse, foreign, open_folder, remove_ours
from tools.experiments.matrix_rows import Row, applied, row_digest
from tools.experiments.record import Run
from tools.experiments.spec import Spec

__all__ = [
    "Done",
    "Policy",
    "Runner",
    "State",
    "Task",
    "perform_matrix",
    "select_rows",
    "tasks",
]

ROW_FILE: Final = "row.json"
LOCK: Final = "matrix.lock"
_SCHEMA: Final = "matrix-row/1"

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
BUSY = code(
    "B059",
    Severity.ERROR,
    "Another matrix is running in the folder.",
    "Wait for its end, or give another --profile-output.",
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


@dataclass(frozen=True, slots=True)
class Done:
    """What is known of a row at the end.

    Attributes:
        name: the row's.
        state: done or failed.
        kept: whether it was there already.
        runs: how many runs it has.
        failed: how many of them do not count.
        seconds: how long it took, with its service.
        median_wall_seconds: of the runs that count; None if there is none.
        problems: why no run could be made.
    """

    name: str
    state: State
    kept: bool
    runs: int
    failed: int
    seconds: float
    median_wall_seconds: float | None
    problems: tuple[str, ...] = ()


Runner = Callable[[Task, str], list[Run]]
"""Makes the runs of a row; the text says which row of how many it is."""


def select_rows(rows: Sequence[Row], expression: str | None) -> list[Row]:
    """Return the rows in whose name a regular expression is found.

    Raises:
        RegistryError: B060, it fits none or is no expression.
    """
    if expression is None:
        return list(rows)
    try:
        found = [row for row in rows if re.search(expression, row.name)]
    except re.error as error:
        what = f'"{shown(expression)}" is no regular expression: {error}'
        raise RegistryError(finding(NO_ROW, "--select", what)) from None
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


def _noted(folder: Path) -> Mapping[str, Any]:
    """Read what an earlier matrix noted; nothing if it noted nothing that counts."""
    path = folder / ROW_FILE
    if path.is_symlink() or not path.is_file():
        return {}
    try:
        noted = read_document(path)
    except RegistryError:
        return {}
    return noted if noted.get("schema") == _SCHEMA else {}


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


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep a second matrix out of the folder.

    Raises:
        RegistryError: B059, one is there.
    """
    with (folder / LOCK).open("wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            what = "its lock is held"
            raise RegistryError(finding(BUSY, str(folder), what)) from None
        yield


def perform_matrix(
    planned: Sequence[Task],
    folder: Path,
    base: Path,
    runner: Runner,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Done]:
    """Make all rows that are to be made, one after the other.

    Args:
        planned: the rows.
        folder: the matrix's folder.
        base: the folder of all results.
        runner: makes the runs of a row.
        clock: seconds, monotonic.

    Yields:
        Each row when it is ready, those that are kept too.

    Raises:
        RegistryError: B012, B013, B059: the folder cannot be used.
    """
    open_folder(folder, base, Reuse.APPEND, {"name": folder.name})
    with _locked(folder):
        for number, task in enumerate(planned, 1):
            if task.kept:
                yield _kept(task)
            else:
                where = f"{number} of {len(planned)} {task.row.name}: "
                yield _made(task, base, runner, where, clock)


def _kept(task: Task) -> Done:
    note = task.before
    numbers = {key: note.get(key) for key in ("runs", "failed", "seconds")}
    plain = {k: v if isinstance(v, int | float) else 0 for k, v in numbers.items()}
    wall = note.get("median_wall_seconds")
    return Done(
        task.row.name,
        task.state,
        True,  # noqa: FBT003  the field's name says what it is
        int(plain["runs"]),
        int(plain["failed"]),
        float(plain["seconds"]),
        wall if isinstance(wall, int | float) else None,
    )


def _made(
    task: Task, base: Path, runner: Runner, where: str, clock: Callable[[], float]
) -> Done:
    if task.state in {State.REDO, State.RETRY}:
        remove_ours(task.folder)
    open_folder(task.folder, base, Reuse.APPEND, {"name": task.row.name})
    _note(task, State.RUNNING, {})
    begun = clock()
    runs: list[Run] = []
    problems: tuple[str, ...] = ()
    try:
        runs = runner(task, where)
    except RegistryError as error:
        # One row's service may fail to start under its conditions; others go on.
        problems = tuple(f"{one.code} {one.path}: {one.what}" for one in error.findings)
    failed = sum(not run.accepted for run in runs)
    state = State.FAILED if failed or problems or not runs else State.DONE
    walls = [run.wall_seconds for run in runs if run.accepted and not run.warm_up]
    median = statistics.median(walls) if walls else None
    seconds = clock() - begun
    done = Done(
        task.row.name,
        state,
        False,  # noqa: FBT003
        len(runs),
        failed,
        seconds,
        median,
        problems,
    )
    facts = {
        "runs": done.runs,
        "failed": done.failed,
        "seconds": seconds,
        "median_wall_seconds": median,
        "problems": list(problems),
    }
    _note(task, state, facts)
    return done


def _note(task: Task, state: State, facts: Mapping[str, Any]) -> None:
    document = {
        "schema": _SCHEMA,
        "name": task.row.name,
        "values": dict(task.row.values),
        "digest": task.digest,
        "state": state.value,
        **facts,
    }
    write_document(task.folder / ROW_FILE, document)
