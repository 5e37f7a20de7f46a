"""Build a release again from the commit that it names, and compare every byte."""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from registry.client.downloading import collect
from registry.client.origins import UNREACHABLE, open_origin
from registry.documents.canonical import sha256
from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
)
from registry.modelling.digest import code_digest, library_versions
from registry.publish.index import INDEX_BYTES, read_index
from registry.publish.integrity import INDEX, SUMS, tag_of
from registry.publish.previous import artifact_digest
from registry.publish.release import build_from
from registry.publish.source import Source, open_source
from registry.publish.transport import NOT_OURS, PACKED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from registry.client.origins import Origin
    from registry.publish.index import Index

__all__ = ["Rebuilt", "rebuild_and_compare"]

DIFFERENT = code(
    "R060",
    Severity.ERROR,
    "A file of a release is not what its commit gives.",
    "Do not use the release. If several people see this, its build was tampered with.",
    "P3",
)
OTHER_CODE = code(
    "R061",
    Severity.ERROR,
    "A release was built by other code or libraries than are installed here.",
    "Check out the commit that the release names, install its pinned libraries "
    "(requirements lock) and run again.",
    "P3",
)


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """The outcome of a comparison.

    Attributes:
        tag: The release's name.
        commit: The commit, or None if it was built from a work tree.
        files: How many files were compared.
        findings: One for every file that differs; none if all are the same.
    """

    tag: str
    commit: str | None
    files: int
    findings: tuple[Finding, ...]


def rebuild_and_compare(
    repo: Path,
    place: str,
    *,
    jobs: int = 1,
    progress: Callable[[str], None] | None = None,
    work: Path | None = None,
) -> Rebuilt:
    """Rebuild a release in a temporary folder and compare it file by file.

    Args:
        repo: A clone that has the release's commit; for a release that names none,
            the work tree that it was built from.
        place: The release: a folder, a channel, a URL or a place on GitHub.
        jobs: Processes that fit models.
        progress: Called with lines for people.
        work: Where the temporary folder is made.

    Raises:
        RegistryError: R061, or the release or commit cannot be read.

    """
    origin = open_origin(place)
    data = origin.read(INDEX, INDEX_BYTES)
    index = read_index(data, INDEX)
    if problems := _other_code(index):
        raise RegistryError(problems)
    source = _source(repo, index)
    with tempfile.TemporaryDirectory(prefix="rebuild-", dir=work) as folder:
        theirs, unpacked = _digests(origin, index, data, Path(folder))
        out = Path(folder, "release")
        result = build_from(source, out, jobs=jobs, progress=progress)
        own = {asset.path: asset.sha256 for asset in result.index.assets}
        own |= {name: sha256((out / name).read_bytes()) for name in (INDEX, SUMS)}
    findings = tuple(
        finding(DIFFERENT, path, _difference(own.get(path), theirs.get(path)))
        for path in sorted(own.keys() | theirs.keys())
        if own.get(path) != theirs.get(path)
    )
    return Rebuilt(tag_of(data), index.commit, len(own), findings + unpacked)


def _source(repo: Path, index: Index) -> Source:
    if index.commit is not None:
        return open_source(repo, index.commit)
    return Source(open_source(repo).tree)


def _other_code(index: Index) -> list[Finding]:
    found = []
    here = {"artifacts": artifact_digest(), "fits": code_digest()}
    for name in sorted(here.keys() | index.code.keys()):
        if here.get(name) != index.code.get(name):
            what = f"the code of the {name} is another one"
            found.append(finding(OTHER_CODE, INDEX, what))
    installed = library_versions()
    for name in sorted(installed.keys() | index.libraries.keys()):
        if installed.get(name) != index.libraries.get(name):
            what = f"{name} {index.libraries.get(name)}, {installed.get(name)} is here"
            found.append(finding(OTHER_CODE, INDEX, what))
    return found


def _digests(
    origin: Origin, index: Index, data: bytes, work: Path
) -> tuple[Mapping[str, str], tuple[Finding, ...]]:
    """Digest all files of a release as they lie there, whatever its index says.

    Returns:
        Digests by path, and what is wrong with the zip of nested files.

    Raises:
        RegistryError: R040, one of them cannot be read although it is there.

    """
    folder, unpacked = origin.folder, list[Finding]()
    if folder is None:
        folder = work / "theirs"
        folder.mkdir()
        problems = collect(origin, index, folder)
        if unread := [f for f in problems if f.code == UNREACHABLE.id]:
            raise RegistryError(unread)
        unpacked = [f for f in problems if f.code == NOT_OURS.id or f.path == PACKED]
        (folder / INDEX).write_bytes(data)
        most = 300 * (len(index.assets) + 1)
        (folder / SUMS).write_bytes(origin.read(SUMS, most))
    digests = {}
    for path in folder.rglob("*"):
        if path.is_file():
            relative = path.relative_to(folder).as_posix()
            with path.open("rb") as file:
                digests[relative] = hashlib.file_digest(file, "sha256").hexdigest()
    return digests, tuple(unpacked)


def _difference(own: str | None, theirs: str | None) -> str:
    if own is None:
        return "the rebuilt release has no such file"
    if theirs is None:
        return "it is missing; the rebuilt release has it"
    return f"its SHA-256 begins with {theirs[:16]}, the rebuilt one's with {own[:16]}"
