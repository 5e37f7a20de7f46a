"""New names of events by old ones, from the command line and from a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from registry.documents import limits
from registry.documents.findings import Finding, RegistryError, Severity, code, finding
from registry.documents.strict_yaml import read_yaml

__all__ = ["new_names"]

V026 = code(
    "V026",
    Severity.ERROR,
    "A new name of events cannot be used.",
    "Write OLD=NEW, or a YAML mapping of old names to new ones, each name once.",
)


def new_names(pairs: Sequence[str], file: Path | None = None) -> dict[str, str]:
    """Read new names.

    Args:
        pairs: each an old name, ``=`` and a new one; the last ``=`` counts.
        file: a YAML mapping, whose names give way to those of the pairs.

    Raises:
        RegistryError: V026, or Y001 to Y008 of the YAML.
        OSError: the file cannot be read.
    """
    names: dict[str, str] = {}
    problems: list[Finding] = []
    if file is not None:
        with file.open("rb") as opened:
            data = opened.read(limits.YAML_BYTES + 1)
        document = read_yaml(data, str(file), comments=True)
        for old, new in document.value.items():
            if isinstance(new, str):
                names[old] = new
                continue
            line = document.lines.get((old,))
            problems.append(finding(V026, str(file), f"{old} is no text", line=line))
    for pair in pairs:
        old, equals, new = pair.rpartition("=")
        if not equals or not old:
            problems.append(finding(V026, "--rename", f"{pair} is no OLD=NEW"))
        names[old] = new
    if problems:
        raise RegistryError(problems)
    return names
