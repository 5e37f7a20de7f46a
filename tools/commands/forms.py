"""Forms in which subcommands print their tables, and the option that names one."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

__all__ = ["Form", "Format"]


class Form(StrEnum):
    """How a table is printed."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    MD = "md"


Format = Annotated[
    Form, typer.Option("--format", "-f", help="Print a table, csv, json or md.")
]
