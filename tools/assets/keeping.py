"""What of the assets is here: looked at by size, or verified by digest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from registry.documents.findings import Finding, Severity, code, finding
from tools.assets.contents import file_digest
from tools.assets.crews import each
from tools.assets.downloading import part_of
from tools.assets.manifests import Asset, AssetFile

__all__ = ["Kept", "State", "kept", "place_of", "verified"]

A030 = code(
    "A030",
    Severity.ERROR,
    "A file of models or data is not what its manifest says.",
    "Remove it, and run `powerkit assets fetch` again.",
)
A031 = code(
    "A031",
    Severity.ERROR,
    "Files of models or data are missing.",
    "Run `powerkit assets fetch`.",
)
A032 = code(
    "A032",
    Severity.ERROR,
    "Nobody says what digest a file has, so it cannot be verified.",
    "Record it once from a source that you trust: `powerkit assets fetch --record`.",
)


class State(StrEnum):
    """How much of an asset is here."""

    PRESENT = "present"
    PARTIAL = "partial"
    ABSENT = "absent"
    CORRUPT = "corrupt"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Kept:
    """An asset and how much of it is here.

    Attributes:
        asset: which.
        state: how much; UNKNOWN if a file is here whose digest nobody says.
        bytes: how many bytes of it are here.

    """

    asset: Asset
    state: State
    bytes: int


def place_of(directory: Path, asset: Asset, file: AssetFile) -> Path:
    """Where a file of an asset is kept."""
    return directory / asset.canonical / file.path


def kept(directory: Path, asset: Asset) -> Kept:
    """Look at what is here of an asset, by sizes alone."""
    states = [_by_size(place_of(directory, asset, file), file) for file in asset.files]
    return Kept(asset, _together(states), _bytes(directory, asset))


def verified(
    directory: Path,
    assets: Iterable[Asset],
    *,
    named: bool,
    jobs: int = 4,
    progress: Callable[[str], None] | None = None,
) -> tuple[tuple[Kept, ...], tuple[Finding, ...]]:
    """Read every file of assets and compare its digest.

    Args:
        directory: where assets are kept.
        assets: which.
        named: whether one that is not here at all is a finding too.
        jobs: how many files are read at once.
        progress: is told in a line what is done.

    Returns:
        How much of each is here, and what is wrong: A030 to A032.

    """

    def one(pair: tuple[Asset, AssetFile]) -> tuple[State, Finding | None]:
        asset, file = pair
        if progress is not None:
            progress(f"verifying {asset.canonical}/{file.path}")
        return _by_digest(place_of(directory, asset, file), file)

    wanted = tuple(assets)
    pairs = [(asset, file) for asset in wanted for file in asset.files]
    results = iter(each(one, pairs, jobs))
    found: list[Kept] = []
    problems: list[Finding] = []
    for asset in wanted:
        mine = [next(results) for _ in asset.files]
        state = _together([state for state, _ in mine])
        found.append(Kept(asset, state, _bytes(directory, asset)))
        problems.extend(problem for _, problem in mine if problem is not None)
        missing = sum(state is State.ABSENT for state, _ in mine)
        if missing and (named or state is not State.ABSENT):
            what = f"{missing} of {len(mine)} files are missing"
            problems.append(finding(A031, str(directory / asset.canonical), what))
    return tuple(found), tuple(problems)


def _by_size(path: Path, file: AssetFile) -> State:
    if not path.is_file():
        waits = part_of(path, file.sha256).exists()
        return State.PARTIAL if waits else State.ABSENT
    if file.bytes is not None and path.stat().st_size != file.bytes:
        return State.CORRUPT
    return State.UNKNOWN if file.sha256 is None else State.PRESENT


def _by_digest(path: Path, file: AssetFile) -> tuple[State, Finding | None]:
    state = _by_size(path, file)
    if state in {State.ABSENT, State.PARTIAL}:
        return State.ABSENT, None
    try:
        size, sha256, md5 = file_digest(path)
    except OSError as error:
        what = error.strerror or "it cannot be read"
        return State.CORRUPT, finding(A030, str(path), what)
    if md5 != (file.md5 or md5):
        what = f"{size} bytes with the MD5 {md5}, not {file.md5}"
        return State.CORRUPT, finding(A030, str(path), what)
    if file.sha256 is None:
        return State.UNKNOWN, finding(A032, str(path), f"{size} bytes, {sha256}")
    if sha256 != file.sha256:
        what = f"{size} bytes with the SHA-256 {sha256}, not {file.sha256}"
        return State.CORRUPT, finding(A030, str(path), what)
    return State.PRESENT, None


def _together(states: list[State]) -> State:
    for worst in (State.CORRUPT, State.PARTIAL, State.UNKNOWN):
        if worst in states:
            if worst is State.UNKNOWN and State.ABSENT in states:
                return State.PARTIAL
            return worst
    if State.ABSENT not in states:
        return State.PRESENT
    return State.PARTIAL if State.PRESENT in states else State.ABSENT


def _bytes(directory: Path, asset: Asset) -> int:
    paths = (place_of(directory, asset, file) for file in asset.files)
    return sum(path.stat().st_size for path in paths if path.is_file())
