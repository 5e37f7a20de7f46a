"""A web server of files that breaks off, stalls, redirects, refuses or knows no ranges.

with FileServer({"/m.onnx": data}) as web:
    web.cut["/m.onnx"] = [1000]          # the first answer ends after 1000 bytes
    fetch(web.url("/m.onnx"))
    assert web.ranges("/m.onnx") == [None, "bytes=1000-"]
"""

from __future__ import annotations

import contextlib
import http.server
import threading
from collections import defaultdict
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FileServer"]


class FileServer:
    """Files by path, and what goes wrong with each of the next answers.

    Attributes:
        files: the bytes of each path.
        has_ranges: whether it gives parts.
        cut: for each path, after how many bytes the next answers break off.
        stall: the same, but the connection stays open and nothing more comes.
        status: for each path, the status of the next answers, in place of the file.
        chunked: paths whose size is not told beforehand.
        shifted: paths whose parts begin a byte later than was asked.
        moved: redirects, from path to URL.
        headers: further headers of the answers to a path.
        requests: path, Range and Authorization of every request.
        encodings: what every request accepts besides plain bytes.

    """

    def __init__(
        self, files: Mapping[str, bytes] | None = None, *, has_ranges: bool = True
    ) -> None:
        """Serve some files."""
        self.files = dict(files or {})
        self.has_ranges = has_ranges
        self.cut: defaultdict[str, list[int]] = defaultdict(list)
        self.stall: defaultdict[str, list[int]] = defaultdict(list)
        self.status: defaultdict[str, list[int]] = defaultdict(list)
        self.chunked: set[str] = set()
        self.shifted: set[str] = set()
        self.moved: dict[str, str] = {}
        self.headers: defaultdict[str, dict[str, str]] = defaultdict(dict)
        self.requests: list[tuple[str, str | None, str | None]] = []
        self.encodings: list[str | None] = []
        self._over = threading.Event()
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    def __enter__(self) -> Self:
        """Start."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop, and let go of connections that stall."""
        self._over.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        """The URL of a path."""
        return f"http://{host}:{self._server.server_port}{path}"

    def ranges(self, path: str) -> list[str | None]:
        """The Range of every request for a path."""
        return [asked for at, asked, _ in self.requests if at == path]

    def answer(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        """Answer one GET."""
        path, asked = handler.path, handler.headers.get("Range")
        self.requests.append((path, asked, handler.headers.get("Authorization")))
        self.encodings.append(handler.headers.get("Accept-Encoding"))
        if path in self.moved:
            self._plain(handler, 302, {"Location": self.moved[path]})
        elif self.status[path]:
            self._plain(handler, self.status[path].pop(0), self.headers[path])
        elif path not in self.files:
            self._plain(handler, 404, {})
        else:
            self._file(handler, path, asked if self.has_ranges else None)

    def _plain(
        self,
        handler: http.server.BaseHTTPRequestHandler,
        status: int,
        headers: Mapping[str, str],
    ) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    def _file(
        self,
        handler: http.server.BaseHTTPRequestHandler,
        path: str,
        asked: str | None,
    ) -> None:
        data = self.files[path]
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
        start += bool(asked) and path in self.shifted
        if asked and start >= len(data):
            self._plain(handler, 416, {})
            return
        handler.send_response(206 if asked else 200)
        for name, value in self.headers[path].items():
            handler.send_header(name, value)
        if asked:
            said = f"bytes {start}-{len(data) - 1}/{len(data)}"
            handler.send_header("Content-Range", said)
        body = data[start:]
        if path in self.chunked:
            handler.send_header("Transfer-Encoding", "chunked")
            body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
        else:
            handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        if self.cut[path]:
            body = body[: self.cut[path].pop(0)]
        waits = bool(self.stall[path])
        if waits:
            body = body[: self.stall[path].pop(0)]
        with contextlib.suppress(OSError):  # a client may have seen enough
            handler.wfile.write(body)
            handler.wfile.flush()
        if waits:
            self._over.wait(5)
        handler.close_connection = True


def _handler(server: FileServer) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.answer(self)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    return Handler
