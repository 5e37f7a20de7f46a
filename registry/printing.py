"""What the `registry` command prints: each result as lines for people and as JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from registry.gate import terminal

if TYPE_CHECKING:
    from registry.documents.findings import Finding
    from registry.gate.outcome import Report
    from registry.modelling.plan import Plan, Reason
    from registry.publish.channels.outcome import Published
    from registry.publish.release import BuildResult


@dataclass(frozen=True, slots=True)
class Shown:
    """A result in both forms.

    Attributes:
        document: For a program.
        lines: For people.
    """

    document: Mapping[str, Any]
    lines: Iterable[str]


def show(shown: Shown, *, json_output: bool) -> None:
    """Print a result in the form that was asked for."""
    if json_output:
        typer.echo(text(shown.document), nl=False)
    else:
        typer.echo("\n".join(shown.lines))


def plan(planned: Plan) -> Shown:
    """What a build would do, and why."""
    document = {
        "schema": "plan/1",
        "fit": [str(order.id) for order in planned.fit],
        "reuse": [str(order.id) for order in planned.reuse],
        "drop": list(planned.drop),
        "reasons": [
            {"class": one.class_key, "models": list(one.models), "why": one.why}
            for one in planned.reasons
        ],
    }
    counts = (
        f"{len(planned.fit)} models to fit, {len(planned.reuse)} unchanged,"
        f" {len(planned.drop)} to drop"
    )
    return Shown(document, [*_reasons(planned.reasons), counts])


def build(built: BuildResult) -> Shown:
    """What a build did."""
    document = {
        "schema": "build/1",
        "changed": built.changed,
        "out": str(built.out),
        "tag": built.tag,
        "fitted": built.fitted,
        "reused": built.reused,
        "dropped": list(built.dropped),
        "published": built.published,
        "withheld": built.withheld,
    }
    if not built.changed:
        nothing = f"nothing to do: {built.out} is release {built.tag} already"
        return Shown(document, [nothing])
    source = built.index.commit or "an uncommitted work tree: serial 0, no commit"
    counts = (
        f"{built.fitted} models fitted, {built.reused} taken over,"
        f" {len(built.dropped)} dropped; {built.published} published"
    )
    if built.withheld:
        counts += f", {built.withheld} withheld: index.json says why"
    release = f"release {built.tag} in {built.out}, from {source}"
    return Shown(document, [*_reasons(built.reasons), release, counts])


def published(done: Published) -> Shown:
    """Where a release is now."""
    document = {
        "schema": "publish/1",
        "place": str(done.place),
        "files": done.files,
        "tag": done.tag,
        "new": done.new,
        "latest": done.latest,
        "serial": done.serial,
    }
    what = "published" if done.new else "was there already"
    latest = (
        "latest points to it"
        if done.latest
        else "latest stays where it is: it points to a newer release"
    )
    return Shown(document, [f"release {done.tag} {what}: {done.place}", latest])


def print_report(report: Report, *, json_output: bool) -> None:
    """Print a verification, and tell GitHub's runner where there is one."""
    from registry.gate import report as shown  # noqa: PLC0415 - only verify needs it

    if os.environ.get("GITHUB_ACTIONS") == "true" and not json_output:
        typer.echo(shown.workflow_commands(report.findings), nl=False)
        if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
            with Path(summary).open("a", encoding="utf-8") as page:
                page.write(shown.step_summary(report))
    shown.print_report(report, json_output=json_output)


def exit_code(findings: Iterable[Finding]) -> int:
    """Only an error refuses a contribution; warnings are for the reviewer."""
    refused = any(one.severity == "error" for one in findings)
    return terminal.EXIT_FINDINGS if refused else terminal.EXIT_OK


def text(document: Any) -> str:
    """JSON that people can read too."""
    return json.dumps(document, indent=2, sort_keys=True) + "\n"


def write(path: Path, content: str) -> None:
    """Write a file whole or not at all."""
    part = path.with_name(f".{path.name}.part")
    part.write_text(content, "utf-8")
    part.replace(path)


def _reasons(reasons: Iterable[Reason]) -> Iterator[str]:
    for one in reasons:
        yield f"{one.class_key}: {one.why} ({len(one.models)} models)"
