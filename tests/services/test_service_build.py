"""`powerkit service build` and `watch` as people call them."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.services.serving import until
from tests.simulators.commands import Done
from tests.simulators.living import alive
from tools.commands.watching_view import watching_view
from tools.processes.child import Child
from tools.services.state import find
from tools.services.watching import Event

Powerkit = Callable[..., Done]
ROOT = Path(__file__).parents[2]
BROKEN = "echo 'a.c:3:5: error: no such thing' >&2; echo 'b.c:1: warning: hm'; exit 2"


def test_a_build_names_file_and_line(powerkit: Powerkit, apart: Path) -> None:
    done = powerkit("service", "build", "--", "sh", "-c", BROKEN)
    assert done.code == 1
    assert "error F030 a.c:3: no such thing" in done.out
    assert "warning F031 b.c:1: hm" in done.out
    log = apart.with_name("build.log")
    assert done.out.splitlines()[-1].endswith(f"1 error, 1 warning; log: {log}")
    assert log.read_text() == ("a.c:3:5: error: no such thing\nb.c:1: warning: hm\n")


def test_a_build_for_programs(powerkit: Powerkit) -> None:
    run = ("service", "build", "--json", "--log", "x.log", "--", "sh", "-c")
    told = json.loads(powerkit(*run, BROKEN).out)
    assert told["schema"] == "service-build/1"
    assert (told["ok"], told["returncode"], told["log"]) == (False, 2, "x.log")
    assert [(one["path"], one["line"]) for one in told["findings"]] == [
        ("a.c", 3),
        ("b.c", 1),
    ]
    done = powerkit(*run, "echo 'a.c:1: error: but well'")
    assert (done.code, json.loads(done.out)["ok"]) == (0, True)
    assert json.loads(done.out)["findings"][0]["code"] == "F031"


def test_a_build_that_fails_without_a_reason(powerkit: Powerkit) -> None:
    done = powerkit("service", "build", "--", "sh", "-c", "echo what; exit 3")
    assert done.code == 1
    assert "F032" in done.out
    assert "it ended with code 3; its last output: what" in done.out


def test_a_build_that_takes_too_long(
    powerkit: Powerkit, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = powerkit("service", "build", "--timeout", 0.05, "--", "sleep", "60")
    assert (done.code, "F033" in done.out) == (1, True)
    monkeypatch.setenv("POWERKIT_BUILD_TIMEOUT_SECONDS", "0.04")
    done = powerkit("service", "build", "--", "sleep", "60")
    assert "it was ended after 0.04 s" in done.out


def test_what_is_built_is_said_by_file_or_setting(
    powerkit: Powerkit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "sub"
    folder.mkdir()
    spec = folder / "spec.yaml"
    spec.write_text("command: x\nbuild: sh -c 'pwd; echo $MINE'\nenv:\n  MINE: yes\n")
    done = powerkit("service", "build", spec, "--follow", "--env", "B=1")
    assert (done.code, done.err.splitlines()) == (0, [str(folder), "yes"])
    monkeypatch.setenv("POWERKIT_SERVER_BUILD_COMMAND", "pwd")
    monkeypatch.setenv("POWERKIT_SERVER_DIRECTORY", str(folder))
    assert powerkit("service", "build", "--follow").err == f"{folder}\n"
    assert "F035" in powerkit("service", "build", "--client").out
    monkeypatch.setenv("POWERKIT_CLIENT_BUILD_COMMAND", "echo client")
    monkeypatch.setenv("POWERKIT_CLIENT_DIRECTORY", str(tmp_path))
    assert powerkit("service", "build", "--client", "--follow").err == "client\n"
    monkeypatch.setenv("POWERKIT_SERVER_BUILD_COMMAND", "'")
    assert powerkit("service", "build").code == 1
    spec.write_text("command: x\n")
    assert "F035" in powerkit("service", "build", spec).out


def test_a_real_compiler(powerkit: Powerkit) -> None:
    Path("bad.py").write_text("def\n")
    done = powerkit("service", "build", "--", sys.executable, "-S", "bad.py")
    assert "error F030 bad.py:1: SyntaxError: invalid syntax" in done.out


def watching(*arguments: object) -> Child:
    command = [sys.executable, "-m", "tools", "service", "watch", *map(str, arguments)]
    env = dict(os.environ) | {"PYTHONPATH": str(ROOT)}
    return Child(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def test_a_watch_starts_anew_once_for_a_burst(tmp_path: Path, apart: Path) -> None:
    source = tmp_path / "src"
    source.mkdir()
    starts = tmp_path / "starts"
    options = ("--path", source, "--debounce", 300, "--build", "true", "--json")
    program = f"echo x >> {starts}; sleep 60"
    with watching(*options, "--", "sh", "-c", program) as child:
        until(lambda: find(apart).phase == "ready")
        first = find(apart).server
        for number in range(5):
            (source / f"{number}.c").write_text("x")
        until(lambda: starts.exists() and starts.read_text() == "x\nx\n")
        until(lambda: find(apart).server not in {None, first})
        until(lambda: find(apart).phase == "ready")
        server = find(apart).server
        assert server is not None
        child.process.send_signal(signal.SIGTERM)
        ended = child.wait(5)
        assert ended is not None
        assert ended.returncode == 0
        assert child.process.stdout is not None
        events = [json.loads(line) for line in child.process.stdout]
    assert [one["phase"] for one in events] == [
        *("building", "built", "starting", "running"),
        *("changed", "building", "built", "stopped", "starting", "running", "stopped"),
    ]
    assert events[4]["text"] == "0.c and 4 more"
    assert starts.read_text() == "x\nx\n"
    assert not alive(server.pid)
    assert not apart.exists()


def test_a_watch_of_nothing(powerkit: Powerkit) -> None:
    done = powerkit("service", "watch", "--path", "absent", "--", "true")
    assert (done.code, "F034" in done.out) == (1, True)


EVENTS: tuple[Event, ...] = (
    Event("building", "make \x1b[2J"),
    Event("failed", "the build"),
    Event("running", "process 7", pid=7),
)


class Terminal(io.StringIO):
    """A terminal that remembers."""

    def isatty(self) -> bool:
        return True


def shown(out: Any, *, json_output: bool = False) -> str:
    with watching_view(json_output=json_output, out=out) as view:
        for event in EVENTS:
            view.event(event)
            view.line(f"after {event.phase} \x1b[1mx")
    return str(out.getvalue())


def test_marks_of_a_log() -> None:
    assert shown(io.StringIO()).splitlines() == [
        "… building: make \\x1b[2J",
        "  | after building \\x1b[1mx",
        "∅ failed: the build",
        "  | after failed \\x1b[1mx",
        "✓ running: process 7",
        "  | after running \\x1b[1mx",
    ]


def test_marks_at_a_terminal() -> None:
    text = shown(Terminal())
    for part in ("∅ failed: the build", "✓ running: process 7", "after running"):
        assert part in text
    assert "make \x1b[2J" not in text


def test_events_for_a_program() -> None:
    told = [
        json.loads(one)
        for one in shown(io.StringIO(), json_output=True).split("\n")[:-1]
    ]
    assert [one["phase"] for one in told] == ["building", "failed", "running"]
    assert told[2]["pid"] == 7


def test_a_client_is_built_and_watched_by_its_settings(
    powerkit: Powerkit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "client"
    folder.mkdir()
    monkeypatch.setenv("POWERKIT_CLIENT_DIRECTORY", str(folder))
    monkeypatch.setenv("POWERKIT_CLIENT_BUILD_COMMAND", "touch built")
    # The client asks the watch to end, as `service stop` would.
    command = "sh -c 'pwd; test -e built && kill -TERM $PPID; sleep 60'"
    monkeypatch.setenv("POWERKIT_CLIENT_RUN_COMMAND", command)
    done = powerkit("service", "watch", "--client", "--debounce", 20)
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == "… building: touch built"
    assert f"  | {folder}" in lines
    assert lines[-1].startswith("· stopped: process ")
    assert (tmp_path / "state" / "client.log").read_text() == f"{folder}\n"
    assert not (tmp_path / "state" / "client.json").exists()
