"""`powerkit service watch`: built and started anew whenever files change."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tools.commands.after_dashes import after_dashes
from tools.commands.service_options import (
    Client,
    Cwd,
    Env,
    Grace,
    Log,
    Ready,
    ReadyTimeout,
    SpecFile,
    State,
    StopSignal,
    described,
)
from tools.commands.services_building import build_command, build_log, build_seconds
from tools.commands.watching_view import watching_view
from tools.options import Json
from tools.processes.orders import OrderedEndError, orders_unwind

__all__ = ["watch"]


def watch(
    ctx: typer.Context,
    spec: SpecFile = None,
    path: Annotated[
        list[Path] | None,
        typer.Option(
            help="A file or folder to watch; again for more. By default the setting"
            " source_directory or, unset, server_directory (with --client:"
            " client_directory)."
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GLOB",
            help="Files that do not count, by name or path; again for more.",
        ),
    ] = None,
    build: Annotated[
        str | None,
        typer.Option(metavar="CMD", help="What is run before each start: `make -j2`."),
    ] = None,
    build_timeout: Annotated[
        float | None,
        typer.Option(min=0.001, help="Seconds for a build; build_timeout_seconds."),
    ] = None,
    debounce: Annotated[
        int,
        typer.Option(
            metavar="MS", min=10, max=60000, help="The quiet that ends a burst."
        ),
    ] = 200,
    ready: Ready = None,
    ready_timeout: ReadyTimeout = None,
    stop_signal: StopSignal = None,
    grace: Grace = None,
    env: Env = None,
    cwd: Cwd = None,
    log: Log = None,
    state: State = None,
    *,
    client: Client = False,
    json_output: Json = False,
) -> None:
    """Build and start a program, and do so again whenever its files change.

    The program that runs goes on until its successor is built. Version control's,
    editors' and compilers' own files do not count. --json prints an event a line.
    """
    from tools.services.changes import Changes, Relevant
    from tools.services.state import held_state
    from tools.services.watching import Watch
    from tools.settings.resolved import setting

    place = setting("service_state_file", state)
    if client and state is None:
        place = place.with_name("client.json")
    options = {
        "ready": ready,
        "ready_timeout_seconds": ready_timeout,
        "stop_signal": stop_signal,
        "grace_seconds": grace,
        "env": env,
        "cwd": cwd,
        "log": log,
        "build": build,
        "build_timeout_seconds": build_timeout,
    }
    command = after_dashes(ctx)
    whole = described(spec, command, options, state=place, client=client)
    if whole.build is None and spec is None and command is None:
        building = build_command(None, None, client=client)
        whole = whole.model_copy(update={"build": building})
    roots = _roots(path, client=client)
    log_of_build = build_log(client=client)
    own = [place, log_of_build, *([whole.log] if whole.log else [])]
    relevant = Relevant(roots, ignore or [], [one.absolute() for one in own])
    with (
        orders_unwind(),
        held_state(place) as held,
        Changes(roots, relevant, debounce_ms=debounce) as changes,
        watching_view(json_output=json_output) as view,
    ):
        try:
            Watch(
                whole,
                changes,
                state=held,
                build_log=log_of_build,
                build_seconds=build_seconds(build_timeout, whole),
                on_event=view.event,
                on_line=view.line,
                settle=1.5 * debounce / 1000 + 0.05,
            ).run()
        except OrderedEndError:
            return


def _roots(given: list[Path] | None, *, client: bool) -> list[Path]:
    """What is watched, absolute and without links, as the system names changes."""
    from tools.settings.resolved import resolved, setting

    if given:
        return [one.resolve() for one in given]
    key: Any = "source_directory"
    if resolved(key).origin == "default":
        key = "client_directory" if client else "server_directory"
    return [setting(key, None).resolve()]
