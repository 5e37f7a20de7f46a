"""The subcommand of `powerkit` that ends the trust in a key."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tools.options import Account, Registry

__all__ = ["revoke"]


class Why(StrEnum):
    """Why a key is trusted no more."""

    COMPROMISED = "compromised"
    LOST = "lost"
    SUPERSEDED = "superseded"
    LEFT = "left"
    UNSPECIFIED = "unspecified"


def revoke(
    contributor: Account,
    fingerprint: Annotated[
        str, typer.Option(help="The key's, as `ssh-keygen -lf KEY.pub` prints it.")
    ],
    reason: Annotated[Why, typer.Option(help="Why it is trusted no more.")],
    since: Annotated[
        str | None,
        typer.Option(
            help="When it fell into wrong hands, YYYY-MM-DD or …THH:MM:SSZ; now if"
            " unset. Bundles that came later go out of use."
        ),
    ] = None,
    registry: Registry = Path(),
) -> None:
    """Revoke a key in your trust file, for good."""
    from registry.gate.trust_changes import moment  # noqa: PLC0415  it is slow
    from tools.bundles.revoke import revoke as write  # noqa: PLC0415  likewise

    at = time.time()
    if since is not None:
        try:
            at = moment(since, at)
        except ValueError as error:
            raise typer.BadParameter(f"--since: {error}") from None
    path = write(registry, contributor, fingerprint, reason.value, at)
    shown = path.relative_to(registry).as_posix()
    typer.echo(f"revoked: {fingerprint}, file: {shown}")
    typer.echo("next: propose this file in a change of its own")
