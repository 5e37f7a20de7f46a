"""Where a release is read from: a folder, a web server or GitHub, within bounds.

origin = open_origin("https://example.org/power-models")
origin.read("index.json", INDEX_BYTES)
"""

from __future__ import annotations

import re
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from registry.client.github_places import GitHubPlace, github_place
from registry.documents.findings import RegistryError, Severity, code, finding, shown
from registry.publish.index import INDEX_BYTES
from registry.publish.integrity import INDEX, LATEST, MISSING, tag_of
from registry.publish.web import TooLarge, copy_file, open_url, read_url, save_url

if TYPE_CHECKING:
    from registry.documents.findings import Finding

__all__ = ["UNREACHABLE", "NoRelease", "Origin", "open_origin"]

UNREACHABLE = code(
    "R040",
    Severity.ERROR,
    "A release cannot be read from where it is said to be.",
    "Check the address; it names a release folder, a channel folder with `latest`, or "
    "github:OWNER/NAME.",
)
TOO_LARGE = code(
    "R041",
    Severity.ERROR,
    "A file of a release is larger than it may be.",
    "Do not use this address; a release has no file of this size.",
    "P2",
)
OTHER_TAG = code(
    "R072",
    Severity.ERROR,
    "A release on GitHub does not lie under the tag that its index gives.",
    "Do not use it; ask the maintainers who published it.",
    "P2",
    "P4",
)

_REMOTE: Final = re.compile(r"(?i)[a-z][a-z0-9+.-]*://")
_NOT_FOUND: Final = (403, 404, 410)


class NoRelease(RegistryError):  # noqa: N818 - often no error at all
    """There is no release at a place; whether there should be one is not known."""


@dataclass(frozen=True, slots=True)
class Origin:
    """A place with the files of one release.

    Attributes:
        name: What the user named, in one form; releases seen there are remembered.
        base: The folder or URL of the release itself, without a slash at the end.
        folder: The folder, or None for a web server.
        tag: The tag under which it lies on GitHub, or None elsewhere.
        latest: The URL of whatever release is the newest, or None if none is known.
        chosen: Whether this very release was asked for, by its tag.
    """

    name: str
    base: str
    folder: Path | None
    tag: str | None = None
    latest: str | None = None
    chosen: bool = False

    def read(self, path: str, most: int) -> bytes:
        """Read a file of the release.

        Args:
            path: Its path in the release.
            most: The most bytes that it may have.

        Raises:
            RegistryError: R040, R041, or R072 if the index is not that of the tag.

        """
        try:
            if self.folder is None:
                data = read_url(f"{self.base}/{path}", most)
            else:
                with (self.folder / path).open("rb") as file:
                    data = file.read(most + 1)
        except TooLarge as error:
            raise RegistryError(finding(TOO_LARGE, path, f"{error}")) from None
        except (OSError, ValueError) as error:
            if path == INDEX and self.tag is not None and _absent(error):
                raise RegistryError(self._no_such_tag(self.tag)) from None
            raise RegistryError(unreadable(path, error)) from None
        if len(data) > most:
            raise RegistryError(finding(TOO_LARGE, path, f"more than {most} bytes"))
        if path == INDEX and self.tag is not None and tag_of(data) != self.tag:
            what = f"the tag is {self.tag}, the index gives {tag_of(data)}"
            raise RegistryError(finding(OTHER_TAG, INDEX, what))
        return data

    def save(self, path: str, most: int, target: Path) -> None:
        """Copy a file of the release, without ever holding it in memory.

        Args:
            path: Its path in the release.
            most: The most bytes that it may have.
            target: The file to write; what is there is lost.

        Raises:
            RegistryError: R012, it is missing; R040 or R041.

        """
        try:
            if self.folder is None:
                save_url(f"{self.base}/{path}", most, target)
            else:
                copy_file(self.folder / path, most, target)
        except TooLarge as error:
            raise RegistryError(finding(TOO_LARGE, path, f"{error}")) from None
        except (OSError, ValueError) as error:
            if isinstance(error, FileNotFoundError) or _absent(error):
                raise RegistryError(finding(MISSING, path, "it is missing")) from None
            raise RegistryError(unreadable(path, error)) from None

    def _no_such_tag(self, tag: str) -> Finding:
        if self.chosen:
            what = f"{self.name} has no published release {tag}"
            return finding(UNREACHABLE, shown(self.name, 200), what)
        what = f"the newest release of {self.name} is not called {tag}"
        return finding(OTHER_TAG, INDEX, what)

    def url(self, path: str) -> str | None:
        """Give the address under which Kepler finds a file, or None for a folder."""
        return None if self.folder is not None else f"{self.base}/{path}"

    def latest_url(self, path: str) -> str | None:
        """Give the address of a file in the newest release, if there is such a one."""
        return None if self.latest is None else f"{self.latest}/{path}"


