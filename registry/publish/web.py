"""Read a web address: bounded, only from web servers, and never twice as much as asked.

data = read_url("https://example.org/power-models/index.json", 4096)
"""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import IO, TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

__all__ = [
    "PAUSES",
    "TooLarge",
    "chunks",
    "copy_file",
    "open_url",
    "read_url",
    "save_url",
]

PAUSES: tuple[float, ...] = (0.5, 2.0)
"""Seconds before a read that failed is tried again, once for each of them."""

_TIMEOUT_SECONDS: Final = 30
_CHUNK: Final = 1 << 20
_Read = TypeVar("_Read")
_BUSY: Final = frozenset({429, 500, 502, 503, 504})


class TooLarge(Exception):  # noqa: N818 - it says what is wrong with the answer
    """A file is larger than it may be."""


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


def open_url(url: str, secrets: Mapping[str, str] | None = None) -> IO[bytes]:
    """Open an address of a web server.

    Args:
        url: http or https.
        secrets: Headers for this very address; a redirect does not take them along,
            since the server that it names need not know them.

    Raises:
        OSError: It cannot be opened; `urllib.error.HTTPError` if the server says so.
        ValueError: It is redirected to where no release may lie.

    """
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
    request = urllib.request.Request(url)  # noqa: S310 - only web handlers are there
    for name, value in (secrets or {}).items():
        request.add_unredirected_header(name, value)
    try:
        answer = director.open(request, timeout=_TIMEOUT_SECONDS)
    except http.client.HTTPException as error:
        raise OSError(f"the answer is no HTTP: {type(error).__name__}") from None
    if answer is None:
        raise ValueError("nothing can open this address")
    opened: IO[bytes] = answer
    return opened


def chunks(
    url: str, most: int, secrets: Mapping[str, str] | None = None
) -> Iterator[bytes]:
    """Read an address piece by piece, once.

    Args:
        url: http or https.
        most: The most bytes that it may have.
        secrets: As in `open_url`.

    Raises:
        TooLarge: It has more.
        OSError: As `open_url`, or it broke off.
        ValueError: As `open_url`.

    """
    with open_url(url, secrets) as answer:
        announced = getattr(answer, "length", None)
        if announced is not None and announced > most:
            raise TooLarge(f"{announced} bytes, more than {most}")
        got = 0
        while piece := _piece(answer, min(_CHUNK, most + 1 - got)):
            got += len(piece)
            if got > most:
                raise TooLarge(f"more than {most} bytes")
            yield piece
        if announced is not None and got != announced:
            raise ConnectionError(f"it broke off after {got} of {announced} bytes")


def read_url(url: str, most: int, secrets: Mapping[str, str] | None = None) -> bytes:
    """Read an address whole, again if the server is busy or the connection broke.

    Raises:
        TooLarge: It has more than `most` bytes.
        OSError: It cannot be read.
        ValueError: As `open_url`.

    """
    return _patiently(lambda: b"".join(chunks(url, most, secrets)))


def save_url(url: str, most: int, target: Path) -> None:
    """Write what is at an address into a file, piece by piece; otherwise `read_url`."""

    def save() -> None:
        with target.open("wb") as file:
            file.writelines(chunks(url, most))

    _patiently(save)


def copy_file(source: Path, most: int, target: Path) -> None:
    """Do the same as `save_url` with a file.

    Raises:
        TooLarge: It has more than `most` bytes.
        OSError: It cannot be read or written.

    """
    with source.open("rb") as old, target.open("wb") as new:
        left = most + 1
        while left and (piece := old.read(min(_CHUNK, left))):
            new.write(piece)
            left -= len(piece)
    if not left:
        raise TooLarge(f"more than {most} bytes")


def _patiently(read: Callable[[], _Read]) -> _Read:
    for pause in PAUSES:
        try:
            return read()
        except OSError as error:
            if not _repeatable(error):
                raise
            if isinstance(error, urllib.error.HTTPError):
                error.close()
        time.sleep(pause)
    return read()


def _repeatable(error: OSError) -> bool:
    """Tell whether it may work the next time."""
    if isinstance(error, urllib.error.HTTPError):
        return error.code in _BUSY
    reason = getattr(error, "reason", None) or error
    if isinstance(reason, ConnectionRefusedError):  # nobody is there
        return False
    return isinstance(reason, (ConnectionError, TimeoutError))


def _piece(answer: IO[bytes], size: int) -> bytes:
    try:
        return answer.read(size)
    except http.client.HTTPException as error:
        raise ConnectionError(f"it broke off: {type(error).__name__}") from None
