"""The file that describes a server under test: how it starts, is ready, and ends.

    command: ./server --port 8080
    ready: http://localhost:8080/health
    ready_timeout_seconds: 20
    env:
      OMP_NUM_THREADS: 1
    build: make -j2
    restart:
      policy: on-failure
      limit: 3

Paths in it are relative to its folder, so that it means the same from everywhere.
"""

from __future__ import annotations

import re
import shlex
import signal
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from registry.documents import limits
from registry.documents.findings import Severity, code
from registry.documents.strict_yaml import read_yaml
from registry.documents.validation import (
    Document,
    DocumentCodes,
    contradictions,
    validate,
)
from tools.processes.output import LOG_BYTES
from tools.services.readiness import Probe, read_probe
from tools.services.store import StoreOptions

__all__ = [
    "CODES",
    "Command",
    "Restart",
    "ServiceSpec",
    "SignalNumber",
    "read_service",
    "read_signal",
    "split_command",
]

_FIX: Final = "Use the keys and values that `powerkit service run --help` lists."
CODES: Final = DocumentCodes(
    unknown=code(
        "F010", Severity.ERROR, "A service's file holds a key that it lacks.", _FIX
    ),
    missing=code("F011", Severity.ERROR, "A service's file lacks a key.", _FIX),
    value=code(
        "F012", Severity.ERROR, "A value that describes a service is not allowed.", _FIX
    ),
    contradiction=code(
        "F013",
        Severity.ERROR,
        "Values that describe a service contradict each other.",
        "Keep one of the two.",
    ),
)
_SIGNALS: Final = ("TERM", "INT", "QUIT", "HUP", "USR1", "USR2", "KILL")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_VARIABLES: Final = 512
_WORDS: Final = 1024


def split_command(value: object) -> tuple[str, ...]:
    """A command as words: a list of them, or a text that is quoted as for a shell.

    No shell ever runs it.

    Raises:
        ValueError: it is no command; the message says why.
    """
    if isinstance(value, str):
        try:
            value = shlex.split(value)
        except ValueError as error:
            raise ValueError(f"its quotes do not match: {error}") from None
    if not isinstance(value, list | tuple) or not value:
        raise ValueError("it must be a command: a text, or a list of words")
    if len(value) > _WORDS or not all(isinstance(word, str) for word in value):
        raise ValueError(f"a command is a list of at most {_WORDS} words")
    if not value[0] or any("\0" in word for word in value):
        raise ValueError("a command names a program, and holds no zero character")
    return tuple(value)


def read_signal(value: object) -> signal.Signals:
    """A signal by its name, with or without SIG.

    Raises:
        ValueError: it is none that a server can be asked to end by.
    """
    name = value.name if isinstance(value, signal.Signals) else str(value)
    name = name.upper().removeprefix("SIG")
    if name not in _SIGNALS:
        raise ValueError(f"it must be one of {', '.join(_SIGNALS)}")
    return signal.Signals[f"SIG{name}"]


def _said(read: Any) -> BeforeValidator:
    """Have pydantic say the reader's own words."""

    def check(value: object) -> Any:
        try:
            return read(value)
        except ValueError as error:
            raise PydanticCustomError("words", "{why}", {"why": str(error)}) from None

    return BeforeValidator(check)


def _variables(value: object) -> object:
    if not isinstance(value, dict):
        raise ValueError("it must be a block of variables")  # noqa: TRY004
    if len(value) > _VARIABLES:
        raise ValueError(f"at most {_VARIABLES} variables are allowed")
    bad = [
        name
        for name, text in value.items()
        if not _VARIABLE.fullmatch(name) or not isinstance(text, str) or "\0" in text
    ]
    if bad:
        raise ValueError(f"not a variable with a text: {bad[0][:40]}")
    return value


def _path(value: object) -> object:
    if not isinstance(value, str | Path) or not str(value) or "\0" in str(value):
        raise ValueError("it must be a path")
    return value


def _probe(value: object) -> object:
    if value is not None and not isinstance(value, str):
        raise ValueError("it must be a text")
    read_probe(value)
    return value


Command = Annotated[tuple[str, ...], _said(split_command)]
SignalNumber = Annotated[signal.Signals, _said(read_signal)]
Place = Annotated[Path, _said(_path)]


class Restart(Document):
    """What follows when the server ends by itself.

    Attributes:
        policy: `never`, or `on-failure`: started anew unless it ended with 0.
        limit: how often it is started anew at most.
        delay_seconds: the pause before.

    """

    policy: Literal["never", "on-failure"] = "never"
    limit: int = Field(default=3, ge=0, le=1000)
    delay_seconds: float = Field(default=1.0, ge=0, le=3600)


class ServiceSpec(Document):
    """A server under test.

    Attributes:
        command: the program and its arguments.
        name: what people call it.
        cwd: the folder it is started in.
        env: variables that are added to our environment.
        ready: the probe; see `tools.services.readiness`.
        ready_timeout_seconds: when it is late.
        build: the command that builds it.
        build_timeout_seconds: when a build is ended; the setting if absent.
        stop_signal: the signal that asks it to end.
        grace_seconds: how long it is given then, before SIGKILL.
        restart: what follows when it ends by itself.
        log: the file of its output.
        log_bytes: when the log is put aside.
        trace: the file that it writes its own trace to.
        store: options of a server that keeps models in memory.

    """

    command: Command
    name: str | None = Field(
        default=None, min_length=1, max_length=limits.NAME_CHARACTERS
    )
    cwd: Place = Path()
    env: Annotated[dict[str, str], _said(_variables)] = Field(default_factory=dict)
    ready: Annotated[str | None, _said(_probe)] = None
    ready_timeout_seconds: float = Field(default=30.0, gt=0, le=86_400)
    build: Command | None = None
    build_timeout_seconds: float | None = Field(default=None, gt=0, le=86_400)
    stop_signal: SignalNumber = signal.SIGTERM
    grace_seconds: float = Field(default=5.0, ge=0, le=3600)
    restart: Restart = Restart()
    log: Place | None = None
    log_bytes: int = Field(default=LOG_BYTES, ge=4096, le=1 << 40)
    trace: Place | None = None
    store: StoreOptions | None = None

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        store = self.store
        told = store is not None and "write_profile" in store.model_fields_set
        if self.trace is not None and told and store and not store.write_profile:
            where = ("store", "write_profile")
            what = "store.write_profile: a trace is wanted, but it is false"
            raise contradictions([(where, what)])
        return self

    @property
    def probe(self) -> Probe:
        """The probe that says when it is ready."""
        return read_probe(self.ready, self.cwd)


def read_service(path: Path) -> ServiceSpec:
    """Read a service's file.

    Raises:
        RegistryError: F010 to F013 and the Y codes, all problems with their lines.
    """
    with path.open("rb") as file:
        data = file.read(limits.YAML_BYTES + 1)
    document = read_yaml(data, str(path), comments=True)
    spec = validate(ServiceSpec, document.value, str(path), CODES, document.lines)
    folder = path.parent
    places = {
        name: folder / place
        for name in ("cwd", "log", "trace")
        if (place := getattr(spec, name)) is not None
    }
    return spec.model_copy(update=places)
