"""Which files the paths of a command mean: a file itself, a folder's traces.

In a folder, files whose names say that they were made of other traces are passed over,
as TRIMS does: counting them would count their events twice.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from registry.documents.findings import Finding, RegistryError, Severity, code, finding

__all__ = ["DERIVED", "Chosen", "choose"]

DERIVED: Final = ("combined-", "compared-", "summary-", "summary.", "combined.")
"""How names of files begin that were made of other traces."""
ENDINGS: Final = (".json", ".json.gz")
FILES: Final = 100_000

V032 = code(
    "V032",
    Severity.ERROR,
    "There is no trace where one was looked for.",
    "Name a trace, or a folder with files that end in .json or .json.gz.",
)


@dataclass(frozen=True, slots=True)
class Chosen:
    """What one path means.

    Attributes:
        path: the path, as it was given.
        folder: whether it is a folder.
        files: the files that it means, in order of their names.
        derived: files of the folder that were passed over.

    """

    path: Path
    folder: bool
    files: tuple[Path, ...]
    derived: tuple[Path, ...] = ()


def choose(paths: Sequence[Path]) -> list[Chosen]:
    """Find the files of each path.

    Raises:
        RegistryError: V032: a path is not there, or a folder has no trace; all of them.
    """
    chosen: list[Chosen] = []
    problems: list[Finding] = []
    for path in paths:
        if not path.is_dir():
            if not path.exists():
                problems.append(finding(V032, str(path), "it does not exist"))
            chosen.append(Chosen(path, folder=False, files=(path,)))
            continue
        found = sorted(_traces(path))
        derived = tuple(one for one in found if one.name.startswith(DERIVED))
        files = tuple(one for one in found if one not in set(derived))
        if not files:
            what = "no file in it ends in .json or .json.gz"
            if derived:
                what = f"all its {len(derived)} files are made of other traces"
            problems.append(finding(V032, str(path), what))
        if len(files) > FILES:
            problems.append(
                finding(V032, str(path), f"it has more than {FILES:,} files")
            )
        chosen.append(Chosen(path, folder=True, files=files, derived=derived))
    if problems:
        raise RegistryError(problems)
    return chosen


def _traces(folder: Path) -> Iterator[Path]:
    for place, _, names in os.walk(folder):
        for name in names:
            if name.endswith(ENDINGS) and not name.startswith("."):
                yield Path(place, name)
