"""`powerkit service build`: build a program under test; errors with file and line."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from registry.documents.findings import RegistryError, Severity, code, finding, shown
from registry.documents.limits import MESSAGE_CHARACTERS
from registry.gate import terminal
from tools.commands.after_dashes import after_dashes
from tools.commands.service_options import Client, Cwd, Env, SpecFile, variables
from tools.options import Json

if TYPE_CHECKING:
    from tools.services.building import Built
    from tools.services.specification import ServiceSpec

__all__ = ["build", "build_command", "build_log", "build_seconds"]

F035 = code(
    "F035",
    Severity.ERROR,
    "Nothing says how to build.",
    "Give `-- CMD`, or `build` in the service's file, or set server_build_command (with"
    " --client: client_build_command).",
)


def build(
    ctx: typer.Context,
    spec: SpecFile = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            help="Seconds after which it is ended; the setting build_timeout_seconds"
            " if unset.",
        ),
    ] = None,
    cwd: Cwd = None,
    env: Env = None,
    log: Annotated[
        Path | None,
        typer.Option(help="The file of all output; beside the state file if unset."),
    ] = None,
    *,
    client: Client = False,
    follow: Annotated[
        bool, typer.Option(help="Show its output as it comes, on standard error.")
    ] = False,
    json_output: Json = False,
) -> None:
    """Build the server, or the client, and show errors with file and line.

    The command is CMD, or `build` of the file, or the setting server_build_command.
    """
    from registry.gate.progress import progress_line
    from registry.gate.report import counted, print_findings
    from tools.services.building import build as run
    from tools.services.specification import read_service

    read = None if spec is None else read_service(spec)
    command = build_command(after_dashes(ctx), read, client=client)
    place = log or build_log(client=client)
    begun = time.monotonic()
    with progress_line(hidden=json_output or follow) as progress:
        done = run(
            command,
            cwd=cwd or build_folder(read, client=client),
            log=place,
            time_limit=build_seconds(timeout, read),
            env=({} if read is None else read.env) | variables(env or []),
            on_line=_show if follow else lambda line: progress(f"building: {line}"),
        )
    passed = time.monotonic() - begun
    if json_output:
        typer.echo(json.dumps(_document(command, place, done, passed), indent=2))
    else:
        print_findings(done.findings)
        how = "built" if done.ok else "not built"
        counts = counted(done.findings)
        typer.echo(f"{how} after {passed:.1f} s: {counts}; log: {place}")
    if not done.ok:
        raise typer.Exit(terminal.EXIT_FINDINGS)


def build_command(
    given: tuple[str, ...] | None, spec: ServiceSpec | None, *, client: bool
) -> tuple[str, ...]:
    """The command that builds.

    Args:
        given: what follows `--`, or an option.
        spec: the service's file.
        client: whether the settings are those of the client.

    Raises:
        RegistryError: F012 the setting is no command, F035 nobody says one.
    """
    from tools.services.specification import CODES, split_command
    from tools.settings.resolved import setting

    if given is not None:
        return given
    if spec is not None and spec.build is not None:
        return spec.build
    key: Any = "client_build_command" if client else "server_build_command"
    text = "" if spec is not None else setting(key, None)
    if not text:
        raise RegistryError([finding(F035, "options", "no command was given")])
    try:
        return split_command(text)
    except ValueError as error:
        raise RegistryError([finding(CODES.value, key, str(error))]) from None


def build_folder(spec: ServiceSpec | None, *, client: bool) -> Path:
    """The folder that a build is started in."""
    from tools.settings.resolved import setting

    if spec is not None:
        return spec.cwd
    return setting("client_directory" if client else "server_directory", None)


def build_log(*, client: bool) -> Path:
    """Where a build's output goes if nobody says: beside the state file."""
    from tools.settings.resolved import setting

    name = "client-build.log" if client else "build.log"
    return setting("service_state_file", None).with_name(name)


def build_seconds(option: float | None, spec: ServiceSpec | None) -> float:
    """When a build is ended: as the option, the file or the setting says."""
    from tools.settings.resolved import setting

    told = None if spec is None else spec.build_timeout_seconds
    return setting("build_timeout_seconds", option if option is not None else told)


def _document(
    command: tuple[str, ...], log: Path, done: Built, passed: float
) -> dict[str, Any]:
    from registry.gate.report import as_documents

    return {
        "schema": "service-build/1",
        "command": list(command),
        "ok": done.ok,
        "returncode": done.ended.returncode,
        "timed_out": done.ended.timed_out,
        "wall_seconds": passed,
        "log": str(log),
        "findings": as_documents(done.findings),
    }


def _show(line: str) -> None:
    typer.echo(shown(line.expandtabs(), MESSAGE_CHARACTERS), err=True)
