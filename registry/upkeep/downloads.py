"""Download the newest release as Kepler does: plain requests, no token, redirects."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from registry.client.downloading import collect
from registry.client.github_places import github_place
from registry.client.origins import Origin, open_origin
from registry.documents.findings import Severity, code, finding
from registry.publish.index import INDEX_BYTES, read_index
from registry.publish.integrity import INDEX, SUMS, check_sums, tag_of
from registry.upkeep.situation import Skip

if TYPE_CHECKING:
    from registry.documents.findings import Finding
    from registry.publish.index import Index
    from registry.upkeep.situation import Situation

__all__ = ["check_download", "check_pages"]

OTHER_SITE = code(
    "R095",
    Severity.ERROR,
    "The site serves another release than the newest.",
    "Run the publish workflow again; its last job sends the release to the site.",
    "P2",
)

_TREE = "models/"
_TRIES = 2
"""A release that appears during a download is downloaded anew, once."""


def check_download(situation: Situation) -> tuple[str, list[Finding]]:
    """Download every file at the address of the newest release and compare digests.

    Raises:
        NoRelease: Nothing is there.
        RegistryError: The index cannot be read.
        Skip: The place is a folder.
    """
    for _ in range(_TRIES):
        origin, index, data = _newest(situation)
        if origin.folder is not None:
            raise Skip("the release is in a folder")
        with tempfile.TemporaryDirectory(prefix="watch-") as folder:
            findings = collect(origin, index, Path(folder))
        most = 300 * (len(index.assets) + 1)
        findings += check_sums(origin.read(SUMS, most), index, data)
        if not findings or _newest(situation)[2] == data:
            break
    return f"{len(index.assets)} files of {tag_of(data)}", findings


def check_pages(situation: Situation) -> tuple[str, list[Finding]]:
    """Compare the tree that MODEL_TOPURL names, on the site, with the newest release.

    Raises:
        NoRelease: Nothing is published.
        RegistryError: An index cannot be read.
        Skip: No site is named.
    """
    if situation.pages is None:
        raise Skip("no site is named")
    _, index, data = _newest(situation)
    site = situation.pages.rstrip("/")
    origin = Origin(site, site, None)
    there = origin.read(INDEX, INDEX_BYTES)
    if there != data:
        what = f"it serves {tag_of(there)}, the newest release is {tag_of(data)}"
        return "", [finding(OTHER_SITE, INDEX, what)]
    tree = tuple(one for one in index.assets if one.path.startswith(_TREE))
    with tempfile.TemporaryDirectory(prefix="watch-") as folder:
        findings = collect(
            origin, index.model_copy(update={"assets": tree}), Path(folder)
        )
    return f"{len(tree)} files below {site}/{_TREE}", findings


def _newest(situation: Situation) -> tuple[Origin, Index, bytes]:
    """The release at the address that always leads to the newest."""
    origin = open_origin(situation.place)
    at_github = github_place(situation.place)
    if at_github is None or origin.chosen:
        data = origin.read(INDEX, INDEX_BYTES)
        return origin, read_index(data, INDEX), data
    # Kepler's settings name the moving address, so that is what is tried.
    latest = Origin(origin.name, at_github.latest, None)
    data = latest.read(INDEX, INDEX_BYTES)
    tagged = replace(latest, tag=tag_of(data))  # so that folder.zip is read as well
    return tagged, read_index(data, INDEX), data
