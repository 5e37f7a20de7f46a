"""HTTP on loopback: one server each for the API, the web pages, and stored files."""

from __future__ import annotations

import base64
import contextlib
import http.server
import json
import socket
import sys
import threading
import time
import traceback
from typing import TYPE_CHECKING, Any, ClassVar

from tests.simulators.github.faults import Fault, spoken
from tests.simulators.github.routing import Refused, Reply
from tests.simulators.github.state import Request

if TYPE_CHECKING:
    from tests.simulators.github.hub import FakeGitHub
    from tests.simulators.github.state import Account, Token

__all__ = ["Handler", "Server"]


class Server(http.server.ThreadingHTTPServer):
    """A server that ends all its connections when it is closed."""

    daemon_threads = False
    block_on_close = True
    request_queue_size = 128

    def __init__(self, hub: FakeGitHub, handler: type[Handler]) -> None:
        """Listen on a free port of loopback."""
        self.hub = hub
        self._open: set[socket.socket] = set()
        self._guard = threading.Lock()
        super().__init__(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self.serve_forever, args=(0.02,))
        self._thread.start()

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        with self._guard:
            self._open.add(request)
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._guard:
                self._open.discard(request)

    def close(self) -> None:
        """Stop, and wait for all threads."""
        self.shutdown()
        self._thread.join()
        with self._guard:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        """A client that leaves is no fault; anything else a test must see."""
        error = sys.exc_info()[1]
        if not isinstance(error, (ConnectionError, TimeoutError)):
            self.hub.crashes.append(traceback.format_exc())


class Handler(http.server.BaseHTTPRequestHandler):
    """What the three servers have in common."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    kind: ClassVar[str]
    random_faults: ClassVar[bool] = True
    server: Server
    account: Account | None
    token: Token | None
    known: bool

    @property
    def hub(self) -> FakeGitHub:
        return self.server.hub

    def answer(self, body: bytes) -> Reply:
        """The answer to a request.

        Raises:
            Refused: an error status.
        """
        raise NotImplementedError

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""

    def go(self) -> None:
        """Answer, or let go wrong what shall go wrong."""
        body = self._body()
        self._identify()
        path = self.path.split("?")[0]
        with self.hub.lock:
            fault = self.hub.faults.draw(
                self.command, path, random_too=self._may_fail(path)
            )
        if fault is not None and not fault.after:
            self.hub.before(self, fault, body)
            if fault.kind not in {"slow", "short"}:
                self._fail(fault)
                return
        reply = self._answered(body)
        if fault is not None and fault.kind not in {"slow", "short"}:
            self._fail(fault)
            return
        self._note(reply.status)
        self._send(reply, fault)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = go  # noqa: N815

    def _answered(self, body: bytes) -> Reply:
        if not self.known:
            return Reply(401, Refused(401, "Bad credentials").body)
        try:
            return self.answer(body)
        except Refused as refused:
            return Reply(refused.status, refused.body, refused.headers)

    def _may_fail(self, path: str) -> bool:
        return ".git/" not in path

    def _fail(self, fault: Fault) -> None:
        if fault.kind == "cut":
            self._note(0)
            self.close_connection = True
            with contextlib.suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)
            return
        user = self.account.id if self.account else 0
        status, headers, body = spoken(fault, user)
        self._note(status)
        self._send(Reply(status, body, headers), None)

    def _note(self, status: int) -> None:
        login = self.account.login if self.account else None
        request = Request(self.command, self.path, login, status, self.kind)
        with self.hub.lock:
            self.hub.requests.append(request)

    def _send(self, reply: Reply, fault: Fault | None) -> None:
        data = reply.raw
        kind = "application/json; charset=utf-8"
        if data is None:
            data = b"" if reply.body is None else json.dumps(reply.body).encode()
        else:
            kind = "application/octet-stream"
        self.send_response(reply.status)
        if reply.status != 204:
            headers = {"Content-Type": kind, "Content-Length": str(len(data))}
        else:
            headers, data = {}, b""
        for name, value in {**headers, **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            data = b""
        with contextlib.suppress(ConnectionError):
            if fault is None:
                self.wfile.write(data)
                return
            self.wfile.write(data[: len(data) // 2])
            self.wfile.flush()
            if fault.kind == "short":
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            time.sleep(fault.seconds)
            self.wfile.write(data[len(data) // 2 :])

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            parts = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _identify(self) -> None:
        """Find out whose token came along; ``known`` is False for an unknown one."""
        given = self.headers.get("Authorization", "")
        scheme, _, value = given.partition(" ")
        if scheme.lower() == "basic":
            with contextlib.suppress(ValueError):
                value = base64.b64decode(value).decode().partition(":")[2]
        with self.hub.lock:
            self.token = self.hub.tokens.get(value.strip())
            self.known = self.token is not None or not given
            self.account = self.token and self.hub.accounts[self.token.account]
