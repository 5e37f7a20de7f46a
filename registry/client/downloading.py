"""Download a release whole, so that the folder equals the one that was published."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from registry.client.opening import open_release
from registry.documents.findings import RegistryError, finding
from registry.publish.index import index_bytes
from registry.publish.integrity import (
    CHANGED,
    check_folder,
    difference,
    open_folder,
)
from registry.publish.staging import Staging
from registry.publish.transport import PACKED, packed, packed_bytes, unpack

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from registry.client.origins import Origin
    from registry.documents.findings import Finding
    from registry.publish.index import Asset, Index

__all__ = ["Downloaded", "collect", "download"]

_AT_ONCE: Final = 8
"""Files that are read from a web server at the same time."""


@dataclass(frozen=True, slots=True)
class Downloaded:
    """A release that was downloaded.

    Attributes:
        out: Its folder.
        tag: Its name.
        index: Its index.
        new: False if it lay there already.
        warnings: Findings that do not forbid its use.
    """

    out: Path
    tag: str
    index: Index
    new: bool
    warnings: tuple[Finding, ...]


def download(
    place: str,
    out: Path,
    *,
    digest: str | None = None,
    state: Path | None = None,
    now: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Downloaded:
    """Download all files of a release, each compared with its digest.

    The folder appears all at once; a release that lies there is replaced.

    Args:
        place: As in `open_release`.
        out: The folder.
        digest: As in `open_release`.
        state: As in `open_release`.
        now: As in `open_release`.
        progress: Called with lines for people.

    Raises:
        NoRelease: R040, nothing is there.
        RegistryError: Everything that is wrong with the release, or R020.

    """
    release = open_release(place, digest=digest, state=state, now=now)
    index = release.index
    data = index_bytes(index)
    if _lies_there(out, data):
        return Downloaded(out, release.tag, index, new=False, warnings=release.warnings)
    staging = Staging(out)
    problems: list[Finding] | None = None
    try:
        problems = collect(release.origin, index, staging.folder, progress)
    finally:
        if problems is None or problems:
            staging.abandon()
    if problems:
        raise RegistryError(problems)
    for asset in index.assets:
        staging.register(asset.path, asset.bytes, asset.sha256)
    staging.finish(data)
    return Downloaded(out, release.tag, index, new=True, warnings=release.warnings)


def collect(
    origin: Origin,
    index: Index,
    folder: Path,
    progress: Callable[[str], None] | None = None,
) -> list[Finding]:
    """Read all assets of a release into a folder, whatever is wrong with some.

    Args:
        origin: The release.
        index: Its index.
        folder: Where they are written; what is refused is written as it was read, but
            never beyond its size.
        progress: Called with lines for people.

    Returns:
        One finding for every asset that cannot be read or has another digest.

    """
    inside = packed(index.assets) if origin.tag is not None else ()
    names = {asset.path for asset in inside}
    single = [asset for asset in index.assets if asset.path not in names]
    show = progress or (lambda _: None)
    for asset in single:
        (folder / asset.path).parent.mkdir(parents=True, exist_ok=True)
    problems: list[Finding] = []
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        results = pool.map(lambda asset: _collect_one(origin, asset, folder), single)
        for number, found in enumerate(results, 1):
            show(f"{number} of {len(single)} files")
            problems += found
    if inside:
        show(PACKED)
        problems += _collect_packed(origin, inside, folder)
    return problems


def _collect_one(origin: Origin, asset: Asset, folder: Path) -> list[Finding]:
    target = folder / asset.path
    try:
        origin.save(asset.path, asset.bytes, target)
    except RegistryError as error:
        return list(error.findings)
    problem = difference(target, asset)
    return [] if problem is None else [finding(CHANGED, asset.path, problem)]


def _collect_packed(
    origin: Origin, assets: tuple[Asset, ...], folder: Path
) -> list[Finding]:
    """Read the nested files of a release on GitHub, which are in one zip there."""
    part = folder / PACKED
    try:
        origin.save(PACKED, packed_bytes(assets), part)
        with part.open("rb") as source:
            unpack(source, assets, folder)
    except RegistryError as error:
        return list(error.findings)
    finally:
        part.unlink(missing_ok=True)
    return []


def _lies_there(out: Path, data: bytes) -> bool:
    """Tell whether exactly this release is in a folder, and whole."""
    try:
        index, found = open_folder(out)
    except RegistryError:
        return False
    return found == data and not check_folder(out, index, found)
