"""The state file: which server runs under whose care, for other terminals and tools.

A supervisor holds a lock beside the file for as long as it lives, so there is one at a
time; the system lets go of the lock even when the supervisor is killed. A state whose
lock is free is stale. What it names is believed only if the process with that number
was started at the instant that it says.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Final, Literal, TypeAlias

from pydantic import ConfigDict, Field

from registry.documents.findings import RegistryError, Severity, code, finding
from registry.documents.strict_json import read_json
from registry.documents.validation import Document, DocumentCodes, validate
from tools.files.writing import write_whole
from tools.processes.marks import Mark

__all__ = ["Found", "Phase", "StateFile", "end_orphan", "find", "held_state"]

Phase: TypeAlias = Literal[
    "none", "starting", "ready", "stopping", "restarting", "stale", "orphaned"
]
_BYTES: Final = 1 << 20
_LOOKS: Final = 10

F017 = code(
    "F017",
    Severity.ERROR,
    "A service runs under this state file already.",
    "Stop it with `powerkit service stop`, or give this one its own --state.",
)
F018 = code(
    "F018",
    Severity.ERROR,
    "A server whose supervisor was killed still runs.",
    "End it with `powerkit service stop`; results would not be the new server's.",
)
F019 = code(
    "F019",
    Severity.ERROR,
    "A state file cannot be understood.",
    "Look which server it meant, end it, and remove the file.",
)


_CODES: Final = DocumentCodes(F019, F019, F019, F019)


class _Process(Document):
    pid: int = Field(ge=1)
    started: str

    @property
    def mark(self) -> Mark:
        return Mark(self.pid, self.started)


class _State(Document):
    model_config = ConfigDict(extra="allow")

    schema_: Literal["service-state/1"] = Field(alias="schema")
    phase: Literal["starting", "ready", "stopping", "restarting"]
    supervisor: _Process
    server: _Process | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What a state file and the system say together.

    Attributes:
        phase: what the service does; `none` without a state file, `stale` if its
            supervisor was killed, `orphaned` if the server lives on all the same.
        supervisor: the tool that cares for the server.
        server: the server's process.
        facts: everything that the file says.

    """

    phase: Phase
    supervisor: Mark | None
    server: Mark | None
    facts: dict[str, Any]

    @property
    def running(self) -> bool:
        """Whether a supervisor cares for it."""
        return self.phase not in {"none", "stale", "orphaned"}


class StateFile:
    """A supervisor's hold on a state file; see `held_state`."""

    def __init__(self, path: Path) -> None:
        """Take a file whose lock is held."""
        self.path = path
        self._facts: dict[str, Any] = {}

    def write(self, phase: Phase, **facts: Any) -> None:
        """Say what the service does now; facts that were said before stay."""
        own = Mark.of(os.getpid())
        assert own is not None  # noqa: S101  we run
        self._facts |= facts
        told = {"schema": "service-state/1", "phase": phase, "supervisor": asdict(own)}
        write_whole(self.path, json.dumps(told | self._facts, indent=2) + "\n")


@contextmanager
def held_state(path: Path) -> Iterator[StateFile]:
    """Hold the lock of a state file for a block, and remove the state at its end.

    Raises:
        RegistryError: F017 another holds it, F018 a server of a killed supervisor runs,
            F019 the file is no state.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _lock_of(path).open("ab") as lock:
        _take(lock, path)
        found = _read(path, locked=False)
        if found.phase == "orphaned" and found.server is not None:
            what = f"process {found.server.pid} outlived its supervisor"
            raise RegistryError([finding(F018, str(path), what)])
        try:
            yield StateFile(path)
        finally:
            path.unlink(missing_ok=True)


def find(path: Path) -> Found:
    """Say which service runs under a state file, if any.

    Raises:
        RegistryError: F019, the file is no state.
    """
    try:
        with _lock_of(path).open("rb") as lock:
            locked = not _locked(lock)
    except FileNotFoundError:
        locked = False
    return _read(path, locked=locked)


def end_orphan(
    path: Path,
    grace: float,
    *,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], object] = time.sleep,
) -> Found:
    """Remove a stale state, and end the server that it names if it runs still.

    Args:
        path: the state file.
        grace: seconds that the server is given before SIGKILL.
        clock: seconds, monotonic.
        pause: waits so many seconds.

    Returns:
        What was found before.

    Raises:
        RegistryError: F017, a supervisor has it by now; F019, the file is no state.
    """
    with _lock_of(path).open("ab") as lock:
        _take(lock, path)
        found = _read(path, locked=False)
        if found.phase == "orphaned" and found.server is not None:
            found.server.send(signal.SIGTERM, group=True)
            limit = clock() + grace
            while found.server.alive and clock() < limit:
                pause(0.02)
            found.server.send(signal.SIGKILL, group=True)
        path.unlink(missing_ok=True)
        return found


def _lock_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.lock")


def _locked(file: IO[bytes]) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def _take(lock: IO[bytes], path: Path) -> None:
    """Get the lock; a look at it, as `find` takes, is over in no time."""
    for _ in range(_LOOKS):
        if _locked(lock):
            return
        time.sleep(0.01)
    raise RegistryError([finding(F017, str(path), _holder(path))])


def _holder(path: Path) -> str:
    with suppress(RegistryError):
        found = _read(path, locked=True)
        if found.supervisor is not None:
            return f"process {found.supervisor.pid} cares for it"
    return "another tool holds its lock"


def _read(path: Path, *, locked: bool) -> Found:
    try:
        with path.open("rb") as file:
            data = file.read(_BYTES + 1)
    except FileNotFoundError:
        return Found("starting" if locked else "none", None, None, {})
    facts = read_json(data, str(path), floats=True)
    state = validate(_State, facts, str(path), _CODES)
    server = None if state.server is None else state.server.mark
    phase: Phase = state.phase
    if not locked:
        phase = "orphaned" if server is not None and server.alive else "stale"
    return Found(phase, state.supervisor.mark, server, state.model_dump(by_alias=True))
