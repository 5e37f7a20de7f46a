"""The subcommand of `powerkit` that ends the trust in a key."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from registry.gate.revoking import SINCE_HELP, Why, since_when
from tools.options import Account, Registry

__all__ = ["revoke"]


def revoke(
    contributor: Account,
    fingerprint: Annotated[
        str, typer.Option(help="The key's, as `ssh-keygen -lf KEY.pub` prints it.")
    ],
    reason: Annotated[Why, typer.Option(help="Why it is trusted no more.")],
    since: Annotated[str | None, typer.Option(help=SINCE_HELP)] = None,
    registry: Registry = Path(),
) -> None:
    """Revoke a key in your trust file, for good."""
    from tools.bundles.revoke import revoke as write  # noqa: PLC0415  it is slow

    try:
        at = since_when(since)
    except ValueError as error:
        raise typer.BadParameter(f"--since: {error}") from None
    path = write(registry, contributor, fingerprint, reason.value, at)
    shown = path.relative_to(registry).as_posix()
    typer.echo(f"revoked: {fingerprint}, file: {shown}")
    typer.echo("next: propose this file in a change of its own")
