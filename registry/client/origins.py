"""Where a release is read from: a folder or a web server, bounded and digest-checked.

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
from typing import IO, TYPE_CHECKING, Any, Final

from registry.documents.findings import RegistryError, Severity, code, finding, shown
from registry.publish.integrity import INDEX, LATEST

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Origin", "open_origin"]

UNREACHABLE = code(
    "R040",
    Severity.ERROR,
    "A release cannot be read from where it is said to be.",
    "Check the address; it names a release folder, or a channel folder with `latest`.",
)
TOO_LARGE = code(
    "R041",
    Severity.ERROR,
    "A file of a release is larger than it may be.",
    "Do not use this address; a release has no file of this size.",
    "P2",
)

_TIMEOUT_SECONDS: Final = 30
_REMOTE: Final = re.compile(r"(?i)[a-z][a-z0-9+.-]*://")
_NOT_FOUND: Final = (403, 404, 410)


@dataclass(frozen=True, slots=True)
class Origin:
    """A place with the files of one release.

    Attributes:
        name: What the user named, in one form; releases seen there are remembered.
        base: The folder or URL of the release itself, without a slash at the end.
        folder: The folder, or None for a web server.
        opener: Opens a URL.
    """

    name: str
    base: str
    folder: Path | None
    opener: Callable[[str], IO[bytes]]

    def read(self, path: str, most: int) -> bytes:
        """Read a file of the release.

        Args:
            path: Its path in the release.
            most: The most bytes that it may have.

        Raises:
            RegistryError: R040 or R041.

        """
        try:
            if self.folder is not None:
                with (self.folder / path).open("rb") as file:
                    data = file.read(most + 1)
            else:
                with self.opener(f"{self.base}/{path}") as file:
                    data = file.read(most + 1)
        except (OSError, ValueError) as error:
            raise RegistryError(_failure(path, error)) from None
        if len(data) > most:
            raise RegistryError(finding(TOO_LARGE, path, f"more than {most} bytes"))
        return data

    def url(self, path: str) -> str | None:
        """Give the address under which Kepler finds a file, or None for a folder."""
        return None if self.folder is not None else f"{self.base}/{path}"


def open_origin(place: str) -> Origin:
    """Find the release at a place: there, or under ``latest``.

    Args:
        place: A folder, or a URL of the kind file, http or https.

    Raises:
        RegistryError: R040.

    """
    if not _REMOTE.match(place):
        return _folder(Path(place))
    parts = urllib.parse.urlsplit(place)
    if parts.scheme.lower() == "file":
        if parts.netloc not in {"", "localhost"}:
            raise RegistryError(finding(UNREACHABLE, "--from", "file:// with a host"))
        return _folder(Path(urllib.request.url2pathname(parts.path)))
    if parts.scheme.lower() not in {"http", "https"} or not parts.hostname:
        what = f"{shown(parts.scheme)}:// is neither http, https nor file"
        raise RegistryError(finding(UNREACHABLE, "--from", what))
    if parts.query or parts.fragment or parts.username or parts.password:
        what = "the address has a query, a fragment or a password"
        raise RegistryError(finding(UNREACHABLE, "--from", what))
    return _remote(place.rstrip("/"))


def _folder(path: Path) -> Origin:
    root = path.resolve()
    for folder in (root, root / LATEST):
        if (folder / INDEX).is_file():
            # A publisher may move ``latest`` while it is read: stay with one release.
            return Origin(str(root), str(folder), folder.resolve(), _open)
    what = f"there is no release in {shown(path, 200)}"
    raise RegistryError(finding(UNREACHABLE, "--from", what))


def _remote(base: str) -> Origin:
    for url in (base, f"{base}/{LATEST}"):
        try:
            _open(f"{url}/{INDEX}").close()
        except urllib.error.HTTPError as error:
            status = error.code
            error.close()
            if status in _NOT_FOUND:
                continue
            what = f"the server answered {status}"
            raise RegistryError(finding(UNREACHABLE, "--from", what)) from None
        except (OSError, ValueError) as error:
            raise RegistryError(_failure(shown(base, 200), error)) from None
        return Origin(base, url, None, _open)
    what = f"there is no {INDEX} at {shown(base, 200)} or in its {LATEST}/"
    raise RegistryError(finding(UNREACHABLE, "--from", what))


class _WebOnly(urllib.request.HTTPRedirectHandler):
    """Follow redirects to web servers only, and never from https back to http."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: Any,
        newurl: str,
    ) -> urllib.request.Request | None:
        scheme = urllib.parse.urlsplit(newurl).scheme.lower()
        if scheme != "https" and not (scheme == "http" and req.type == "http"):
            fp.close()
            raise ValueError(f"it redirects from {req.type} to {scheme or 'nothing'}")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _open(url: str) -> IO[bytes]:
    director = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        _WebOnly(),
    ):
        director.add_handler(handler)
    answer = director.open(url, timeout=_TIMEOUT_SECONDS)
    if answer is None:
        raise ValueError("nothing can open this address")
    opened: IO[bytes] = answer
    return opened


def _failure(path: str, error: Exception) -> Any:
    if isinstance(error, urllib.error.HTTPError):
        status = error.code
        error.close()
        return finding(UNREACHABLE, path, f"the server answered {status}")
    reason = getattr(error, "reason", None) or error
    reason = getattr(reason, "strerror", None) or reason
    return finding(UNREACHABLE, path, f"{reason}")
