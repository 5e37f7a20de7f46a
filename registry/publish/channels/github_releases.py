"""The releases of a repository on GitHub: which are ours, and what is in them."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Final

import github

from registry.documents.findings import RegistryError, Severity, code, finding, shown
from registry.gate.github.connection import LIMITED, UNREACHABLE, asking
from registry.publish.channels.github_assets import listed, read_asset
from registry.publish.index import INDEX_BYTES, Index, read_index
from registry.publish.integrity import INDEX, tag_of

if TYPE_CHECKING:
    from github.GitRelease import GitRelease

    from registry.gate.github.connection import Connection

__all__ = [
    "has_our_tag",
    "index_of",
    "mark_of",
    "marked",
    "published",
    "readable_index",
    "releases",
    "tag_commit",
]

MISLABELLED = code(
    "R077",
    Severity.ERROR,
    "A release on GitHub has a tag that its index does not give.",
    "Find out who published it, delete it, and publish again.",
    "P2",
    "P4",
)

_TAG: Final = re.compile(r"r-[0-9a-f]{16}")
_PASSING: Final = frozenset({UNREACHABLE.id, LIMITED.id})
_MARK: Final = "<!-- power-dataset-registry serial {} -->"
_MARKED: Final = re.compile(r"<!-- power-dataset-registry serial (\d{1,16}) -->\s*\Z")


def marked(text: str, serial: int) -> str:
    """Add a line that nobody sees, by which we know our releases and their order."""
    return f"{text.rstrip()}\n\n{_MARK.format(serial)}\n"


def mark_of(release: GitRelease) -> int | None:
    """Give the serial that our line names, or None if the release is not ours."""
    found = _MARKED.search(release.body or "")
    ours = found is not None and has_our_tag(release)
    return int(found.group(1)) if ours and found is not None else None


def releases(connection: Connection) -> list[GitRelease]:
    """List all releases, and drafts if the token may see them."""
    return list(connection.repository.get_releases())


def published(connection: Connection, tag: str) -> GitRelease | None:
    """Find the published release of a tag."""
    with contextlib.suppress(github.UnknownObjectException):
        found = connection.repository.get_release(tag)
        return None if found.draft else found
    return None


def index_of(connection: Connection, release: GitRelease) -> Index:
    """Read the index of a release, which must give the release's tag.

    Raises:
        RegistryError: R077, R010 or a J code; N001 to N005, R076.

    """
    tag = release.tag_name
    with asking(f"the assets of {shown(tag, 40)}"):
        asset = next((one for one in listed(release) if one.name == INDEX), None)
    if asset is None:
        raise RegistryError(finding(MISLABELLED, shown(tag, 40), f"it has no {INDEX}"))
    data = read_asset(connection, asset, INDEX_BYTES)
    if tag_of(data) != tag:
        what = f"its {INDEX} gives {tag_of(data)}"
        raise RegistryError(finding(MISLABELLED, shown(tag, 40), what))
    return read_index(data, INDEX)


def readable_index(connection: Connection, release: GitRelease) -> Index | None:
    """Read the index of a release; None if it is damaged or is not ours at all.

    Raises:
        RegistryError: N001 or N003, nobody can tell just now.

    """
    try:
        return index_of(connection, release)
    except RegistryError as error:
        if any(found.code in _PASSING for found in error.findings):
            raise
        return None


def tag_commit(connection: Connection, tag: str) -> str | None:
    """Give what a tag names, or None if there is no such tag."""
    with contextlib.suppress(github.UnknownObjectException):
        return connection.repository.get_git_ref(f"tags/{tag}").object.sha
    return None


def has_our_tag(release: GitRelease) -> bool:
    """Tell whether a release has a tag as this program gives."""
    return _TAG.fullmatch(release.tag_name) is not None
