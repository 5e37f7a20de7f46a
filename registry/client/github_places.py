"""The ways to name a release on GitHub, and the addresses of its files.

    github:OWNER/NAME                                        the newest release
    github:OWNER/NAME@r-0123456789abcdef                     this one
    https://github.com/OWNER/NAME/releases/latest/download   the newest
    https://github.com/OWNER/NAME/releases/download/r-…      this one

Whichever is used, one repository has one name, under which a client remembers what it
has seen there. No token is needed.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Final

from registry.documents.findings import RegistryError, Severity, code, finding, shown
from registry.documents.names import GITHUB_NAME, GITHUB_SERVER

__all__ = ["GitHubPlace", "github_place"]

BAD_PLACE = code(
    "R073",
    Severity.ERROR,
    "It is not said clearly which release on GitHub is meant.",
    "Write github:OWNER/NAME, or github:OWNER/NAME@TAG with a tag like "
    "r-0123456789abcdef; `github:` alone needs GITHUB_REPOSITORY.",
)

_PREFIX: Final = "github:"
_TAG: Final = r"r-[0-9a-f]{16}"
_SHORT: Final = re.compile(rf"({GITHUB_NAME})(?:@({_TAG}))?")
_LONG: Final = re.compile(
    rf"/({GITHUB_NAME})"
    rf"(?:/releases(?:/latest(?:/download)?|/(?:download|tag)/({_TAG}))?)?/?"
)


@dataclass(frozen=True, slots=True)
class GitHubPlace:
    """A repository with releases, and perhaps one of them.

    Attributes:
        name: The repository's address in lower case, since GitHub takes any case.
        repository: The repository's address as it was written.
        tag: The release, or None for the newest.
    """

    name: str
    repository: str
    tag: str | None

    @property
    def latest(self) -> str:
        """Where the files of the newest release are."""
        return f"{self.repository}/releases/latest/download"

    def pinned(self, tag: str) -> str:
        """Give the address of one release's files, which no later release changes."""
        return f"{self.repository}/releases/download/{tag}"


def github_place(place: str) -> GitHubPlace | None:
    """Read the name of a place on GitHub.

    Args:
        place: Any place. The server is GITHUB_SERVER_URL, by default GitHub's own.

    Returns:
        None if it is somewhere else.

    Raises:
        RegistryError: R073.

    """
    server = (os.environ.get("GITHUB_SERVER_URL") or GITHUB_SERVER).rstrip("/")
    if not place.startswith(_PREFIX):
        for known in (server, GITHUB_SERVER):
            long = place.lower().startswith(f"{known.lower()}/")
            if long and (found := _LONG.fullmatch(place[len(known) :])):
                return _place(known, found.group(1), found.group(2))
        return None
    named = place.removeprefix(_PREFIX)
    if not named.partition("@")[0]:
        named = os.environ.get("GITHUB_REPOSITORY", "") + named
    short = _SHORT.fullmatch(named)
    if short is None:
        what = "it is no place on GitHub of that form"
        raise RegistryError(finding(BAD_PLACE, shown(place, 200), what))
    return _place(server, short.group(1), short.group(2))


def _place(server: str, name: str, tag: str | None) -> GitHubPlace:
    repository = f"{server}/{name.removesuffix('.git')}"
    return GitHubPlace(repository.lower(), repository, tag)
