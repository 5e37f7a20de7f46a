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
    registry: Registry = Path(),
) -> None:
    """Revoke a key in your trust file, from now on and for good."""
    from tools.bundles.revoke import revoke as write  # noqa: PLC0415  it is slow

    path = write(registry, contributor, fingerprint, reason.value, time.time())
    shown = path.relative_to(registry).as_posix()
    typer.echo(f"revoked: {fingerprint}, file: {shown}")
    typer.echo("next: propose this file in a change of its own")
