"""Bytes of a URL from an offset on: the web by requests, all else by fsspec.

    with opened("https://example.org/model.onnx", 1000, PATIENT) as body:
        for chunk in body.chunks: ...

A source that fails says whether it is worth asking again.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit, urlunsplit

import requests
import urllib3

from registry.documents.findings import RegistryError
from tools.assets.contents import CHUNK
from tools.assets.stores import asking, open_store, parted, scheme_of
from tools.settings.redaction import redacted

__all__ = [
    "PATIENT",
    "Body",
    "Patience",
    "SourceError",
    "below",
    "beside",
    "name_in",
    "opened",
    "read_small",
]

_AGAIN: Final = frozenset((408, 425, 429, 500, 502, 503, 504))
_MISSING: Final = frozenset((403, 404, 410))  # S3 says 403 to whoever may not list
_RANGE: Final = re.compile(r"bytes ([0-9]{1,19})-[0-9]{1,19}/(?:([0-9]{1,19})|\*)")
_WEB: Final = frozenset(("http", "https"))
_REDIRECTS: Final = 5


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a source is waited for.

    Attributes:
        attempts: how often a mirror is asked before the next one is.
        pause: seconds before the second attempt; each further one waits twice as long.
        longest_pause: seconds that are waited at most, also if a server asks for more.
        connect: seconds for a connection.
        read: seconds without a byte.
        sleep: waits.

    """

    attempts: int = 4
    pause: float = 0.5
    longest_pause: float = 30.0
    connect: float = 10.0
    read: float = 30.0
    sleep: Callable[[float], None] = field(default=time.sleep)

    def wait(self, attempt: int, asked: float | None) -> None:
        """Wait after an attempt, counted from 0; `asked` is what the server wants."""
        seconds = self.pause * 2.0**attempt if asked is None else asked
        self.sleep(min(seconds, self.longest_pause))


PATIENT: Final = Patience()
"""How long people's machines wait."""


class SourceError(Exception):
    """A source does not give its bytes.

    Attributes:
        again: whether it may do so if it is asked again.
        missing: whether it says that there is no such thing.
        after: seconds after which it wants to be asked again.
        restart: whether it must be asked from the first byte on.

    """

    def __init__(
        self,
        what: str,
        *,
        again: bool = False,
        missing: bool = False,
        after: float | None = None,
        restart: bool = False,
    ) -> None:
        """Keep what is wrong, and what to make of it."""
        super().__init__(what)
        self.again = again or restart
        self.missing = missing
        self.after = after
        self.restart = restart


@dataclass(frozen=True, slots=True)
class Body:
    """What a source gives.

    Attributes:
        start: the offset of its first byte, which may be 0 although more was asked.
        total: size of the whole, if it says so.
        chunks: the bytes; raises SourceError where they end too early.

    """

    start: int
    total: int | None
    chunks: Iterator[bytes]


@contextmanager
def opened(
    url: str,
    offset: int,
    patience: Patience = PATIENT,
    options: Mapping[str, Any] | None = None,
) -> Iterator[Body]:
    """Open a URL.

    Args:
        url: where the bytes are.
        offset: the first byte that is wanted; a source may begin earlier.
        patience: how long it is waited for.
        options: options of the file system, as fsspec has them.

    Raises:
        SourceError: it does not give them.

    """
    reading = (
        _web(url, offset, patience)
        if scheme_of(url) in _WEB
        else _store(url, offset, options)
    )
    with reading as body:
        yield body


def read_small(
    url: str,
    most: int,
    patience: Patience = PATIENT,
    options: Mapping[str, Any] | None = None,
) -> bytes | None:
    """Read a small file whole, or None if there is none; bytes beyond `most` are cut.

    Raises:
        SourceError: it cannot be read.

    """
    for attempt in range(patience.attempts):
        data = bytearray()
        try:
            with opened(url, 0, patience, options) as body:
                for chunk in body.chunks:
                    data += chunk
                    if len(data) > most:
                        break
            return bytes(data[: most + 1])
        except SourceError as error:
            if error.missing:
                return None
            if not error.again or attempt == patience.attempts - 1:
                raise
            patience.wait(attempt, error.after)
    raise AssertionError  # the last attempt returned or raised


def beside(url: str, suffix: str) -> str:
    """The URL of the file beside one, whose name ends with a suffix more."""
    if scheme_of(url) not in _WEB:
        return url + suffix
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=parts.path + suffix))


