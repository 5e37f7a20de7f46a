"""What stands in a table for a workload: a catalogued id, `other`, or a pseudonym.

Names of workloads never enter a table. A workload of the kit knows which catalogued one
it is like; for all others somebody says so, by `NAME=ID`.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from registry.documents import workloads
from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
    shown,
)
from tools.experiments.files import read_bytes, read_document
from tools.experiments.record import Run

__all__ = ["Labels", "read_map"]

BAD_MAP: Final = code(
    "B083",
    Severity.ERROR,
    "A label of a workload is none that a table can have.",
    "Write NAME=ID, one a line in a file. An ID is one of docs/columns.md, `other`, or"
    " `w_` and 12 of the characters a-z and 2-7.",
)
UNUSED: Final = code(
    "B084",
    Severity.WARNING,
    "A label is of a workload that did not run.",
    "Check the name: `powerkit bench list FOLDER` shows them.",
)
OWN: Final = code(
    "B085",
    Severity.INFO,
    "A workload has no catalogued id, so that its name is left out.",
    "If it is like one of docs/columns.md, say so: `--workload-map NAME=ID`.",
)

_MAP_BYTES: Final = 1 << 20
_ENTRIES: Final = 100_000
_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz234567"
_SCHEMA: Final = "workload-result/1"


def read_map(texts: Sequence[str]) -> dict[str, str]:
    """Read labels: each text is NAME=ID, or names a file with such lines.

    In a file, empty lines and those that begin with ``#`` mean nothing. The last equals
    sign of a line parts name and label.

    Raises:
        RegistryError: B001, a file cannot be read; B083, every line that is none.
    """
    found: dict[str, str] = {}
    problems: list[Finding] = []
    for text in texts:
        if "=" in text and not Path(text).is_file():
            _add(found, problems, text, "--workload-map", None)
            continue
        data = read_bytes(Path(text), _MAP_BYTES)
        lines = data.decode("utf-8", "replace").splitlines()
        for number, line in enumerate(lines[:_ENTRIES], 1):
            if line.strip() and not line.lstrip().startswith("#"):
                _add(found, problems, line.strip(), text, number)
    if problems:
        raise RegistryError(problems[:20])
    return found


def _add(
    found: dict[str, str],
    problems: list[Finding],
    text: str,
    path: str,
    line: int | None,
) -> None:
    name, equals, label = (part.strip() for part in text.rpartition("="))
    if not equals or not name or not workloads.is_label(label):
        problems.append(finding(BAD_MAP, path, shown(text), line=line))
    elif found.setdefault(name, label) != label:
        what = f"{shown(name)} is {found[name]} and {label}"
        problems.append(finding(BAD_MAP, path, what, line=line))


def _drawn() -> str:
    return "w_" + "".join(secrets.choice(_ALPHABET) for _ in range(12))


@dataclass(slots=True)
class Labels:
    """Gives every workload its label, the same one each time.

    Attributes:
        said: labels by the name of a workload, ``workload/item``, or a span.
        pseudonyms: whether others get names drawn at random; else they are ``other``.
        draw: draws one.
        own: labels of workloads without a catalogued one, by name.
        used: which of `said` were asked for.
    """

    said: Mapping[str, str]
    pseudonyms: bool = False
    draw: Callable[[], str] = _drawn
    own: dict[str, str] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def of(self, run: Run, names: Iterable[str | None] = ()) -> str:
        """Return the label of a run, or of a part of it that has names of its own."""
        for name in (*names, run.label, run.workload):
            if name is not None and name in self.said:
                self.used.add(name)
                return self.said[name]
        known = _of_kit(run) or run.workload
        if workloads.is_label(known) and known != workloads.OTHER:
            return known
        if run.label not in self.own:
            self.own[run.label] = self.draw() if self.pseudonyms else workloads.OTHER
        return self.own[run.label]

    def findings(self) -> list[Finding]:
        """What was asked for in vain, and whose names are left out."""
        found = [
            finding(UNUSED, shown(name), f"the label {self.said[name]}")
            for name in sorted(self.said.keys() - self.used)[:20]
        ]
        return found + [
            finding(OWN, name, f"it stands in the tables as {label}")
            for name, label in sorted(self.own.items())[:20]
        ]


def _of_kit(run: Run) -> str | None:
    """The label that a workload of the kit wrote beside its result."""
    path = run.file("result.json")
    if path is None:
        return None
    try:
        result = read_document(path)
    except RegistryError:
        return None  # the record says what was wrong with it
    label = result.get("label") if result.get("schema") == _SCHEMA else None
    return label if isinstance(label, str) and workloads.is_label(label) else None
