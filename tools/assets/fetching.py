"""Copy something published to this machine, whole and with the right digest or not.

    fetch("s3://results/traces/0ab…/trace.json.gz", Path("here"))

Its digest is in its URL, in the description beside it, or given; all that are known
must be the same.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
    shown,
)
from tools.assets.contents import content_of, name_problem
from tools.assets.crews import each
from tools.assets.downloading import A014, Outcome, Wanted, download
from tools.assets.published import (
    SIDECAR_BYTES,
    SUFFIX,
    Listed,
    Sidecar,
    folder_digest,
    listed,
    read_sidecar,
)
from tools.assets.sources import (
    PATIENT,
    Patience,
    SourceError,
    below,
    beside,
    name_in,
    read_small,
)
from tools.settings.redaction import redacted

__all__ = ["FetchedThing", "fetch"]

A016 = code(
    "A016",
    Severity.ERROR,
    "Nobody says what digest something to be fetched has.",
    "Give --sha256 of a source that you trust; without one, any bytes would do.",
)
A017 = code(
    "A017",
    Severity.ERROR,
    "What is said of something to be fetched does not agree.",
    "Do not use it: ask whoever published it for the URL and the digest.",
)
A018 = code(
    "A018",
    Severity.ERROR,
    "The description of something published cannot be fetched.",
    "Check the URL and the network, or give --sha256 for a single file.",
)

_DIGEST: Final = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class FetchedThing:
    """A file or folder that is here.

    Attributes:
        path: where it is.
        outcome: whether it was fetched now.
        bytes: size of all files together.
        sha256: its digest.
        files: how many files it has.
        sidecar: what is said of it where it came from, or None if nothing is.

    """

    path: Path
    outcome: Outcome
    bytes: int
    sha256: str
    files: int
    sidecar: Sidecar | None


@dataclass(frozen=True, slots=True)
class _Order:
    """What `fetch` was told."""

    url: str
    out: Path
    jobs: int
    patience: Patience
    options: Mapping[str, Any] | None
    progress: Callable[[str], None] | None


def fetch(
    url: str,
    out: Path,
    *,
    sha256: str | None = None,
    jobs: int = 4,
    patience: Patience = PATIENT,
    options: Mapping[str, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> FetchedThing:
    """Fetch something published, or a file of the web whose digest is known.

    Args:
        url: what `publish` named, or its description; any URL or path of a file.
        out: the folder that it is put into.
        sha256: its digest, if somebody trustworthy said it.
        jobs: how many files of a folder are fetched at once.
        patience: how long sources are waited for.
        options: options of the file system, as fsspec has them.
        progress: is told in a line what is done.

    Raises:
        RegistryError: A007 to A010 and A012 to A018; what is here is right or absent.

    """
    url = url.removesuffix(SUFFIX).rstrip("/")
    order = _Order(url, out, jobs, patience, options, progress)
    sidecar = _sidecar(order, needed=sha256 is None)
    name, folder = name_in(url)
    claims = {
        "--sha256": sha256,
        "the URL": folder if _DIGEST.fullmatch(folder) else None,
        "the description": None if sidecar is None else sidecar.sha256,
    }
    digest = _agreed(redacted(url), claims, name, sidecar)
    if sidecar is not None and sidecar.files is not None:
        return _folder(order, sidecar, sidecar.files)
    size = None if sidecar is None else sidecar.bytes
    got = download(
        Wanted((url,), digest, size),
        out / name,
        patience=patience,
        options=options,
        progress=progress,
    )
    return FetchedThing(got.path, got.outcome, got.bytes, got.sha256, 1, sidecar)


def _sidecar(order: _Order, *, needed: bool) -> Sidecar | None:
    """Read the description, if there is one.

    Raises:
        RegistryError: A018, it is needed, and nobody can say whether there is one.
    """
    place = redacted(beside(order.url, SUFFIX)) if order.url else "URL"
    try:
        data = read_small(
            beside(order.url, SUFFIX), SIDECAR_BYTES, order.patience, order.options
        )
    except SourceError as error:
        if not needed:
            return None
        raise RegistryError(finding(A018, place, str(error))) from None
    except ValueError:  # a URL that is none
        raise RegistryError(finding(A018, place, "it is no URL")) from None
    return None if data is None else read_sidecar(data, place)


def _agreed(
    place: str, claims: Mapping[str, str | None], name: str, sidecar: Sidecar | None
) -> str:
    """Give the digest that all who name one agree on.

    Raises:
        RegistryError: A016, A017, all that is wrong.
    """
    problems: list[Finding] = []
    said = {who: digest for who, digest in claims.items() if digest is not None}
    if (what := name_problem(name)) is not None:
        problems.append(finding(A017, place, f"{shown(name)}: {what}"))
    elif sidecar is not None and sidecar.name != name:
        what = f'its description is of "{shown(sidecar.name)}"'
        problems.append(finding(A017, place, what))
    problems.extend(
        finding(A017, who, f"{shown(digest)} is no SHA-256 in small letters")
        for who, digest in said.items()
        if _DIGEST.fullmatch(digest) is None
    )
    if not said:
        what = "there is no description beside it, and no digest in its URL"
        problems.append(finding(A016, place, what))
    elif len(set(said.values())) > 1:
        words = ", ".join(f"{who} says {digest[:12]}…" for who, digest in said.items())
        problems.append(finding(A017, place, words))
    if problems:
        raise RegistryError(problems)
    return next(iter(said.values()))


def _folder(order: _Order, sidecar: Sidecar, files: tuple[Listed, ...]) -> FetchedThing:
    """Fetch the files into a hidden folder, which gets its name when all are there."""
    target = order.out / sidecar.name
    size, digest = sidecar.bytes, sidecar.sha256
    if target.exists() or target.is_symlink():
        _compare(target, digest)
        return FetchedThing(target, Outcome.PRESENT, size, digest, len(files), sidecar)
    part = order.out / f".{sidecar.name}.{digest[:12]}.part"
    problems: list[Finding] = []

    def one(file: Listed) -> None:
        try:
            download(
                Wanted((below(order.url, file.path),), file.sha256, file.bytes),
                part / file.path,
                patience=order.patience,
                options=order.options,
                progress=order.progress,
            )
        except RegistryError as error:
            problems.extend(error.findings)

    each(one, files, order.jobs)
    if problems:
        raise RegistryError(sorted(problems))
    _compare(part, digest)
    part.rename(target)
    return FetchedThing(target, Outcome.FETCHED, size, digest, len(files), sidecar)


def _compare(folder: Path, digest: str) -> None:
    """See that a folder has the files that it is to have, and no others.

    Raises:
        RegistryError: A014.
    """
    try:
        content = content_of(folder, "folder")
    except RegistryError as error:
        what = error.findings[0].what
    else:
        if content.folder and folder_digest(listed(content.files)) == digest:
            return
        what = "it holds other files"
    if folder.name.startswith("."):
        shutil.rmtree(folder, ignore_errors=True)
        what = f"{what}; it was removed, so repeat"
    raise RegistryError(finding(A014, str(folder), what))
