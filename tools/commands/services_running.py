"""`powerkit service run`: a server under care, alone or while a client runs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
    shown,
)
from registry.documents.limits import MESSAGE_CHARACTERS
from registry.gate import terminal
from tools.commands.after_dashes import after_dashes
from tools.commands.service_options import (
    Again,
    Cwd,
    Env,
    Grace,
    Log,
    LogBytes,
    Ready,
    ReadyTimeout,
    SpecFile,
    State,
    StopSignal,
    described,
)
from tools.options import Json
from tools.processes.orders import OrderedEndError, orders_unwind
from tools.processes.output import LINE_BYTES
from tools.services.evictions import Eviction

if TYPE_CHECKING:
    from tools.services.readiness import PathProbe
    from tools.services.specification import ServiceSpec
    from tools.services.supervising import Supervised

__all__ = ["run"]

_STANDARD_ERROR = 2

F023 = code(
    "F023",
    Severity.ERROR,
    "A server wrote no trace though one was asked for.",
    "Have it write Chrome trace events to the file that POWERKIT_TRACE_FILE or"
    " UPR_PROFILE_TARGET names, and end in an orderly way on its stop signal.",
)


def run(
    ctx: typer.Context,
    spec: SpecFile = None,
    ready: Ready = None,
    ready_timeout: ReadyTimeout = None,
    stop_signal: StopSignal = None,
    grace: Grace = None,
    env: Env = None,
    cwd: Cwd = None,
    name: Annotated[str | None, typer.Option(help="What you call it.")] = None,
    log: Log = None,
    log_bytes: LogBytes = None,
    trace: Annotated[
        Path | None,
        typer.Option(help="Where it writes its own trace, which is read at its end."),
    ] = None,
    restart: Annotated[
        Again | None, typer.Option(help="Whether it is started anew when it ends.")
    ] = None,
    restart_limit: Annotated[
        int | None, typer.Option(min=0, max=1000, help="How often at most: 3.")
    ] = None,
    restart_delay: Annotated[
        float | None, typer.Option(min=0, max=3600, help="Seconds before: 1.")
    ] = None,
    eviction: Annotated[
        Eviction | None, typer.Option(help="Which model leaves: UPRD_EVICTION_POLICY.")
    ] = None,
    memory_percentage: Annotated[
        float | None,
        typer.Option(
            min=0.0001, max=1, help="Share for kept models: UPRD_MEMORY_PERCENTAGE."
        ),
    ] = None,
    estimation_rate: Annotated[
        float | None,
        typer.Option(
            min=0.0001, max=1000, help="Memory by file size: UPRD_ESTIMATION_RATE."
        ),
    ] = None,
    *,
    estimate_with_internal_memory: Annotated[
        bool | None,
        typer.Option(help="Count the framework's own memory of a model too."),
    ] = None,
    persist_cpu: Annotated[
        bool | None,
        typer.Option(help="Keep a copy in the host's memory: UPRD_PERSIST_CPU."),
    ] = None,
    persist_cpu_only: Annotated[
        bool | None, typer.Option(help="Keep models there only: UPRD_PERSIST_ONLY_CPU.")
    ] = None,
    profile: Annotated[
        bool | None, typer.Option(help="Have it write a trace: UPRD_WRITE_PROFILE.")
    ] = None,
    debug: Annotated[
        bool | None, typer.Option("--debug", "-d", help="Have it log much (GLOG).")
    ] = None,
    with_client: Annotated[
        bool,
        typer.Option(
            "--while",
            help="CMD is a client: it runs once the server is ready, the server ends"
            " after it, and its exit code is ours.",
        ),
    ] = False,
    server: Annotated[
        str | None,
        typer.Option(metavar="CMD", help="The server's command if CMD is a client."),
    ] = None,
    client_timeout: Annotated[
        float | None, typer.Option(min=0.001, help="Seconds for the client; no limit.")
    ] = None,
    state: State = None,
    follow: Annotated[
        bool | None,
        typer.Option(help="Show its output; by default where there is no client."),
    ] = None,
    json_output: Json = False,
) -> None:
    """Run a server under care: ready by a probe, ended whole, its state in a file.

    `service run -- ./server` runs it until it ends, or Ctrl-C or `service stop` come.
    `service run FILE.yaml --while -- ./client` is server and client in one command.
    With --json, what the client prints goes to standard error.

    \b
    Keys of FILE.yaml, of which only `command` must be there:
      command, build         a text as for a shell, or a list of words
      name, cwd, env         env is a block of variables
      ready, ready_timeout_seconds, build_timeout_seconds
      stop_signal, grace_seconds
      restart                policy (never, on-failure), limit, delay_seconds
      log, log_bytes, trace
      store                  eviction_policy, memory_percentage, estimation_rate,
                             estimate_with_internal_memory, persist_cpu,
                             persist_only_cpu, write_profile, debug

    Paths in it are relative to its folder. Options go before it.
    """  # noqa: D301  click wants the character itself
    from tools.settings.resolved import setting

    command, client = _split(ctx, server, with_client=with_client)
    options = {
        "ready": ready,
        "ready_timeout_seconds": ready_timeout,
        "stop_signal": stop_signal,
        "grace_seconds": grace,
        "env": env,
        "cwd": cwd,
        "name": name,
        "log": log,
        "log_bytes": log_bytes,
        "trace": trace,
        "restart": {
            "policy": restart,
            "limit": restart_limit,
            "delay_seconds": restart_delay,
        },
        "store": {
            "eviction_policy": eviction,
            "memory_percentage": memory_percentage,
            "estimation_rate": estimation_rate,
            "estimate_with_internal_memory": estimate_with_internal_memory,
            "persist_cpu": persist_cpu,
            "persist_only_cpu": persist_cpu_only,
            "write_profile": profile,
            "debug": debug,
        },
    }
    path = setting("service_state_file", state)
    whole = described(spec, command, options, state=path)
    echo = client is None if follow is None else follow
    _care(whole, path, client, client_timeout, echo=echo, json_output=json_output)


def _split(
    ctx: typer.Context, server: str | None, *, with_client: bool
) -> tuple[str | tuple[str, ...] | None, tuple[str, ...] | None]:
    """Which command is the server's, and which the client's."""
    command = after_dashes(ctx)
    if not with_client:
        if server is not None:
            raise typer.BadParameter("--server is for --while; a server follows --")
        return command, None
    if command is None:
        raise typer.BadParameter("--while needs a client after --")
    return server, command


def _care(
    spec: ServiceSpec,
    state: Path,
    client: tuple[str, ...] | None,
    time_limit: float | None,
    *,
    echo: bool,
    json_output: bool,
) -> None:
    """Run all of it, tell what came of it, and leave with the exit code."""
    from tools.services.readiness import PathProbe
    from tools.services.state import held_state
    from tools.services.supervising import Supervisor

    # The trace of an earlier start is not this one's.
    trace = None if spec.trace is None else PathProbe(spec.trace)
    ordered = 0
    with orders_unwind(), held_state(state) as held:
        care = Supervisor(
            spec,
            held,
            say=_say,
            on_line=_show if echo else None,
            client_output=_STANDARD_ERROR if json_output else None,
        )
        try:
            done = care.run(client, time_limit)
        except OrderedEndError as end:
            ordered, done = end.sign, care.supervised
            _say("ended in an orderly way, as was asked")
    problems = list(done.problems)
    document = _document(done, None if trace is None else _trace(trace, problems))
    _tell(document, problems, json_output=json_output)
    if client is not None and done.client is None:
        raise typer.Exit(128 + ordered)
    if done.client is not None and done.client.returncode:
        code = done.client.returncode
        raise typer.Exit(code if code > 0 else 128 - code)
    if any(one.severity is Severity.ERROR for one in problems):
        raise typer.Exit(terminal.EXIT_FINDINGS)


def _trace(written: PathProbe, problems: list[Finding]) -> dict[str, Any] | None:
    """Read the server's trace; what is wrong with it joins the problems."""
    from threading import Event

    from tools.traces.found import Found
    from tools.traces.reading import pieces

    if (lacks := written.lacks(Event())) is not None:
        problems.append(finding(F023, str(written.path), lacks))
        return None
    found = Found()
    try:
        for _ in pieces(written.path, found):
            pass
    except RegistryError as error:
        problems.extend(error.findings)
        return None
    return {
        "path": str(written.path),
        "events": found.events,
        "bad_events": found.bad_events,
        "unterminated": found.unterminated,
    }


