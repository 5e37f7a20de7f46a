"""`powerkit doctor`: what of this machine disturbs measurements; nothing is changed."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from registry.gate import terminal
from tools.commands.forms import Form, Format, Json
from tools.commands.kernel_roots import Procroot, Sysroot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tools.machine.checks import Check

__all__ = ["app", "doctor"]

app = typer.Typer(
    help="Tell what of this machine disturbs measurements.",
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.command()
def doctor(
    sysroot: Sysroot = Path("/sys"),
    procroot: Procroot = Path("/proc"),
    form: Format = Form.TABLE,
    *,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 1 if something is unfit.")
    ] = False,
    json_output: Json = False,
) -> None:
    """Tell what of this machine disturbs measurements.

    Each thing is ok, a notice, unfit, or unknown. Commands that would change it are
    shown and never run.
    """
    from tools.commands.tables import print_table
    from tools.machine.checks import Level
    from tools.machine.checkup import checkup

    checks = checkup(sysroot, procroot)
    form = Form.JSON if json_output else form
    counts = {one.value: sum(c.level is one for c in checks) for one in Level}
    document: dict[str, Any] = {
        "schema": "doctor/1",
        **counts,
        "checks": [asdict(one) for one in checks],
    }
    print_table([_row(one, form) for one in checks], form, document)
    if form is Form.TABLE:
        _advise(checks)
        typer.echo(", ".join(f"{count} {name}" for name, count in counts.items()))
    if strict and counts[Level.UNFIT.value]:
        raise typer.Exit(terminal.EXIT_FINDINGS)


def _row(check: Check, form: Form) -> dict[str, Any]:
    row: dict[str, Any] = {
        "level": check.level.value,
        "what": check.name,
        "state": check.state,
    }
    if form is not Form.TABLE:
        row |= {"code": check.code, "why": check.why, "command": check.command}
    return row


def _advise(checks: Sequence[Check]) -> None:
    """Say why what is not well matters, and what would change it."""
    from tools.machine.checks import Level

    for one in checks:
        if one.level not in (Level.NOTICE, Level.UNFIT):
            continue
        typer.echo(f"\n{one.level.value} {one.code} {one.name}: {one.state}")
        typer.echo(f"    {one.why}")
        typer.echo(f"    {one.remedy}")
        if one.command:
            typer.echo(f"    would change it: {one.command}")
    typer.echo("")
