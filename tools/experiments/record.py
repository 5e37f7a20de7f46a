"""The record of one run, and all records below a folder.

    for run in read_runs(Path("~/powerkit_profiles/host-a/resnet").expanduser()):
        print(run.workload, run.wall_seconds, run.accepted)

The format run/1 is stable: fields are added, never renamed. What a run left behind, the
record among it, lies in a folder of its own, so records need no index.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from registry.documents.findings import Finding, RegistryError, Severity, code, finding
from registry.documents.validation import Document, DocumentCodes, validate
from tools.experiments.files import read_document, write_document

__all__ = [
    "RECORD",
    "Init",
    "Run",
    "RunFile",
    "RunHost",
    "read_run",
    "read_runs",
    "write_run",
]

RECORD: Final = "run.json"
"""The name of a record in the folder of its run."""
_RUNS: Final = 100_000
_DEPTH: Final = 6

CODES = DocumentCodes(
    unknown=code(
        "B003",
        Severity.ERROR,
        "A record of a run holds a field that no record has.",
        "Read it with the version of the kit that wrote it.",
    ),
    missing=code(
        "B004",
        Severity.ERROR,
        "A record of a run lacks a field.",
        "Delete the folder of the run: such a record is not ours or was changed.",
    ),
    value=code(
        "B005",
        Severity.ERROR,
        "A value in a record of a run is not allowed.",
        "Delete the folder of the run: such a record is not ours or was changed.",
    ),
    contradiction=code(
        "B006",
        Severity.ERROR,
        "Values of a record of a run contradict each other.",
        "Delete the folder of the run: such a record is not ours or was changed.",
    ),
)
NO_RUNS = code(
    "B007",
    Severity.ERROR,
    "A folder holds no record of a run, or too many.",
    "Give the folder of an experiment, which has a folder for each run.",
)

Text = Annotated[str, Field(max_length=4096)]
Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0)]


class Init(StrEnum):
    """When a workload makes ready what it needs."""

    LAZY = "lazy"
    """When it is first needed, inside what is measured."""
    EAGER = "eager"
    """Before the measured part begins, as a phase of its own."""
    ASYNC = "async"
    """In the background while the measured part begins."""


class RunFile(Document):
    """A file that a run left behind.

    Attributes:
        path: Its name in the folder of the run.
        bytes: Its size.
        sha256: Its digest in hexadecimal digits.
    """

    path: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
    bytes: Count
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class RunHost(Document):
    """What a run ran on; never its name.

    Attributes:
        cpu: The processor's model, as the system calls it.
        cores: Logical processors that this process may use.
    """

    cpu: Text
    cores: Count


class Run(Document):
    """One run of a workload.

    Attributes:
        schema_id: The version of this format; ``schema`` in the document.
        run_id: Its unique name, which is also its folder's.
        experiment: The name of the experiment.
        description: Free text of whoever ran it.
        workload: What ran.
        item: The model or data set that it ran on, if the workload has such.
        variant: Which of several variants it was; ``none`` where there is one.
        iteration: Counted from 1 for each workload, item and variant.
        repeat: The round of a comparison, from 1; 1 elsewhere.
        comparison: The comparison that its round is of; None elsewhere.
        warm_up: Whether it was made only to warm caches; statistics leave it out.
        command: The program and its arguments, placeholders filled in.
        environment: Variables that we set: pins and the experiment's own.
        parameters: Conditions of the experiment by name, such as ``concurrency``.
        init: How the workload was told to initialise.
        warm: Whether the same workload and item had ended before it began, in this
            experiment and variant, so that caches may have been filled.
        started: The start in UTC, to the microsecond.
        started_monotonic_ns: The same instant on CLOCK_MONOTONIC, which samples share.
        wall_seconds: From its start until its end was seen.
        user_seconds: Processor time in user mode, with children that it waited for.
        system_seconds: The same in the kernel.
        max_rss_bytes: The most memory that it held at once; None if that was less than
            this kit's own, below which the kernel's number says nothing about a child.
        returncode: Its exit code, minus the signal that ended it, or None if it could
            not be started.
        timed_out: Whether it was ended since its time was over.
        phases: Seconds of each phase that it reported, such as ``init``.
        performance: What it reported of its performance; more is better.
        performance_unit: The unit of that.
        trace: What the reader of traces found in its trace.
        monitors: Summary of each column that was sampled, and what was missing.
        service: The service that it ran against.
        problems: Why it does not count, although it may have ended well.
        files: What else lies in its folder.
        host: What it ran on.
        folder: Where it lies; not part of the document.
    """

    schema_id: Literal["run/1"] = Field(default="run/1", alias="schema")
    run_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
    experiment: Text
    description: Text = ""
    workload: Text
    item: Text | None = None
    variant: Text = "none"
    iteration: Count
    repeat: Count = 1
    comparison: Text | None = None
    warm_up: bool = False
    command: tuple[str, ...]
    environment: dict[str, str] = Field(default_factory=dict)
    parameters: dict[str, str | int | float | bool | None] = Field(default_factory=dict)
    init: Init
    warm: bool
    started: Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z$")]
    started_monotonic_ns: Count
    wall_seconds: Seconds
    user_seconds: Seconds
    system_seconds: Seconds
    max_rss_bytes: Count | None
    returncode: int | None
    timed_out: bool
    phases: dict[str, Seconds] = Field(default_factory=dict)
    performance: float | None = None
    performance_unit: Text | None = None
    trace: dict[str, int | bool | str] | None = None
    monitors: dict[str, Any] = Field(default_factory=dict)
    service: dict[str, Any] | None = None
    problems: tuple[Text, ...] = ()
    files: tuple[RunFile, ...] = ()
    host: RunHost
    folder: Path | None = Field(default=None, exclude=True)

    @property
    def accepted(self) -> bool:
        """Whether it ended well, by itself, and delivered what it should."""
        return self.returncode == 0 and not self.timed_out and not self.problems

    @property
    def label(self) -> str:
        """Workload and item in one text."""
        return self.workload if self.item is None else f"{self.workload}/{self.item}"

    def file(self, name: str) -> Path | None:
        """Return where a file of the run lies, or None if it left no such file."""
        if self.folder is None or all(one.path != name for one in self.files):
            return None
        return self.folder / name


def write_run(run: Run, folder: Path) -> None:
    """Write the record of a run into its folder, whole."""
    write_document(folder / RECORD, run.model_dump(mode="json", by_alias=True))


def read_run(folder: Path) -> Run:
    """Read the record in the folder of a run.

    Raises:
        RegistryError: B001 to B006.
    """
    path = folder / RECORD
    value = read_document(path)
    value.pop("folder", None)
    run = validate(Run, value, str(path), CODES)
    return run.model_copy(update={"folder": folder})


def read_runs(folder: Path) -> list[Run]:
    """Read all records in a folder and below, in the order in which the runs started.

    Args:
        folder: the folder of a run, an experiment, a matrix or a host. Symbolic links
            below it are not followed.

    Raises:
        RegistryError: B001 to B007, with everything that is wrong in all records.
    """
    runs: list[Run] = []
    found: list[Finding] = []
    for number, place in enumerate(_places(folder, _DEPTH)):
        if number >= _RUNS:
            what = f"more than {_RUNS} runs"
            raise RegistryError(finding(NO_RUNS, str(folder), what))
        try:
            runs.append(read_run(place))
        except RegistryError as error:
            found.extend(error.findings)
    if found:
        raise RegistryError(found)
    if not runs:
        what = "there is no run.json in it or below"
        raise RegistryError(finding(NO_RUNS, str(folder), what))
    return sorted(runs, key=lambda run: (run.started, run.run_id))


def _places(folder: Path, depth: int) -> Iterator[Path]:
    """Folders that hold a record, never through a symbolic link."""
    try:
        with os.scandir(folder) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        what = error.strerror or "it cannot be listed"
        raise RegistryError(finding(NO_RUNS, str(folder), what)) from None
    if any(entry.name == RECORD for entry in listed):
        yield folder
        return
    for entry in listed:
        if depth and entry.is_dir(follow_symlinks=False):
            yield from _places(folder / entry.name, depth - 1)
