"""Systems under test: programs, web services and functions, all of them imperfect."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from registry.documents.findings import RegistryError
from tools.load.targets import programs, web
from tools.load.targets.answers import Answer, Target, told
from tools.load.targets.opening import open_target
from tools.load.targets.workers import Workers
from tools.processes.child import Child


def asked(target: Target, *items: str) -> list[Answer]:
    """Ask for items at once, and close the target."""

    async def ask() -> list[Answer]:
        return list(await asyncio.gather(*(target.answer(item) for item in items)))

    try:
        return asyncio.run(ask())
    finally:
        target.close()


def error(text: str, item: str = "a", **options: Any) -> str | None:
    (answer,) = asked(open_target(text, most=1, **options), item)
    assert answer.ended_ns is not None
    assert answer.started_ns is not None
    assert answer.ended_ns >= answer.started_ns
    return answer.error


def python(program: str) -> str:
    return f"cmd:{sys.executable} -c '{program}' {{item}}"


def test_a_program_gets_the_item_as_one_argument(tmp_path: Path) -> None:
    note = tmp_path / "note"
    program = f'import sys, pathlib; pathlib.Path("{note}").write_text(sys.argv[1])'
    item = "a; touch b 'c' $(d)"
    assert error(python(program), item) is None
    assert note.read_text() == item


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("cmd:false", "exit code 1"),
        ("cmd:/no/such/program {item}", "/no/such/program: No such file or directory"),
        ("cmd:sh -c 'kill -9 $$'", "ended by signal 9"),
    ],
)
def test_how_programs_fail(text: str, what: str) -> None:
    assert error(text) == what


def test_a_program_that_hangs_is_ended() -> None:
    begun = time.monotonic()
    assert error("cmd:sleep 60", seconds=0.1) == "timeout"
    assert time.monotonic() - begun < 30


def test_closing_kills_what_still_runs(tmp_path: Path) -> None:
    target = open_target("cmd:sleep 60", most=2)

    async def ask() -> None:
        waiting = asyncio.create_task(target.answer("a"))
        await asyncio.sleep(0.1)
        target.close()
        assert (await waiting).error == "ended by signal 9"
        waiting = asyncio.create_task(target.answer("a"))

    asyncio.run(ask())


class Handler(BaseHTTPRequestHandler):
    """Answers by the last part of the path, and keeps connections open."""

    protocol_version = "HTTP/1.1"
    seen: list[tuple[str, str, bytes, str | None]]
    connections: set[tuple[str, int]]

    def do_GET(self) -> None:
        self.connections.add(self.client_address)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        kind = self.headers.get("Content-Type")
        self.seen.append((self.command, self.path, body, kind))
        what = self.path.rpartition("/")[2]
        if what == "slow":
            time.sleep(0.5)
        if what == "close":
            self.close_connection = True
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
            return
        if what == "junk":
            self.close_connection = True
            self.wfile.write(b"junk\r\n\r\n")
            return
        self.send_response(503 if what == "busy" else 302 if what == "moved" else 200)
        if what == "moved":
            self.send_header("Location", "/elsewhere")
        if what == "drip":
            self.send_header("Content-Length", "100")
            self.end_headers()
            for _ in range(8):
                self.wfile.write(b"x")
                time.sleep(0.05)
            self.close_connection = True
            return
        data = b"x" * (10_000 if what == "large" else 5)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Quiet(ThreadingHTTPServer):
    """A server that does not mind who hangs up."""

    def handle_error(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def service() -> Iterator[tuple[str, type[Handler]]]:
    """A service on loopback, and what it saw."""
    own = type("Own", (Handler,), {"seen": [], "connections": set()})
    server = Quiet(("127.0.0.1", 0), own)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", own
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_web_service_is_asked_on_one_connection() -> None:
    with service() as (address, own):
        target = open_target(f"{address}/models/{{item}}", most=1)
        answers = asked(target, "a", "b/c d?é", "c")
        assert [answer.error for answer in answers] == [None] * 3
        assert [path for _, path, _, _ in own.seen] == [
            "/models/a",
            "/models/b%2Fc%20d%3F%C3%A9",
            "/models/c",
        ]
        assert len(own.connections) == 1


def test_a_body_is_posted() -> None:
    with service() as (address, own):
        assert error(address, "x", body='{"model": "{item}"}', kind="text/x") is None
        assert own.seen == [("POST", "/", b'{"model": "x"}', "text/x")]


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("busy", "status 503"),
        ("moved", "status 302"),
        ("close", "half an answer: ProtocolError"),
        ("junk", "no answer: ProtocolError"),
        ("slow", "timeout"),
        ("drip", "timeout"),
        ("large", "an answer of more than 1000 bytes"),
    ],
)
def test_how_web_services_fail(
    path: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web, "ANSWER_BYTES", 1000)
    with service() as (address, own):
        assert error(f"{address}/{path}", seconds=0.15) == what
        assert len(own.seen) == 1  # nothing is repeated, and no redirect followed


def test_nobody_listens() -> None:
    with service() as (address, _):
        pass
    assert error(address) == "no connection"


def test_after_a_failure_the_next_request_is_answered() -> None:
    with service() as (address, _):
        target = open_target(f"{address}/{{item}}", most=1, seconds=5)
        answers = asked(target, "close", "a", "busy", "b")
    assert [answer.error is None for answer in answers] == [False, True, False, True]


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A module of the user in the current folder."""
    name = "user_functions_under_load"
    (tmp_path / f"{name}.py").write_text(
        "import asyncio, sys\n"
        "seen = []\n"
        "def ask(item): seen.append(item)\n"
        "async def wait(item): await asyncio.sleep(0.001); seen.append(item)\n"
        "async def fail(item): raise KeyError(item)\n"
        "async def late(item): raise TimeoutError('of its own')\n"
        "async def hang(item): await asyncio.sleep(60)\n"
        "def leave(item): sys.exit(3)\n"
        "class Model:\n"
        "    @staticmethod\n"
        "    def ask(item): raise RuntimeError('no')\n"
        "value = 3\n"
    )
    (tmp_path / "broken_under_load.py").write_text("1 / 0\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield name
    sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("function", "what"),
    [
        ("ask", None),
        ("leave", "SystemExit: 3"),
        ("Model.ask", "RuntimeError: no"),
    ],
)
def test_functions(module: str, function: str, what: str | None) -> None:
    assert error(f"python:{module}:{function}") == what


