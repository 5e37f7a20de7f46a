"""Digests of files whose manifests have none, as they were seen when first fetched."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from registry.documents import limits
from registry.documents.findings import Finding, Severity, code, finding
from registry.documents.strict_json import read_json
from registry.documents.validation import Document, DocumentCodes, validate
from tools.assets.contents import FILE_BYTES
from tools.assets.published import Digest
from tools.files.writing import write_whole

__all__ = ["LOCK_NAME", "Locked", "add_to_lock", "read_lock"]

LOCK_NAME: Final = "assets.lock.json"
"""The name of a lock, which is beside the manifests."""

A025 = code(
    "A025",
    Severity.ERROR,
    "A lock of digests cannot be used.",
    "Restore it from where the manifests are kept, or remove it and record again.",
)
_CODES: Final = DocumentCodes(A025, A025, A025, A025)


class Locked(Document):
    """The digest and the size of a file as it was seen."""

    sha256: Digest
    bytes: Annotated[int, Field(strict=True, ge=0, le=FILE_BYTES)]


class Lock(Document):
    """All digests that were seen, by `<canonical name>/<path>`."""

    schema_: Literal["asset-lock/1"] = Field(alias="schema")
    files: dict[Annotated[str, StringConstraints(max_length=400)], Locked]


def read_lock(path: Path) -> dict[str, Locked]:
    """Read a lock; one that is not there has no digests.

    Raises:
        RegistryError: A025 and J001 to J007.

    """
    try:
        with path.open("rb") as file:
            data = file.read(limits.JSON_BYTES + 1)
    except FileNotFoundError:
        return {}
    value = read_json(data, os.fspath(path))
    return dict(validate(Lock, value, os.fspath(path), _CODES).files)


def add_to_lock(path: Path, seen: Mapping[str, Locked]) -> tuple[Finding, ...]:
    """Write digests down, beside those that others have written down meanwhile.

    The folder is locked for that moment, and the file is written whole or not at all.

    Returns:
        A025 for each file of which others have seen another digest, which stays.

    Raises:
        RegistryError: A025 and J001 to J007, what is there is no lock.
        OSError: it cannot be written.

    """
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        there = read_lock(path)
        _write(path, {**seen, **there})
    finally:
        os.close(folder)
    return tuple(
        finding(A025, os.fspath(path), f"{name} was recorded with another digest")
        for name, one in sorted(seen.items())
        if there.get(name, one) != one
    )


def _write(path: Path, files: Mapping[str, Locked]) -> None:
    document = {
        "schema": "asset-lock/1",
        "files": {name: files[name].model_dump() for name in sorted(files)},
    }
    write_whole(path, json.dumps(document, indent=2) + "\n")
