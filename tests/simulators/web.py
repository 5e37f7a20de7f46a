"""A web server on this machine, with the habits of real ones."""

from __future__ import annotations

import contextlib
import http.server
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

__all__ = ["Answer", "served", "serving"]

Answer = tuple[int, "Mapping[str, str]", bytes]
"""Status, headers and body."""


@contextlib.contextmanager
def serving(answer: Callable[[str], Answer]) -> Iterator[str]:
    """Run a server that answers GET by a function of the path; gives its URL."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, body = answer(self.path)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if "Content-Length" not in headers:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with contextlib.suppress(OSError):  # a client may have seen enough
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder."""

    def answer(path: str) -> Answer:
        file = folder / path.lstrip("/")
        if not file.is_file():
            return 404, {}, b'{"message": "Not Found"}'
        return 200, {}, file.read_bytes()

    with serving(answer) as url:
        yield url
