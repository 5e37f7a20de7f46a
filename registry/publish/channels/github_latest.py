"""Which release of a repository on GitHub is the newest, and that GitHub says so too.

`latest_commit(connection)` is the commit up to which everything was verified and
published; None if there is no release yet.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import github

from registry.gate.github.connection import asking
from registry.gate.github.writing import settle
from registry.publish.channels.github_releases import (
    has_our_tag,
    index_of,
    mark_of,
    readable_index,
    releases,
)

if TYPE_CHECKING:
    from github.GitRelease import GitRelease

    from registry.gate.github.connection import Connection
    from registry.publish.index import Index

__all__ = ["by_serial", "latest_commit", "latest_index", "settle_latest"]


def by_serial(connection: Connection) -> list[tuple[int, GitRelease]]:
    """List our published releases with their serials, the newest first.

    A pre-release does not count, so a maintainer can take a release out of the order.
    """
    found = [
        (_serial(connection, release), release)
        for release in releases(connection)
        if has_our_tag(release) and not release.draft and not release.prerelease
    ]
    return sorted(found, key=lambda one: (one[0], one[1].id), reverse=True)


def latest_index(connection: Connection) -> Index | None:
    """Read the index of the newest published release, or None if there is none.

    Raises:
        RegistryError: R077, R010 or a J code, it is not what its tag says; N001 to
            N005, R076.

    """
    with asking("the latest release"):
        release = _latest(connection)
        if release is None or not has_our_tag(release):
            release = next((one for _, one in by_serial(connection)), None)
    return None if release is None else index_of(connection, release)


def latest_commit(connection: Connection) -> str | None:
    """Give the commit of the newest published release, from its checked index.

    Args:
        connection: The repository.

    Returns:
        The full name of the commit; None if there is no release, or one without.

    Raises:
        RegistryError: As `latest_index`.

    """
    index = latest_index(connection)
    return None if index is None else index.commit


def settle_latest(connection: Connection) -> str | None:
    """Let GitHub's ``latest`` be the release with the highest serial.

    Two publishers may each have seen the other's release too late, and one that was
    killed may not have come to it.

    Returns:
        The tag of that release, or None if none counts.

    Raises:
        RegistryError: N001 to N005.

    """
    first: list[GitRelease] = []

    def look() -> tuple[str | None] | None:
        first[:] = [one for _, one in by_serial(connection)][:1]
        if not first:
            return (None,)
        now = _latest(connection)
        there = now is not None and now.id == first[0].id
        return (first[0].tag_name,) if there else None

    def write() -> None:
        (release,) = first
        title, body = release.name or release.tag_name, release.body or ""
        release.update_release(title, body, draft=False, make_latest="true")

    what = "marking the newest release as the latest"
    return settle(look, write, what=what, patience=connection.patience)[0]


def _latest(connection: Connection) -> GitRelease | None:
    """Find the release that GitHub shows and serves as the latest."""
    with contextlib.suppress(github.UnknownObjectException):
        return connection.repository.get_latest_release()
    return None


def _serial(connection: Connection, release: GitRelease) -> int:
    """Give the serial of a release: as marked, else as its index says, else 0."""
    mark = mark_of(release)
    if mark is not None:
        return mark
    index = readable_index(connection, release)
    return 0 if index is None else index.serial