def open_origin(place: str) -> Origin:
    """Find the release at a place: there, or under ``latest``.

    Args:
        place: A folder, a URL of the kind file, http or https, or
            ``github:OWNER/NAME[@TAG]``; ``github:`` alone is GITHUB_REPOSITORY.

    Raises:
        NoRelease: R040, nothing is there.
        RegistryError: R040, R041, R072 or R073.

    """
    if (at_github := github_place(place)) is not None:
        return _github(at_github)
    if not _REMOTE.match(place):
        return _folder(Path(place))
    parts = urllib.parse.urlsplit(place)
    if parts.scheme.lower() == "file":
        if parts.netloc not in {"", "localhost"}:
            what = "file:// with a host"
            raise RegistryError(finding(UNREACHABLE, shown(place, 200), what))
        return _folder(Path(urllib.request.url2pathname(parts.path)))
    if parts.scheme.lower() not in {"http", "https"} or not parts.hostname:
        what = f"{shown(parts.scheme)}:// is neither http, https nor file"
        raise RegistryError(finding(UNREACHABLE, _bare(parts), what))
    if parts.query or parts.fragment or parts.username or parts.password:
        what = "the address has a query, a fragment or a password"
        raise RegistryError(finding(UNREACHABLE, _bare(parts), what))
    return _remote(place.rstrip("/"))


def _folder(path: Path) -> Origin:
    root = path.resolve()
    for folder in (root, root / LATEST):
        if (folder / INDEX).is_file():
            # A publisher may move ``latest`` while it is read: stay with one release.
            return Origin(str(root), str(folder), folder.resolve())
    what = "there is no release in this folder"
    raise NoRelease(finding(UNREACHABLE, shown(path, 200), what))


def _bare(parts: urllib.parse.SplitResult) -> str:
    """A URL for people, without what may be secret in it."""
    host = parts.netloc.rpartition("@")[2]
    return shown(f"{parts.scheme}://{host}{parts.path}", 200)


def _remote(base: str) -> Origin:
    for url in (base, f"{base}/{LATEST}"):
        try:
            open_url(f"{url}/{INDEX}").close()
        except (OSError, ValueError) as error:
            if _absent(error):
                continue
            raise RegistryError(unreadable(shown(base, 200), error)) from None
        return Origin(base, url, None)
    what = f"there is no {INDEX} here or in its {LATEST}/"
    raise NoRelease(finding(UNREACHABLE, shown(base, 200), what))


def _github(place: GitHubPlace) -> Origin:
    """Find a release on GitHub and stay with its tag, whatever is published next."""
    tag, chosen = place.tag, place.tag is not None
    if tag is None:
        try:
            tag = tag_of(read_url(f"{place.latest}/{INDEX}", INDEX_BYTES))
        except TooLarge as error:
            raise RegistryError(finding(TOO_LARGE, INDEX, f"{error}")) from None
        except (OSError, ValueError) as error:
            if not _absent(error):
                raise RegistryError(unreadable(place.name, error)) from None
            what = f"{place.name} has no published release, or is not public"
            raise NoRelease(finding(UNREACHABLE, place.name, what)) from None
    return Origin(place.name, place.pinned(tag), None, tag, place.latest, chosen)


def unreadable(path: str, error: Exception) -> Finding:
    """Say why a file cannot be read; the answer of a web server is closed."""
    if isinstance(error, urllib.error.HTTPError):
        status = error.code
        error.close()
        return finding(UNREACHABLE, path, f"the server answered {status}")
    reason: Any = getattr(error, "reason", None) or error
    reason = getattr(reason, "strerror", None) or reason
    return finding(UNREACHABLE, path, f"{reason}")


def _absent(error: Exception) -> bool:
    """Tell whether a web server says that there is no such file."""
    if isinstance(error, urllib.error.HTTPError) and error.code in _NOT_FOUND:
        error.close()
        return True
    return False