@pytest.mark.parametrize(
    ("function", "what"),
    [
        ("wait", None),
        ("fail", "KeyError: 'a'"),
        ("late", "TimeoutError: of its own"),
        ("hang", "timeout"),
    ],
)
def test_coroutines(module: str, function: str, what: str | None) -> None:
    target = open_target(f"python:{module}:{function}", most=1, seconds=0.05)
    (answer,) = asked(target, "a")
    assert answer == Answer(what)


@pytest.mark.parametrize(
    ("text", "code", "what"),
    [
        ("ftp://x/{item}", "Q011", "not understood: ftp://x/{item}"),
        ("", "Q011", "not understood: "),
        ("cmd", "Q011", "not understood: cmd"),
        ("cmd:", "Q011", "cmd: has no program"),
        ("cmd:'", "Q011", "No closing quotation: '"),
        ("http://", "Q011", "no address of a web service: http://"),
        ("http://[::1", "Q011", "no address of a web service: http://[::1"),
        ("python:x", "Q011", "no MODULE:FUNCTION: x"),
        ("python:a b:c", "Q011", "no MODULE:FUNCTION: a b:c"),
        (
            "python:no_such_module_here:f",
            "Q012",
            "ModuleNotFoundError: No module named",
        ),
        ("python:broken_under_load:f", "Q012", "ZeroDivisionError: division by zero"),
        ("python:user_functions_under_load:nothing", "Q012", "AttributeError: module "),
        ("python:user_functions_under_load:value", "Q012", "value cannot be called"),
    ],
)
def test_what_is_no_target_is_told(
    module: str, text: str, code: str, what: str
) -> None:
    with pytest.raises(RegistryError) as refused:
        open_target(text, most=1)
    found = refused.value.findings[0]
    assert found.code == code
    assert found.what.startswith(what)


def test_only_a_web_service_is_sent_a_body() -> None:
    with pytest.raises(RegistryError) as refused:
        open_target("cmd:true", most=1, body="x")
    assert refused.value.findings[0].what == "only a web service can be sent a body"


def test_there_are_no_more_threads_than_requests_at_once() -> None:
    running, most, names = 0, 0, set()
    lock = threading.Lock()

    def ask(_: str) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
            names.add(threading.current_thread().name)
        time.sleep(0.005)
        with lock:
            running -= 1

    answers = asked(Workers(ask, 3, time.monotonic_ns), *"abcdefghij")
    assert most == 3
    assert len(names) == 3
    assert len(answers) == 10


def test_an_idle_thread_is_used_again() -> None:
    names = set()

    def ask(_: str) -> None:
        names.add(threading.current_thread().name)

    async def one_by_one(target: Target) -> None:
        for _ in range(20):
            await target.answer("a")
            await asyncio.sleep(0.001)

    target = Workers(ask, 50, time.monotonic_ns)
    asyncio.run(one_by_one(target))
    target.close()
    assert len(names) == 1


def test_an_answer_after_the_end_bothers_nobody() -> None:
    late = threading.Event()
    over = threading.Event()

    def ask(_: str) -> None:
        late.wait(10)
        threading.Timer(0.05, over.set).start()

    target = Workers(ask, 1, time.monotonic_ns)

    async def leave() -> None:
        task = asyncio.create_task(target.answer("a"))
        await asyncio.sleep(0.01)
        task.cancel()

    asyncio.run(leave())
    late.set()
    target.close()
    assert over.wait(10)


def test_texts_of_errors_are_bounded_and_printable() -> None:
    class Broken(Exception):  # noqa: N818 - a user's own
        def __str__(self) -> str:
            raise ValueError

    assert told(ValueError("a\nb\x1b" + "x" * 900)) == told(
        ValueError("a\nb\x1b" + "x" * 200)
    )
    assert len(told(ValueError("x" * 900))) == 120
    assert told(Broken()) == "Broken"


def test_a_program_that_is_just_starting_does_not_outlive_the_load(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The threads that start programs end with ours, and tell of nothing then."""
    begun, go_on = threading.Event(), threading.Event()
    started: list[Child] = []

    class Slow(Child):
        def __init__(self, command: list[str], **options: Any) -> None:
            begun.set()
            go_on.wait(5)
            super().__init__(command, **options)
            started.append(self)

    monkeypatch.setattr(programs, "Child", Slow)
    program = programs.Program("sleep 60", 60)
    errors: list[str | None] = []
    thread = threading.Thread(target=lambda: errors.append(program.ask("a")))
    thread.start()
    assert begun.wait(5)
    threading.Timer(0.05, go_on.set).start()
    program.close()
    assert len(started) == 1, "it is waited for"
    thread.join(5)
    assert errors == ["ended by signal 9"]
    assert program.ask("b") == "the load was over"
    assert len(started) == 1