def below(url: str, path: str) -> str:
    """The URL of a file in a folder."""
    return beside(url, "/" + (quote(path) if scheme_of(url) in _WEB else path))


def name_in(url: str) -> tuple[str, str]:
    """The names of a file and of its folder, as a URL has them."""
    path = url
    if scheme_of(url) in _WEB:
        try:
            path = unquote(urlsplit(url).path)
        except ValueError:
            return "", ""
    _, _, folder = path.rpartition("/")[0].rpartition("/")
    return path.rpartition("/")[2], folder


@contextmanager
def _web(url: str, offset: int, patience: Patience) -> Iterator[Body]:
    headers = {"Accept-Encoding": "identity", "User-Agent": "powerkit"}
    if offset:
        headers["Range"] = f"bytes={offset}-"
    with requests.Session() as session:
        session.max_redirects = _REDIRECTS
        try:
            response = session.get(
                url,
                headers=headers,
                stream=True,
                timeout=(patience.connect, patience.read),
            )
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            raise _web_error(error) from error
        except (ValueError, OSError) as error:  # a URL that is none; a broken proxy
            raise SourceError(f"it cannot be asked: {type(error).__name__}") from error
        with response:
            yield _body(response, offset)


def _body(response: requests.Response, offset: int) -> Body:
    status = response.status_code
    if status == 206 and offset:
        said = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
        if said is None or int(said[1]) != offset:
            raise SourceError("it gives another part than was asked", restart=True)
        return Body(offset, int(said[2]) if said[2] else None, _chunks(response))
    if status == 200:
        length = response.headers.get("Content-Length", "")
        total = int(length) if re.fullmatch("[0-9]{1,19}", length) else None
        return Body(0, total, _chunks(response))
    what = f"HTTP {status} {response.reason or ''}".strip()
    if status == 416 and offset:
        raise SourceError(what, restart=True)
    after = response.headers.get("Retry-After", "")
    raise SourceError(
        what,
        again=status in _AGAIN,
        missing=status in _MISSING,
        after=float(after) if re.fullmatch("[0-9]{1,9}", after) else None,
    )


def _chunks(response: requests.Response) -> Iterator[bytes]:
    try:
        # As they are stored, also if the server calls them compressed, and as they
        # come, so that nothing is lost of a connection that stalls.
        while chunk := response.raw.read1(CHUNK, decode_content=False):
            yield chunk
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise _web_error(error) from error


def _web_error(error: Exception) -> SourceError:
    forever = (
        requests.exceptions.SSLError,
        requests.exceptions.TooManyRedirects,
        ValueError,  # URLs that are none, of all kinds
    )
    words = {
        requests.exceptions.SSLError: "its certificate cannot be trusted",
        requests.exceptions.TooManyRedirects: f"more than {_REDIRECTS} redirects",
        requests.exceptions.ConnectTimeout: "no connection in time",
        requests.exceptions.ReadTimeout: "no answer in time",
        urllib3.exceptions.ReadTimeoutError: "no further bytes in time",
        urllib3.exceptions.ProtocolError: "the connection broke",
        requests.exceptions.ConnectionError: "no connection",
    }
    what = next((text for kind, text in words.items() if isinstance(error, kind)), None)
    kind = type(error).__name__
    return SourceError(what or kind, again=not isinstance(error, forever))


@contextmanager
def _store(url: str, offset: int, options: Mapping[str, Any] | None) -> Iterator[Body]:
    try:
        folder, name = parted(url)
        store = open_store(folder, options)
        info = store.info(name)
        if info is None or info.get("type") == "directory":
            raise SourceError("there is no such file", missing=True)
        if info.get("type") == "other":  # a pipe would be waited for without end
            raise SourceError("it is neither a file nor a folder")
        with asking(redacted(url)):
            file = store.fs.open(store.path(name), "rb")
    except RegistryError as error:
        raise SourceError(error.findings[0].what) from error
    size = info.get("size")
    with file:
        start = offset if size is None or offset <= size else 0
        yield Body(start, size, _pieces(file, start, redacted(url)))


def _pieces(file: Any, start: int, place: str) -> Iterator[bytes]:
    try:
        with asking(place):
            file.seek(start)
        while True:
            with asking(place):
                chunk: bytes = file.read(CHUNK)
            if not chunk:
                return
            yield chunk
    except RegistryError as error:
        raise SourceError(error.findings[0].what, again=True) from error
