"""What `powerkit` says and asks."""

from __future__ import annotations

import json
import sys

import typer

__all__ = ["agreed", "next_step", "passphrase", "say"]


def agreed(question: str) -> bool:
    """Ask a person; usage error if there is none.

    Raises:
        typer.BadParameter: nobody can be asked.
    """
    if not sys.stdin.isatty():
        raise typer.BadParameter("nobody can be asked: look it over, then give --yes")
    return typer.confirm(question)


def passphrase(question: str) -> str:
    """Ask for a secret, which is not shown."""
    return str(typer.prompt(question, hide_input=True, err=True))


def next_step(step: str) -> None:
    """Tell what comes next."""
    typer.echo(f"next: {step}")


def say(facts: dict[str, object], *, json_output: bool) -> None:
    """Print facts on a line for people, or as JSON for a program."""
    if json_output:
        typer.echo(json.dumps(facts, sort_keys=True))
    else:
        typer.echo(", ".join(f"{name}: {value}" for name, value in facts.items()))
