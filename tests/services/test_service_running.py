"""A server under test: each way of being ready, each way of failing, and its end."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from registry.documents.findings import RegistryError
from tests.services.serving import PYTHON, free_port, server, until
from tests.simulators.living import alive
from tools.services import readiness
from tools.services.running import Service
from tools.services.specification import ServiceSpec


def spec(ready: str | None = None, /, **options: Any) -> ServiceSpec:
    told: dict[str, Any] = {"command": server(**options), "ready": ready}
    return ServiceSpec.model_validate(told)


def changed(one: ServiceSpec, **changes: Any) -> ServiceSpec:
    return one.model_copy(update=changes)


def refused(one: ServiceSpec, **options: Any) -> tuple[str, str]:
    with pytest.raises(RegistryError) as caught, Service(one, **options):
        pass
    (found,) = caught.value.findings
    return found.code, found.what


def test_ready_by_http() -> None:
    port = free_port()
    with Service(spec(f"http://127.0.0.1:{port}/up", port=port, sleep=0.05)) as service:
        assert service.ready_seconds is not None
        assert service.ready_seconds >= 0.05
        assert alive(service.child.pid)
    assert service.ended is not None
    assert service.ended.returncode == -signal.SIGTERM
    assert not alive(service.child.pid)


def test_ready_by_tcp() -> None:
    port = free_port()
    with Service(spec(f"tcp:127.0.0.1:{port}", port=port)) as service:
        service.check()


def test_ready_by_a_line(tmp_path: Path) -> None:
    one = spec("regex:listening on [0-9]+", say="now listening on 80")
    with Service(one, log=tmp_path / "log") as service:
        assert service.tail(5) == ["now listening on 80"]
    assert (tmp_path / "log").read_text() == "now listening on 80\n"


def test_ready_by_a_file_of_this_start(tmp_path: Path) -> None:
    mark = tmp_path / "ready"
    mark.write_text("of an earlier start")
    before = mark.stat().st_mtime_ns
    with Service(spec(f"file:{mark}", touch=mark, sleep=0.1)) as service:
        assert mark.stat().st_mtime_ns > before
        assert service.ready_seconds is not None
        assert service.ready_seconds >= 0.1


def test_without_a_probe_it_is_ready_once_started() -> None:
    with Service(spec()) as service:
        assert service.ready_seconds == 0


def test_who_is_late_is_named_with_what_lacks(tmp_path: Path) -> None:
    port, pids = free_port(), tmp_path / "pids"
    one = spec(
        f"http://127.0.0.1:{port}", port=port, status="503 Busy", say="hm", pid=pids
    )
    found = refused(changed(one, ready_timeout_seconds=0.3))
    assert found[0] == "F015"
    assert "answered with status 503" in found[1]
    assert "its last output: hm" in found[1]
    assert not alive(int(pids.read_text()))


def test_an_answer_that_never_ends_is_late_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One byte now and then keeps a connection alive, and us from nothing."""
    monkeypatch.setattr(readiness, "ANSWER_SECONDS", 0.1)
    drip = (
        "import socket, sys, time\n"
        "taker = socket.create_server(('127.0.0.1', int(sys.argv[1])))\n"
        "while True:\n"
        "    caller, _ = taker.accept()\n"
        "    try:\n"
        "        caller.sendall(sys.argv[2].encode())\n"
        "        for _ in range(100):\n"
        "            time.sleep(0.05)\n"
        "            caller.sendall(b'x')\n"
        "    except OSError:\n"
        "        pass\n"
    )
    for head, code in (("HTTP/1.1 200 OK\n", None), ("HTTP/1.1 2", "F015")):
        port = free_port()
        one = changed(
            spec(f"http://127.0.0.1:{port}/"),
            command=(*PYTHON, drip, str(port), head),
            ready_timeout_seconds=0.5,
        )
        begun = time.monotonic()
        if code is None:
            with Service(one):
                pass
        else:
            assert refused(one)[0] == code
        assert time.monotonic() - begun < 4


def test_who_speaks_no_http_is_not_ready() -> None:
    port = free_port()
    speak = (
        "import socket, sys\n"
        "taker = socket.create_server(('127.0.0.1', int(sys.argv[1])))\n"
        "while True:\n"
        "    taker.accept()[0].sendall(b'SSH-2.0-x\\r\\n')\n"
    )
    one = changed(
        spec(f"http://127.0.0.1:{port}/"),
        command=(*PYTHON, speak, str(port)),
        ready_timeout_seconds=0.5,
    )
    kind, what = refused(one)
    assert (kind, "no HTTP: SSH-2.0-x" in what) == ("F015", True)


