"""The releases of a repository on GitHub: which are ours, and which is the newest.

`latest_commit(connection)` is the commit up to which everything was verified and
published; None if there is no release yet.
"""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Final

import github

from registry.documents.findings import RegistryError, Severity, code, finding, shown
from registry.gate.github.connection import asking
from registry.publish.channels.github_assets import listed, read_asset
from registry.publish.index import INDEX_BYTES, Index, read_index
from registry.publish.integrity import INDEX, tag_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from github.GitRelease import GitRelease

    from registry.gate.github.connection import Connection

__all__ = [
    "index_of",
    "latest",
    "latest_commit",
    "latest_index",
    "mark_of",
    "marked",
    "newest",
    "published",
    "releases",
    "serial_of",
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
_MARK: Final = "<!-- power-dataset-registry serial {} -->"
_MARKED: Final = re.compile(r"<!-- power-dataset-registry serial (\d{1,16}) -->\s*\Z")


def marked(text: str, serial: int) -> str:
    """Add a line that nobody sees, by which we know our releases and their order."""
    return f"{text.rstrip()}\n\n{_MARK.format(serial)}\n"


def mark_of(release: GitRelease) -> int | None:
    """Give the serial that our line names, or None if the release is not ours."""
    found = _MARKED.search(release.body or "")
    ours = found is not None and _has_our_tag(release)
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


def latest(connection: Connection) -> GitRelease | None:
    """Find the release that GitHub shows and serves as the latest."""
    with contextlib.suppress(github.UnknownObjectException):
        found = connection.repository.get_latest_release()
        return None if found.draft else found
    return None


def newest(connection: Connection, among: Iterable[GitRelease]) -> GitRelease | None:
    """Find the published release with the highest serial; pre-releases do not count."""
    found = [
        release
        for release in among
        if _has_our_tag(release) and not release.draft and not release.prerelease
    ]
    return max(
        found, key=lambda one: (serial_of(connection, one), one.id), default=None
    )


def serial_of(connection: Connection, release: GitRelease) -> int:
    """Give the serial of a release: as marked, else as its index says, else 0."""
    mark = mark_of(release)
    if mark is not None:
        return mark
    with contextlib.suppress(RegistryError):
        return index_of(connection, release).serial
    return 0


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


def latest_index(connection: Connection) -> Index | None:
    """Read the index of the newest published release, or None if there is none.

    Raises:
        RegistryError: As `index_of`.

    """
    with asking("the latest release"):
        release = latest(connection)
        if release is None or not _has_our_tag(release):
            release = newest(connection, releases(connection))
    return None if release is None else index_of(connection, release)


def latest_commit(connection: Connection) -> str | None:
    """Give the commit of the newest published release, from its checked index.

    Args:
        connection: The repository.

    Returns:
        The full name of the commit; None if there is no release, or one without.

    Raises:
        RegistryError: As `index_of`.

    """
    index = latest_index(connection)
    return None if index is None else index.commit


def tag_commit(connection: Connection, tag: str) -> str | None:
    """Give what a tag names, or None if there is no such tag."""
    with contextlib.suppress(github.UnknownObjectException):
        return connection.repository.get_git_ref(f"tags/{tag}").object.sha
    return None


def _has_our_tag(release: GitRelease) -> bool:
    return _TAG.fullmatch(release.tag_name) is not None
