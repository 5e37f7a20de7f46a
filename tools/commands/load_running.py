"""`powerkit load run`: run a plan on a system under test, and say how it went."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext, redirect_stdout
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from registry.documents.limits import MIB
from registry.gate import terminal

__all__ = ["run"]

_BODY_BYTES = 16 * MIB


class ScenarioName(StrEnum):
    """How requests are issued."""

    SINGLE_STREAM = "single-stream"
    MULTI_STREAM = "multi-stream"
    SERVER = "server"
    OFFLINE = "offline"
    CLOSED = "closed"


def run(
    plan: Annotated[Path, typer.Argument(help="The plan's file.")],
    sut: Annotated[
        str,
        typer.Option(
            help="The system under test: cmd:PROGRAM ARGUMENTS, http://HOST/PATH or"
            " python:MODULE:FUNCTION. {item} stands for the item's name; a function"
            " is called with it."
        ),
    ],
    scenario: Annotated[
        ScenarioName | None,
        typer.Option(help="How to issue requests; by default as the plan's arrivals."),
    ] = None,
    samples_per_query: Annotated[
        int, typer.Option(help="Of a multi-stream query.")
    ] = 8,
    min_duration: Annotated[
        float, typer.Option(help="Begin the plan again until so many seconds.")
    ] = 0.0,
    min_queries: Annotated[int, typer.Option(help="And until so many queries.")] = 0,
    concurrency: Annotated[
        int | None,
        typer.Option(
            "--concurrency",
            "--concurrent",
            help="Workers of a closed load (else the plan's) or an offline one (else as"
            " many as processors).",
        ),
    ] = None,
    max_in_flight: Annotated[
        int,
        typer.Option(help="The most requests of a server load at once; more wait."),
    ] = 256,
    target_latency: Annotated[
        float | None,
        typer.Option(help="Seconds that the scenario's percentile must keep."),
    ] = None,
    rate_tolerance: Annotated[
        float,
        typer.Option(help="How far the rate of a server load may be off, as a share."),
    ] = 0.01,
    error_share: Annotated[
        float, typer.Option(help="The share of requests that may fail.")
    ] = 0.0,
    timeout: Annotated[
        float, typer.Option(help="Seconds that one answer may take.")
    ] = 30.0,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds after which the run ends anyway.")
    ] = None,
    body: Annotated[
        Path | None,
        typer.Option(help="A file to POST to a web service; {item} in it is replaced."),
    ] = None,
    content_type: Annotated[
        str, typer.Option(help="Its media type.")
    ] = "application/json",
    trace: Annotated[
        Path | None, typer.Option(help="Write a Chrome trace of the requests.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the result as JSON.")
    ] = None,
    *,
    json_output: Annotated[
        bool, typer.Option("--json", help="Print the result as JSON.")
    ] = False,
) -> None:
    """Run a plan, and measure latencies from when each request was due.

    Ctrl-C ends it early; what was measured until then is written, as interrupted.
    """
    from registry.gate.progress import progress_line
    from tools.load.plan import read_plan_and_digest
    from tools.load.request_trace import write_trace
    from tools.load.results import as_lines, result, write_result
    from tools.load.running import run_plan
    from tools.load.scenarios import Demands, Limits, settings_for
    from tools.load.targets.opening import open_target
    from tools.settings.redaction import urls_redacted

    _refuse_unwritable(output, trace)
    made, digest = read_plan_and_digest(plan)
    limits = Limits(
        scenario=None if scenario is None else scenario.value,
        samples=samples_per_query,
        concurrency=concurrency,
        in_flight=max_in_flight,
        min_duration=min_duration,
        min_queries=min_queries,
        time_limit=time_limit,
        timeout=timeout,
    )
    demands = Demands(rate_tolerance, error_share, target_latency)
    settings = settings_for(made, limits, demands)
    # What the system under test prints is no part of a document.
    with redirect_stdout(sys.stderr) if json_output else nullcontext():
        target = open_target(
            sut,
            most=settings.at_once,
            seconds=timeout,
            body=None if body is None else _text(body),
            kind=content_type,
        )
        with progress_line(hidden=json_output) as progress:
            ran = run_plan(made, target, settings, progress=progress)
    names = {"plan": {"file": plan.name, "sha256": digest}, "sut": urls_redacted(sut)}
    facts = result(made, ran, settings, demands, names)
    # The result first: what a long run found must not be lost with its trace.
    if output is not None:
        write_result(facts, output)
    if json_output:
        typer.echo(json.dumps(facts, indent=2))
    else:
        typer.echo("\n".join(as_lines(facts)))
    if trace is not None:
        write_trace(made, ran, trace)
    if not facts["valid"]:
        raise typer.Exit(terminal.EXIT_FINDINGS)


def _refuse_unwritable(*paths: Path | None) -> None:
    """Refuse, before a long run, files that could not be written after it.

    Raises:
        typer.BadParameter: a folder is missing, or the name is that of a folder.
    """
    for path in paths:
        if path is not None and (path.is_dir() or not path.parent.is_dir()):
            raise typer.BadParameter(f"{path} cannot be written there")


def _text(body: Path) -> str:
    """What is sent to a web service.

    Raises:
        typer.BadParameter: it is too large or no text.
    """
    with body.open("rb") as file:
        data = file.read(_BODY_BYTES + 1)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise typer.BadParameter(f"{body} is no UTF-8 text") from None
    if len(data) > _BODY_BYTES:
        raise typer.BadParameter(f"{body} has more than {_BODY_BYTES} bytes")
    return text
