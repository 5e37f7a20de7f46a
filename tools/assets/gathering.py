"""Fetch the files of assets, several at once; every failure is told, none is hidden."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from registry.documents.findings import Finding, RegistryError, finding
from tools.assets.crews import each
from tools.assets.downloading import Fetched, Outcome, Wanted, download
from tools.assets.keeping import A032, place_of
from tools.assets.library import Library, lock_key
from tools.assets.locks import Locked, add_to_lock
from tools.assets.manifests import Asset, AssetFile
from tools.assets.sources import PATIENT, Patience

__all__ = ["Gathered", "gather"]


@dataclass(frozen=True, slots=True)
class Gathered:
    """What became of the files that were wanted.

    Attributes:
        fetched: those that are here now, and were before or not.
        recorded: digests that were added to the lock, by its names.
        findings: what went wrong, for each file that is not here.

    """

    fetched: tuple[tuple[Asset, Fetched], ...]
    recorded: Mapping[str, Locked]
    findings: tuple[Finding, ...]

    @property
    def bytes(self) -> int:
        """How many bytes were fetched now."""
        new = (got for _, got in self.fetched if got.outcome is Outcome.FETCHED)
        return sum(got.bytes for got in new)


@dataclass(frozen=True, slots=True)
class _Job:
    asset: Asset
    file: AssetFile
    target: Path


def gather(
    library: Library,
    assets: Sequence[Asset],
    directory: Path,
    *,
    record: bool = False,
    jobs: int = 4,
    patience: Patience = PATIENT,
    options: Mapping[str, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Gathered:
    """Fetch assets into a directory, each file under its canonical name and path.

    Args:
        library: where the assets are from; its lock is written.
        assets: which ones.
        directory: where assets are kept.
        record: accept files whose digest nobody says, and write down what they have.
        jobs: how many files are fetched at once.
        patience: how long sources are waited for.
        options: options of the file system, as fsspec has them.
        progress: is told in a line what is done.

    """
    problems: list[Finding] = []
    work: list[_Job] = []
    for asset in assets:
        for file in asset.files:
            target = place_of(directory, asset, file)
            if file.sha256 is None and not record:
                what = f"its manifest {asset.manifest.name} has no SHA-256 of it"
                problems.append(finding(A032, str(target), what))
            else:
                work.append(_Job(asset, file, target))

    def one(job: _Job) -> Fetched | tuple[Finding, ...]:
        file = job.file
        try:
            return download(
                Wanted(file.urls, file.sha256, file.bytes, file.md5),
                job.target,
                patience=patience,
                options=options,
                progress=progress,
            )
        except RegistryError as error:
            return error.findings

    results = each(one, work, jobs)
    got: list[tuple[Asset, Fetched]] = []
    recorded: dict[str, Locked] = {}
    for job, result in zip(work, results, strict=True):
        if not isinstance(result, Fetched):
            problems.extend(result)
            continue
        got.append((job.asset, result))
        if job.file.sha256 is None:
            seen = Locked(sha256=result.sha256, bytes=result.bytes)
            recorded[lock_key(job.asset, job.file)] = seen
    if recorded:
        problems.extend(add_to_lock(library.lock, recorded))
    return Gathered(tuple(got), recorded, tuple(problems))
