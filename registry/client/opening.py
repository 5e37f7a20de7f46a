"""Open a release and check everything about it before any of it is used."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from registry.client.memory import (
    check_serial,
    remember,
    seen_serial,
    state_file,
)
from registry.client.origins import Origin, open_origin
from registry.documents.canonical import sha256
from registry.documents.findings import RegistryError, Severity, code, finding, shown
from registry.documents.instants import day
from registry.publish.index import INDEX_BYTES, read_index
from registry.publish.integrity import (
    CHANGED,
    INDEX,
    MISSING,
    SUMS,
    check_folder,
    check_sums,
    tag_of,
)
from registry.publish.provenance import PROVENANCE, check_provenance

if TYPE_CHECKING:
    from registry.documents.findings import Finding
    from registry.publish.index import Index

__all__ = ["Release", "open_release"]

EXPIRED = code(
    "R045",
    Severity.WARNING,
    "A release is older than a release should become.",
    "Look for a newer one; if there is none, ask the maintainers whether all is well.",
    "P2",
)
OTHER_RELEASE = code(
    "R046",
    Severity.ERROR,
    "A release is not the one whose digest was given.",
    "Do not use it; ask where the digest came from and who serves the files.",
    "P4",
)

_PROVENANCE_BYTES: Final = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Release:
    """A release that passed all checks.

    Attributes:
        origin: Where it is.
        index: Its index.
        tag: Its name, from the digest of the index.
        warnings: Findings that do not forbid its use.
    """

    origin: Origin
    index: Index
    tag: str
    warnings: tuple[Finding, ...]

    def read(self, path: str) -> bytes:
        """Read an asset and compare it with its digest before anything parses it.

        Raises:
            RegistryError: R012 or R013, or R04x, it cannot be read.

        """
        asset = self.index.asset(path)
        if asset is None:
            raise RegistryError(finding(MISSING, path, "the index does not list it"))
        data = self.origin.read(path, asset.bytes)
        if len(data) != asset.bytes or sha256(data) != asset.sha256:
            what = f"{len(data)} bytes with another digest than in the index"
            raise RegistryError(finding(CHANGED, path, what))
        return data


def open_release(
    place: str,
    *,
    state: Path | None = None,
    now: int | None = None,
    digest: str | None = None,
) -> Release:
    """Open a release and check it.

    Index, sums and provenance must agree; in a folder every file is compared with its
    digest, from a web server those that are read. An origin may not go back to an older
    release than this machine has seen there, unless that one was asked for by its tag.

    Args:
        place: A release folder, a channel folder, the URL of one, or a place on GitHub.
        state: The record of what was seen; by default `memory.state_file`.
        now: The time, seconds since 1970.
        digest: SHA-256 (hex) of the index or a tag, if it is known from elsewhere.

    Raises:
        NoRelease: R040, nothing is there.
        RegistryError: Everything that is wrong with it.

    """
    origin = open_origin(place)
    data = origin.read(INDEX, INDEX_BYTES)
    if digest is not None and digest not in {sha256(data), tag_of(data)}:
        what = f"{shown(digest, 80)} was asked for, but it is {sha256(data)}"
        raise RegistryError(finding(OTHER_RELEASE, INDEX, what))
    index = read_index(data, INDEX)
    findings = _content(origin, index, data)
    file = state or state_file()
    older = origin.chosen and seen_serial(file, origin.name) > index.serial
    if not older:  # who names an older release by its digest wants that very one
        findings += check_serial(file, origin.name, index, data)
    errors = [found for found in findings if found.severity is Severity.ERROR]
    if errors:
        raise RegistryError(findings)
    if not older:
        remember(file, origin.name, index, data)
    findings += _expiry(index, int(time.time()) if now is None else now)
    return Release(origin, index, tag_of(data), tuple(findings))


def _content(origin: Origin, index: Index, data: bytes) -> list[Finding]:
    if origin.folder is not None:
        return check_folder(origin.folder, index, data)
    most = 300 * (len(index.assets) + 1)
    findings = check_sums(origin.read(SUMS, most), index, data)
    asset = index.asset(PROVENANCE)
    if asset is None:
        return [*findings, finding(MISSING, PROVENANCE, "the index does not list it")]
    most = min(asset.bytes, _PROVENANCE_BYTES)
    statements = origin.read(PROVENANCE, most) if most else b""
    if sha256(statements) != asset.sha256:
        what = "its digest is another one"
        return [*findings, finding(CHANGED, PROVENANCE, what)]
    return findings + check_provenance(statements, index)


def _expiry(index: Index, now: int) -> list[Finding]:
    if index.expires is None or now <= index.expires:
        return []
    return [
        finding(
            EXPIRED, INDEX, f"it should have been replaced before {day(index.expires)}"
        )
    ]
