"""Forms in which subcommands print their tables, and the options that name one."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

__all__ = ["Form", "Format", "Json"]


class Form(StrEnum):
    """How a table is printed."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    MD = "md"


Format = Annotated[
    Form, typer.Option("--format", "-f", help="Print a table, csv, json or md.")
]
Json = Annotated[bool, typer.Option("--json", help="Short for --format json.")]