def test_who_dies_is_named_with_its_last_lines() -> None:
    begun = time.monotonic()
    kind, what = refused(spec("regex:ready", die=3))
    assert time.monotonic() - begun < 5, "its end is seen at once"
    assert (kind, what[what.index("it ended") :]) == (
        "F014",
        "it ended with code 3; its last output: no memory",
    )


def test_who_never_spoke() -> None:
    one = changed(spec("regex:x", sleep=60), ready_timeout_seconds=0.05)
    assert "no line matches x; it printed nothing" in refused(one)[1]


def test_another_at_its_port_is_no_server_of_ours() -> None:
    port = free_port()
    with Service(spec(f"tcp:127.0.0.1:{port}", port=port)):
        for ready in (f"tcp:127.0.0.1:{port}", f"http://127.0.0.1:{port}/"):
            kind, what = refused(spec(ready, port=port))
            assert (kind, "answers at" in what) == ("F016", True)


def test_what_cannot_be_started_is_a_finding() -> None:
    one = ServiceSpec.model_validate({"command": ["/no/such/server"]})
    assert refused(one)[0] == "F001"


def test_who_ignores_the_signal_is_killed_after_its_grace() -> None:
    one = spec("regex:up", ignore=1, say="up")
    with Service(changed(one, grace_seconds=0.05)) as service:
        pass
    assert service.ended is not None
    assert service.ended.returncode == -signal.SIGKILL
    assert not alive(service.child.pid)


def test_the_signal_is_the_spec_s() -> None:
    with Service(changed(spec(), stop_signal=signal.SIGINT)) as service:
        pass
    assert service.ended is not None
    assert service.ended.returncode in {-signal.SIGINT, 1}  # Python unwinds


def test_an_error_in_the_block_ends_it_too() -> None:
    with pytest.raises(KeyError), Service(spec()) as service:
        raise KeyError
    assert not alive(service.child.pid)


def test_an_end_in_between_is_seen() -> None:
    with Service(spec("regex:up", say="up")) as service:
        service.check()
        service.child.process.send_signal(signal.SIGKILL)
        service.child.wait(5)
        with pytest.raises(RegistryError) as caught:
            service.check()
    (found,) = caught.value.findings
    assert (found.code, found.what) == (
        "F021",
        "it was ended by signal 9; its last output: up",
    )


def test_variables_reach_the_server(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    told = {
        "command": ["sh", "-c", "env; echo done; sleep 60"],
        "ready": "regex:^done$",
        "env": {"MINE": "1"},
        "store": {"eviction_policy": "lcu", "memory_percentage": "0.5"},
    }
    one = ServiceSpec.model_validate(told)
    log = tmp_path / "log"
    with Service(one, log=log, trace=trace, environment={"FROM_CALLER": "2"}):
        pass
    lines = set(log.read_text().splitlines())
    assert {
        "MINE=1",
        "FROM_CALLER=2",
        "UPRD_EVICTION_POLICY=lcu",
        "UPRD_MEMORY_PERCENTAGE=0.5",
        "UPRD_ESTIMATION_RATE=1.0",
        "UPRD_ESTIMATE_WITH_INTERNAL_MEMORY=true",
        "UPRD_PERSIST_CPU=true",
        "UPRD_PERSIST_ONLY_CPU=false",
        "UPRD_WRITE_PROFILE=true",
        "UPR_ENABLED=true",
        f"UPR_PROFILE_TARGET={trace}",
        f"POWERKIT_TRACE_FILE={trace}",
    } <= lines


def test_the_record_is_json() -> None:
    with Service(spec("regex:up", say="up")) as service:
        running = json.loads(json.dumps(service.info()))
        assert running["ended"] is None
        assert running["pid"] == service.child.pid
        assert running["ready"] == "regex:up"
    ended = service.info()["ended"]
    assert ended["returncode"] == -signal.SIGTERM
    assert ended["wall_seconds"] > 0
    assert "max_rss_bytes" in ended


def test_what_it_started_ends_with_it(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    told = {"command": ["sh", "-c", f"sleep 60 & echo $! > {note}; wait"]}
    with Service(ServiceSpec.model_validate(told)):
        until(lambda: note.exists() and note.read_text() != "")
    until(lambda: not alive(int(note.read_text())))
