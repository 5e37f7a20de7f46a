"""Options that several subcommands of `powerkit` share, and their words."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "Account",
    "Around",
    "Base",
    "Dataset",
    "Derived",
    "Done",
    "Dump",
    "Endorser",
    "FirstDay",
    "Folder",
    "Founding",
    "Ids",
    "IdsFile",
    "Instance",
    "Json",
    "KeyFile",
    "Keygen",
    "LastDay",
    "Licence",
    "Login",
    "NewVersion",
    "Origin",
    "OriginDay",
    "OriginId",
    "OriginKind",
    "OtherSpec",
    "Own",
    "OwnWorkloads",
    "PlanFile",
    "Platform",
    "PublishedKeys",
    "Registry",
    "Signatory",
    "Sources",
    "SpecFile",
    "TableFolder",
    "Tables",
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
Yes = Annotated[
    bool, typer.Option("--yes", help="Do not ask: the texts were looked over.")
]
Words = Annotated[
    list[str] | None,
    typer.Option(
        "--not-a-name", help="A word that names nobody, though this machine has it."
    ),
]
Account = Annotated[
    int,
    typer.Option(min=0, help="Your GitHub account's number: `gh api user --jq .id`."),
]
Dataset = Annotated[str, typer.Option(help="The dataset's id: a-z, 0-9, dot, dash, _.")]
SpecFile = Annotated[
    Path,
    typer.Option("--spec", help="The machine's spec.", exists=True, dir_okay=False),
]
PlanFile = Annotated[
    Path | None,
    typer.Option(
        "--plan",
        help="A table that says what ran when: see CONTRIBUTING.md.",
        exists=True,
        dir_okay=False,
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
    str | None,
    typer.Option("--source-published", help="The day of its publication, YYYY-MM-DD."),
]

Sources = Annotated[
    list[Path],
    typer.Argument(
        help="SPEC's text pages, or folders or CSV files of results.", exists=True
    ),
]
Ids = Annotated[
    list[str] | None,
    typer.Option(
        "--id", help="Only this result, by its id (20210221-01066); again for more."
    ),
]
IdsFile = Annotated[
    Path | None,
    typer.Option(
        help="Only the results in this file, one id a line.",
        exists=True,
        dir_okay=False,
    ),
]
Signatory = Annotated[
    int | None,
    typer.Option(
        "--contributor",
        min=1,
        help="Your GitHub account's number: `gh api user --jq .id`.",
    ),
]
Founding = Annotated[
    bool,
    typer.Option(
        "--founding", help="Sign with a new key that is thrown away, as contributor 0."
    ),
]
Dump = Annotated[
    Path,
    typer.Argument(
        help="A response that kepler-model-server saved.", exists=True, dir_okay=False
    ),
]
Instance = Annotated[
    str | None, typer.Option(help="The exporter to read, if there are several.")
]
Tables = Annotated[
    list[Path],
    typer.Argument(
        help="Preprocessed tables of one recording, joined by their timestamps.",
        exists=True,
        dir_okay=False,
    ),
]
Platform = Annotated[
    str | None, typer.Option(help="The meter of platform_power: acpi or redfish.")
]
TableFolder = Annotated[
    Path,
    typer.Argument(
        help="A folder with runs.csv and samples.csv or levels.csv.",
        exists=True,
        file_okay=False,
    ),
]
FirstDay = Annotated[
    str, typer.Option("--from", help="First day of measurement, YYYY-MM-DD.")
]
LastDay = Annotated[
    str | None, typer.Option("--to", help="Last day; the first if unset.")
]
OwnWorkloads = Annotated[
    Own, typer.Option(help="What was done with workloads of your own.")
]
Derived = Annotated[
    Done | None,
    typer.Option(help="What was done to raw readings; nothing if unset."),
]
NewVersion = Annotated[
    bool,
    typer.Option(
        "--new-version", help="Follow and replace the version in the checkout."
    ),
]
Login = Annotated[str, typer.Option(help="The name of your GitHub account.")]
Endorser = Annotated[
    Path | None,
    typer.Option(
        help="A key that you enrolled before; needed for every key but the first.",
        exists=True,
        dir_okay=False,
    ),
]
Around = Annotated[
    Path | None,
    typer.Option(
        help="The registry's checkout, if the bundle does not lie in it.",
        exists=True,
        file_okay=False,
    ),
]
OtherSpec = Annotated[
    Path | None,
    typer.Option(help="The machine's spec.", exists=True, dir_okay=False),
]
Base = Annotated[
    str | None,
    typer.Option(
        help="The revision it would be merged into; else the first there is of"
        " upstream/main, origin/main and main."
    ),
]
PublishedKeys = Annotated[
    Path | None,
    typer.Option(
        help="Your signing keys as GitHub lists them, one a line; else those that"
        " you enrol are taken for published.",
        exists=True,
        dir_okay=False,
    ),
]
