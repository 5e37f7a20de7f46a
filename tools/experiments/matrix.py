"""A matrix of experiments, row by row, that can be stopped and taken up again.

Each row has a folder of its own with a file that says what became of it, under a digest
of everything that decides its results. A row that was begun and not ended is made anew.
"""

from __future__ import annotations

import fcntl
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from registry.documents.findings import RegistryError, Severity, code, finding
from tools.experiments.files import write_document
from tools.experiments.folders import Reuse, open_folder, remove_ours
from tools.experiments.matrix_tasks import ROW_FILE, SCHEMA, State, Task
from tools.experiments.occupancy import in_use
from tools.experiments.record import Run

__all__ = ["Done", "Runner", "perform_matrix"]

LOCK: Final = "matrix.lock"

BUSY = code(
    "B059",
    Severity.ERROR,
    "Another matrix is running in the folder.",
    "Wait for its end, or give another --profile-output.",
)


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
        RegistryError: B012 to B014, B059: the folder cannot be used.
    """
    open_folder(folder, base, Reuse.APPEND, {"name": folder.name})
    with in_use(folder), _locked(folder):
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
        "schema": SCHEMA,
        "name": task.row.name,
        "values": dict(task.row.values),
        "digest": task.digest,
        "state": state.value,
        **facts,
    }
    write_document(task.folder / ROW_FILE, document)