def _document(done: Supervised, trace: dict[str, Any] | None) -> dict[str, Any]:
    client = done.client
    return {
        "schema": "service-run/1",
        "service": done.service,
        "restarts": done.restarts,
        "client": None
        if client is None
        else {
            "returncode": client.returncode,
            "wall_seconds": client.wall_ns / 1e9,
            "user_seconds": client.user_seconds,
            "system_seconds": client.system_seconds,
            "max_rss_bytes": client.max_rss_bytes,
        },
        "trace": trace,
    }


def _tell(
    document: dict[str, Any], problems: list[Finding], *, json_output: bool
) -> None:
    from registry.gate.report import as_documents, print_findings

    if json_output:
        told = {"problems": as_documents(problems)}
        typer.echo(json.dumps(document | told, indent=2))
        return
    if (trace := document["trace"]) is not None:
        bad = f", {trace['bad_events']} bad" if trace["bad_events"] else ""
        _say(f"trace: {trace['events']} events{bad} in {trace['path']}")
    print_findings(problems, file=sys.stderr)


def _say(line: str) -> None:
    typer.echo(f"service: {shown(line, MESSAGE_CHARACTERS)}", err=True)


def _show(line: str) -> None:
    """Show a line of the server's; its control characters move no cursor."""
    sys.stderr.write(f"{shown(line.expandtabs(), LINE_BYTES)}\n")
