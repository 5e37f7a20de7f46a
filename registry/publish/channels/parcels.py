"""The files in which a release travels to GitHub, which knows no folders.

Every file at the root of the release is an asset under its own name, so that Kepler, a
model server and people find it; the rest is in `folder.zip`.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from registry.documents.canonical import sha256
from registry.documents.findings import RegistryError, Severity, code, finding
from registry.publish.integrity import INDEX, SUMS
from registry.publish.transport import PACKED, pack, packed, packed_bytes

if TYPE_CHECKING:
    from registry.documents.findings import Finding
    from registry.publish.index import Index

__all__ = ["Parcel", "parcels"]

UNSUITED = code(
    "R074",
    Severity.ERROR,
    "A release cannot be published on GitHub as it is.",
    "Build it from a commit; if it has too many or too large files for GitHub, publish "
    "to a folder, `--to dir:PATH`, and serve that.",
)

ASSETS: Final = 1000
"""The most assets that GitHub takes for one release."""
ASSET_BYTES: Final = 2**31 - 1
"""The largest asset: it must be smaller than 2 GiB."""
_KEPT: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.))*(?<!\.)")
"""Names that GitHub does not change."""
_TYPES: Final = {
    ".json": "application/json",
    ".jsonl": "application/x-ndjson",
    ".md": "text/markdown; charset=utf-8",
    ".svg": "image/svg+xml",
    ".zip": "application/zip",
}


@dataclass(frozen=True, slots=True)
class Parcel:
    """A file that becomes an asset.

    Attributes:
        name: The asset's name.
        path: The file.
        bytes: Its size.
        sha256: Its digest.
    """

    name: str
    path: Path
    bytes: int
    sha256: str

    @property
    def content_type(self) -> str:
        """Its media type."""
        return _TYPES.get(Path(self.name).suffix, "text/plain; charset=utf-8")


def parcels(release: Path, index: Index, data: bytes, work: Path) -> list[Parcel]:
    """List the files to send, and write `folder.zip`.

    Args:
        release: A release folder that was checked.
        index: Its index.
        data: The bytes of the index.
        work: A folder for `folder.zip`.

    Returns:
        Sorted by name.

    Raises:
        RegistryError: R074 or R070, GitHub would not take them as they are.

    """
    inside = packed(index.assets)
    names = {asset.path for asset in inside}
    found = [
        Parcel(asset.path, release / asset.path, asset.bytes, asset.sha256)
        for asset in index.assets
        if asset.path not in names
    ]
    own = Parcel(INDEX, release / INDEX, len(data), sha256(data))
    sums = (release / SUMS).read_bytes()
    found += [own, Parcel(SUMS, release / SUMS, len(sums), sha256(sums))]
    if problems := _unsuited(index, found, packed_bytes(inside) if inside else 0):
        raise RegistryError(problems)
    if inside:
        target = work / PACKED
        with target.open("wb") as file:
            pack(release, inside, file)
        with target.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        found.append(Parcel(PACKED, target, target.stat().st_size, digest))
    return sorted(found, key=lambda parcel: parcel.name)


def _unsuited(index: Index, found: list[Parcel], zipped: int) -> list[Finding]:
    problems = []
    if index.commit is None:
        what = "it was built from uncommitted files, so no commit could be tagged"
        problems.append(finding(UNSUITED, INDEX, what))
    count = len(found) + (1 if zipped else 0)
    if count > ASSETS:
        what = f"it would have {count} assets; GitHub takes {ASSETS}"
        problems.append(finding(UNSUITED, INDEX, what))
    for parcel in found:
        if parcel.name.casefold() == PACKED or _KEPT.fullmatch(parcel.name) is None:
            what = "GitHub would change this name, or it is taken"
            problems.append(finding(UNSUITED, parcel.name, what))
        if parcel.bytes > ASSET_BYTES:
            what = f"it has {parcel.bytes} bytes; GitHub takes {ASSET_BYTES}"
            problems.append(finding(UNSUITED, parcel.name, what))
    if zipped > ASSET_BYTES:
        what = f"it would have {zipped} bytes; GitHub takes {ASSET_BYTES}"
        problems.append(finding(UNSUITED, PACKED, what))
    return problems
