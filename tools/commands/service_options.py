"""Options that describe a server, and the description they make with its file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from registry.documents.findings import RegistryError, Severity, code, finding

if TYPE_CHECKING:
    from tools.services.specification import ServiceSpec

__all__ = [
    "Again",
    "Client",
    "Cwd",
    "Env",
    "Grace",
    "Log",
    "LogBytes",
    "Ready",
    "ReadyTimeout",
    "SpecFile",
    "State",
    "StopSignal",
    "described",
    "variables",
]

F026 = code(
    "F026",
    Severity.ERROR,
    "Nothing says which program to run.",
    "Give a service's file, or `-- CMD`, or set server_run_command (with --client:"
    " client_run_command).",
)


class Again(StrEnum):
    """When an ended server is started anew."""

    NEVER = "never"
    ON_FAILURE = "on-failure"


SpecFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="FILE.yaml", help="The service's file.", exists=True, dir_okay=False
    ),
]
State = Annotated[
    Path | None,
    typer.Option(
        "--state",
        metavar="FILE",
        help="The state file; the setting service_state_file if unset.",
        dir_okay=False,
    ),
]
Client = Annotated[
    bool,
    typer.Option(
        "--client", help="Use the settings client_* instead of those of the server."
    ),
]
Ready = Annotated[
    str | None,
    typer.Option(
        metavar="PROBE",
        help="When it is ready: http://HOST:PORT/PATH, tcp:HOST:PORT, regex:TEXT in its"
        " output, or file:PATH.",
    ),
]
ReadyTimeout = Annotated[
    float | None,
    typer.Option(min=0.001, max=86400, help="Seconds until it is late: 30."),
]
StopSignal = Annotated[
    str | None, typer.Option(metavar="NAME", help="What asks it to end: TERM.")
]
Grace = Annotated[
    float | None, typer.Option(min=0, max=3600, help="Seconds it is given then: 5.")
]
Env = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="A variable for it; again for more."),
]
Cwd = Annotated[
    Path | None,
    typer.Option(help="The folder it is started in.", exists=True, file_okay=False),
]
Log = Annotated[
    Path | None,
    typer.Option(help="The file of its output; beside the state file if unset."),
]
LogBytes = Annotated[
    int | None,
    typer.Option(min=4096, help="When the log is put aside as FILE.1: 16 MiB."),
]


def described(
    path: Path | None,
    command: str | tuple[str, ...] | None,
    options: Mapping[str, Any],
    *,
    state: Path,
    client: bool = False,
) -> ServiceSpec:
    """A service as its file says, except for what the options say.

    Args:
        path: the service's file; none if None.
        command: the program; that of the file, then of the settings, if None.
        options: keys of a service's file; those that are None say nothing.
        state: the state file, beside which output goes if nobody says.
        client: whether the settings are those of the client.

    Raises:
        typer.BadParameter: an option has another form.
        RegistryError: F010 to F013 and the Y codes, F026 there is no command.
    """
    from tools.services.specification import CODES, ServiceSpec, read_service
    from tools.settings.resolved import setting

    told: dict[str, Any] = {}
    if path is not None:
        told = read_service(path).model_dump(exclude_unset=True)
    if command is not None:
        told["command"] = command
    elif path is None:
        told["command"] = setting(
            "client_run_command" if client else "server_run_command", None
        )
        told["cwd"] = setting(
            "client_directory" if client else "server_directory", None
        )
        if not told["command"]:
            raise RegistryError([finding(F026, "options", "no command was given")])
    for name, value in _read(options).items():
        old = told.get(name)
        told[name] = old | value if isinstance(old, dict) else value
    if told.get("log") is None:
        told["log"] = state.with_suffix(".log")
    from registry.documents.validation import validate

    return validate(ServiceSpec, told, str(path or "options"), CODES)


def _read(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that say something; empty blocks say nothing."""
    from tools.services.readiness import read_probe
    from tools.services.specification import read_signal

    readers: dict[str, Callable[[Any], Any]] = {
        "ready": lambda text: _usage("--ready", read_probe, text) and text,
        "stop_signal": lambda text: _usage("--stop-signal", read_signal, text),
        "env": variables,
        "restart": _said,
        "store": _said,
    }
    told = {
        name: readers[name](value) if name in readers else value
        for name, value in _said(options).items()
    }
    return {name: value for name, value in told.items() if value != {}}


def _said(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _usage(option: str, read: Callable[[Any], Any], value: Any) -> Any:
    try:
        return read(value)
    except ValueError as error:
        raise typer.BadParameter(f"{option}: {error}") from None


def variables(given: list[str]) -> dict[str, str]:
    """Variables that are written NAME=VALUE.

    Raises:
        typer.BadParameter: one is not.
    """
    told = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or not name:
            raise typer.BadParameter("--env: it must be NAME=VALUE")
        told[name] = value
    return told
