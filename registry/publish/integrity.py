"""Is a release folder what its index says: every file, digest and statement?"""

from __future__ import annotations

import hashlib
import os
import stat
from typing import TYPE_CHECKING, Final

from registry.documents.findings import RegistryError, Severity, code, finding
from registry.publish.index import INDEX_BYTES, Asset, read_index
from registry.publish.provenance import PROVENANCE, check_provenance
from registry.publish.staging import sums_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from registry.documents.findings import Finding
    from registry.publish.index import Index

__all__ = [
    "INDEX",
    "LATEST",
    "SUMS",
    "check_folder",
    "check_sums",
    "difference",
    "open_folder",
    "tag_of",
]

INDEX: Final = "index.json"
SUMS: Final = "SHA256SUMS"
LATEST: Final = "latest"
"""The name in a channel folder that points to its newest release."""

MISSING = code(
    "R012",
    Severity.ERROR,
    "A file of a release is missing.",
    "Download the release again, completely.",
    "P2",
)
CHANGED = code(
    "R013",
    Severity.ERROR,
    "A file of a release is not the one that its index names.",
    "Do not use it; download the release again from the registry itself.",
    "P2",
    "P3",
)
UNLISTED = code(
    "R014",
    Severity.ERROR,
    "A release folder holds a file that its index does not list.",
    "Remove the file; a release holds nothing that nobody vouches for.",
    "P2",
)

_CHUNK: Final = 1 << 20


def tag_of(index: bytes) -> str:
    """Name a release by its content: ``r-`` and 16 digits of its index's SHA-256."""
    return f"r-{hashlib.sha256(index).hexdigest()[:16]}"


def open_folder(folder: Path) -> tuple[Index, bytes]:
    """Read the index of a release folder.

    Raises:
        RegistryError: R012, R010 or a J code.

    """
    path = folder / INDEX
    if not path.is_file():
        raise RegistryError(finding(MISSING, INDEX, "the folder holds no release"))
    with path.open("rb") as file:
        data = file.read(INDEX_BYTES + 1)
    return read_index(data, INDEX), data


def check_folder(folder: Path, index: Index, data: bytes) -> list[Finding]:
    """Check all files of a release folder; nothing is parsed before its digest.

    Args:
        folder: The release.
        index: Its index.
        data: The bytes of the index.

    """
    findings: list[Finding] = []
    there = set(_files(folder))
    for asset in index.assets:
        if asset.path not in there:
            findings.append(finding(MISSING, asset.path, "it is missing"))
        elif problem := difference(folder / asset.path, asset):
            findings.append(finding(CHANGED, asset.path, problem))
    known = {asset.path for asset in index.assets} | {INDEX, SUMS}
    findings += [
        finding(UNLISTED, path, "it is not in the index")
        for path in sorted(there - known)
    ]
    if SUMS in there:
        findings += check_sums((folder / SUMS).read_bytes(), index, data)
    else:
        findings.append(finding(MISSING, SUMS, "it is missing"))
    if PROVENANCE in there and not any(f.path == PROVENANCE for f in findings):
        findings += check_provenance((folder / PROVENANCE).read_bytes(), index)
    return findings


def check_sums(sums: bytes, index: Index, data: bytes) -> list[Finding]:
    """Compare SHA256SUMS with the index, of which it is a function."""
    own = Asset(path=INDEX, bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
    listed = sorted([*index.assets, own], key=lambda asset: asset.path)
    if sums == sums_bytes(listed):
        return []
    return [finding(CHANGED, SUMS, "it lists other digests than the index")]


def difference(path: Path, asset: Asset) -> str | None:
    """Say in which way a file is not the one that an index names, or None."""
    if path.stat().st_size != asset.bytes:
        return f"it has {path.stat().st_size} bytes, not {asset.bytes}"
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    if digest.hexdigest() != asset.sha256:
        return "its digest is another one"
    return None


def _files(folder: Path) -> Iterator[str]:
    """List regular files; a link or device is listed under a name nobody has."""
    for base, folders, names in os.walk(folder):
        for name in [*names, *folders]:
            full = os.path.join(base, name)  # noqa: PTH118 - fits os.walk
            mode = os.lstat(full).st_mode
            relative = os.path.relpath(full, folder)
            if stat.S_ISREG(mode):
                yield relative
            elif not stat.S_ISDIR(mode):
                yield f"{relative} (no ordinary file)"
