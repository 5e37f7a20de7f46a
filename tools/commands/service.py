"""`powerkit service`: build, start, watch and stop a server under test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from registry.documents.findings import shown
from registry.documents.limits import MESSAGE_CHARACTERS
from registry.gate import terminal
from tools.commands.after_dashes import CommandAfterDashes
from tools.commands.groups import group
from tools.commands.service_options import State
from tools.commands.services_building import build
from tools.commands.services_running import run
from tools.commands.services_watching import watch
from tools.options import Json

if TYPE_CHECKING:
    from tools.services.state import Found

__all__ = ["app", "status", "stop"]

app = group("Build, start and watch a server under test.")

app.command(cls=CommandAfterDashes)(run)
app.command(cls=CommandAfterDashes)(watch)
app.command(cls=CommandAfterDashes)(build)


@app.command()
def status(state: State = None, *, json_output: Json = False) -> None:
    """Say which service runs; exit code 1 if none does."""
    from tools.services.state import find
    from tools.settings.resolved import setting

    path = setting("service_state_file", state)
    found = find(path)
    if json_output:
        typer.echo(json.dumps(_document(path, found), indent=2))
    else:
        typer.echo("\n".join(_lines(path, found)))
    if not found.running:
        raise typer.Exit(terminal.EXIT_FINDINGS)


@app.command()
def stop(
    state: State = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            min=0, help="Seconds to wait for its end; its grace and 10 more if unset."
        ),
    ] = None,
    *,
    json_output: Json = False,
) -> None:
    """Ask the service to end and wait until it did.

    What a killed supervisor left is ended too. A process that only got the number of
    one that ended is never touched.
    """
    from tools.services.stopping import stop_service
    from tools.settings.resolved import setting

    path = setting("service_state_file", state)
    stopped = stop_service(path, timeout)
    if json_output:
        told = {"schema": "service-stop/1", "state": str(path), "stopped": stopped}
        typer.echo(json.dumps(told, indent=2))
    else:
        typer.echo(stopped)


def _document(path: Path, found: Found) -> dict[str, Any]:
    facts = {
        name: value
        for name, value in found.facts.items()
        if name not in {"schema", "phase", "supervisor", "server"}
    }
    marks = {"supervisor": found.supervisor, "server": found.server}
    pids = {name: None if mark is None else mark.pid for name, mark in marks.items()}
    named = {"schema": "service-status/1", "state": str(path), "phase": found.phase}
    return named | {f"{name}_pid": pid for name, pid in pids.items()} | facts


def _lines(path: Path, found: Found) -> list[str]:
    if found.phase == "none":
        return [f"none: no service runs under {path}"]
    service = found.facts.get("service")
    told = service if isinstance(service, dict) else {}
    lines = [f"{found.phase}: {told.get('name') or 'a service'} under {path}"]
    command = told.get("command")
    if isinstance(command, list):
        lines.append("command: " + " ".join(map(str, command)))
    if found.server is not None:
        lines.append(f"process {found.server.pid}, started {told.get('started')}")
    lines += [
        f"{name.replace('_', ' ')}: {told[name]}"
        for name in ("ready", "log")
        if told.get(name) is not None
    ]
    if isinstance(seconds := told.get("ready_seconds"), float):
        lines.insert(-1, f"it was ready after {seconds:.2f} s")
    if found.facts.get("restarts"):
        lines.append(f"restarts: {found.facts['restarts']}")
    if not found.running:
        lines.append("its supervisor was killed; `powerkit service stop` cleans up")
    return [shown(line, MESSAGE_CHARACTERS) for line in lines]
