"""Keeps results from being written over what they are made of."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from registry.documents.findings import RegistryError, Severity, code, finding

__all__ = ["not_over", "read_twice"]

SAME = code(
    "V054",
    Severity.ERROR,
    "A result would be written over what it is made of.",
    "Give another file with `-o`.",
)

ONCE = code(
    "V059",
    Severity.ERROR,
    "An input can be read only once, and is read twice.",
    "Give a file; save what comes through a pipe first.",
)


def read_twice(path: Path) -> None:
    """Make sure that an input is a file, and no pipe or device.

    Raises:
        RegistryError: V059: it is something else that exists.
    """
    if path.exists() and not path.is_file():
        raise RegistryError([finding(ONCE, str(path), "it is no regular file")])


def not_over(out: Path, inputs: Iterable[Path]) -> None:
    """Make sure that a result is another file than its inputs.

    Raises:
        RegistryError: V054: it is one of them, perhaps by another name.
    """
    for path in inputs:
        if out.exists() and path.exists() and out.samefile(path):
            what = "it is an input, and would be the output"
            raise RegistryError([finding(SAME, str(out), what)])
