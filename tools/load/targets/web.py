"""A web service as a target: one request for an item, on connections that stay open."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

import urllib3

from registry.documents.findings import RegistryError, finding, shown
from tools.load.targets.codes import Q011

__all__ = ["ANSWER_BYTES", "WebService"]

ANSWER_BYTES: Final = 64 * 1024 * 1024
"""The longest answer that is read."""
_CHUNK: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class WebService:
    """An address that is asked, once an item, without redirects and repetitions.

    Attributes:
        address: where the service is, with ``{item}`` for the item's name.
        seconds: how long an answer may take as a whole.
        body: what is sent with POST, the item's name for ``{item}`` in it; GET if None.
        kind: the media type of the body.
        pool: the connections.

    """

    address: str
    seconds: float
    body: str | None
    kind: str
    pool: urllib3.PoolManager

    def ask(self, item: str) -> str | None:
        """Ask for an item, and read the whole answer.

        Returns:
            What went wrong, or None.
        """
        end = time.monotonic() + self.seconds
        body = None if self.body is None else self.body.replace("{item}", item)
        try:
            response = self.pool.urlopen(
                "GET" if body is None else "POST",
                self.address.replace("{item}", quote(item, safe="")),
                body=None if body is None else body.encode(),
                headers=None if body is None else {"Content-Type": self.kind},
                timeout=urllib3.Timeout(total=self.seconds),
                retries=False,
                redirect=False,
                preload_content=False,
                decode_content=False,
            )
        except urllib3.exceptions.NewConnectionError:  # which is a TimeoutError
            return "no connection"
        except urllib3.exceptions.TimeoutError:
            return "timeout"
        except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            return f"no answer: {type(error).__name__}"
        try:
            return _read(response, end)
        except urllib3.exceptions.TimeoutError:
            response.close()
            return "timeout"
        except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            response.close()
            return f"half an answer: {type(error).__name__}"

    def close(self) -> None:
        """Close all connections."""
        self.pool.clear()


def web_service(
    address: str, seconds: float, connections: int, body: str | None, kind: str
) -> WebService:
    """Make a target of an address.

    Raises:
        RegistryError: Q011, the address is none.
    """
    try:
        parts = urllib3.util.parse_url(address.replace("{item}", "item"))
        host = parts.host
    except (urllib3.exceptions.LocationParseError, ValueError):
        host = None
    if not host:
        what = f"no address of a web service: {shown(address)}"
        raise RegistryError(finding(Q011, "--sut", what))
    pool = urllib3.PoolManager(num_pools=4, maxsize=connections)
    return WebService(address, seconds, body, kind, pool)


def _read(response: urllib3.BaseHTTPResponse, end: float) -> str | None:
    """Read to the end, so that the connection can be used again."""
    left = ANSWER_BYTES
    while chunk := response.read1(_CHUNK):
        left -= len(chunk)
        if left < 0:
            response.close()
            return f"an answer of more than {ANSWER_BYTES} bytes"
        if time.monotonic() > end:  # every read was in time, and all were not
            response.close()
            return "timeout"
    response.release_conn()
    if response.status >= 300:
        return f"status {response.status}"
    return None
