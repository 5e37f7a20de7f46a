"""Options that say where the kernel's files are, as containers and tests have them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["Procroot", "Sysroot"]

Sysroot = Annotated[
    Path, typer.Option(help="Where sysfs is.", file_okay=False, exists=True)
]
Procroot = Annotated[
    Path, typer.Option(help="Where procfs is.", file_okay=False, exists=True)
]
