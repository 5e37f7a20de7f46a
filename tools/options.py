"""Options that several subcommands of `powerkit` share, and their words."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "Account",
    "Dataset",
    "Done",
    "Folder",
    "Json",
    "KeyFile",
    "Keygen",
    "Licence",
    "Origin",
    "OriginDay",
    "OriginId",
    "OriginKind",
    "Own",
    "PlanFile",
    "Registry",
    "SpecFile",
    "Terms",
    "Words",
    "Yes",
]


class Terms(StrEnum):
    """Licences that a contributor can choose."""

    CDLA = "CDLA-Permissive-2.0"
    CC_BY = "CC-BY-4.0"
    CC0 = "CC0-1.0"
    FACTS = "LicenseRef-published-facts"


class Own(StrEnum):
    """What was done with workloads of the contributor's own."""

    NONE = "none"
    WITHHELD = "withheld"
    PSEUDONYMISED = "pseudonymised"


class Done(StrEnum):
    """What was done to raw readings."""

    RATES = "rates"
    MEANS = "means"


class Origin(StrEnum):
    """Where published data was taken from."""

    SPEC = "spec-ssj2008"
    MODEL_DB = "kepler-model-db"
    MODEL_SERVER = "kepler-model-server"
    OTHER = "other"


Folder = Annotated[
    Path, typer.Argument(help="The bundle's folder.", exists=True, file_okay=False)
]
Registry = Annotated[
    Path,
    typer.Option(
        help="The registry's checkout, where the result goes.",
        exists=True,
        file_okay=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for a program.")]
Yes = Annotated[bool, typer.Option("--yes", help="The texts were looked over.")]
Words = Annotated[
    list[str] | None,
    typer.Option(
        "--not-a-name", help="A word that names nobody, though this machine has it."
    ),
]
Account = Annotated[
    int, typer.Option(min=0, help="The numeric id of your GitHub account.")
]
Dataset = Annotated[str, typer.Option(help="The name of the dataset.")]
SpecFile = Annotated[
    Path,
    typer.Option("--spec", help="The machine's spec.", exists=True, dir_okay=False),
]
PlanFile = Annotated[
    Path | None,
    typer.Option(
        "--plan", help="A table that says what ran when.", exists=True, dir_okay=False
    ),
]
Licence = Annotated[Terms, typer.Option(help="Terms of publication.")]
KeyFile = Annotated[
    Path,
    typer.Option("--key", help="The private key's file.", exists=True, dir_okay=False),
]
Keygen = Annotated[
    bool,
    typer.Option(
        "--with-ssh-keygen",
        help="Have ssh-keygen sign, for keys in an agent or on a FIDO token.",
    ),
]
OriginKind = Annotated[
    Origin | None, typer.Option("--source", help="Where published data is from.")
]
OriginId = Annotated[str | None, typer.Option(help="What the source calls it.")]
OriginDay = Annotated[
    str | None, typer.Option("--source-published", help="The day, YYYY-MM-DD.")
]
