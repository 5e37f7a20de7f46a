"""Small files of an experiment: read with a bound, written whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from pathlib import Path
from typing import Any, Final

from registry.documents import limits
from registry.documents.findings import RegistryError, Severity, code, finding
from tools.files.writing import write_whole

__all__ = ["digest_of", "read_bytes", "read_document", "write_document"]

DOCUMENT_BYTES: Final = 4 * limits.MIB
"""The largest document of an experiment; a record has some 4 KiB."""

UNREADABLE = code(
    "B001",
    Severity.ERROR,
    "A file of an experiment cannot be read.",
    "Check that it is a plain file of the size that such a file has.",
)
NOT_JSON = code(
    "B002",
    Severity.ERROR,
    "A document of an experiment is no JSON object.",
    "Write one object as UTF-8; numbers are finite.",
)


def read_bytes(
    path: Path, most: int = DOCUMENT_BYTES, shown: str | None = None
) -> bytes:
    """Read a plain file.

    Args:
        path: the file; a symbolic link is followed, a pipe or device refused.
        most: the largest size in bytes.
        shown: its name in findings; the path itself if None.

    Raises:
        RegistryError: B001.
    """
    name = shown or str(path)
    try:
        # Opening a pipe would wait for its writer.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise RegistryError(finding(UNREADABLE, name, "it is no plain file"))
            data = file.read(most + 1)
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or str(error)
        raise RegistryError(finding(UNREADABLE, name, what)) from None
    if len(data) > most:
        what = f"it is larger than {most} bytes"
        raise RegistryError(finding(UNREADABLE, name, what))
    return data


def read_document(
    path: Path, most: int = DOCUMENT_BYTES, shown: str | None = None
) -> dict[str, Any]:
    """Read a JSON object.

    Unlike the documents of the registry it may hold fractions and integers of 64 bits:
    nanoseconds of a machine that runs for a hundred days need more than 53.

    Raises:
        RegistryError: B001, B002.
    """
    name = shown or str(path)
    data = read_bytes(path, most, shown)
    try:
        value = json.loads(data, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        what = str(error) or "it is nested too deeply"
        line = getattr(error, "lineno", None)
        raise RegistryError(finding(NOT_JSON, name, what, line=line)) from None
    if not isinstance(value, dict):
        raise RegistryError(finding(NOT_JSON, name, "the top level is no object"))
    return value


def _no_constant(word: str) -> float:
    message = f"{word} is no number of JSON"
    raise ValueError(message)


def write_document(path: Path, document: object) -> None:
    """Write a JSON document whole, with sorted keys."""
    text = json.dumps(document, indent=2, sort_keys=True, allow_nan=False)
    write_whole(path, f"{text}\n")


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file as lower-case hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
