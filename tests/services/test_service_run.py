"""`powerkit service run`, status and stop: two terminals, clients, traces, restarts."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.services.serving import PYTHON, free_port, server, until
from tests.simulators.commands import Done
from tests.simulators.living import alive
from tools.processes.child import Child
from tools.services.state import find

Powerkit = Callable[..., Done]
EVENT = '{"name":"a","ph":"i","ts":1,"pid":1,"tid":1}'
ROOT = Path(__file__).parents[2]


def supervisor(*arguments: object) -> Child:
    """The tool in a process of its own, as in another terminal."""
    command = [sys.executable, "-m", "tools", "service", "run", *map(str, arguments)]
    env = dict(os.environ) | {"PYTHONPATH": str(ROOT)}
    return Child(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def printed(child: Child) -> str:
    assert child.process.stdout is not None
    return child.process.stdout.read().decode()


def ready(state: Path) -> Callable[[], bool]:
    return lambda: find(state).phase == "ready"


def test_a_client_runs_while_the_server_is_ready(powerkit: Powerkit) -> None:
    port = free_port()
    ask = (
        f"import socket; socket.create_connection(('127.0.0.1', {port}));"
        " raise SystemExit(7)"
    )
    spec = Path("spec.yaml")
    command = json.dumps(server(port=port))
    spec.write_text(f"command: {command}\nready: tcp:127.0.0.1:{port}\n")
    done = powerkit("service", "run", spec, "--while", "--json", "--", *PYTHON, ask)
    assert done.code == 7, "the client's exit code"
    told = json.loads(done.out)
    assert told["schema"] == "service-run/1"
    assert told["client"]["returncode"] == 7
    assert told["service"]["ended"]["returncode"] == -signal.SIGTERM
    assert "ready after" in done.err
    assert not alive(told["service"]["pid"])


def test_what_a_client_prints_is_no_part_of_the_json() -> None:
    run = ("service", "run", "--json", "--while", "--server", "sleep 60")
    done = subprocess.run(
        [sys.executable, "-m", "tools", *run, "--", "echo", "hi"],
        env=dict(os.environ) | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
    assert json.loads(done.stdout)["client"]["returncode"] == 0
    assert b"hi\n" in done.stderr


def test_the_client_knows_the_service(powerkit: Powerkit, apart: Path) -> None:
    look = (
        "import json, os, sys; state = json.load(open(os.environ["
        "'POWERKIT_SERVICE_STATE_FILE'])); same = state['service']['service_id'] =="
        " os.environ['POWERKIT_SERVICE_ID']; sys.exit(not same)"
    )
    run = ("service", "run", "--while", "--server", "sleep 60", "--", *PYTHON, look)
    assert powerkit(*run).code == 0
    assert not apart.exists()


def test_a_client_that_is_killed_gives_the_shell_s_code(powerkit: Powerkit) -> None:
    kill = "import os; os.kill(os.getpid(), 9)"
    run = ("service", "run", "--while", "--server", "sleep 60", "--", *PYTHON, kill)
    assert powerkit(*run).code == 128 + 9


def test_a_client_whose_server_dies_is_ended(
    powerkit: Powerkit, tmp_path: Path
) -> None:
    kill = (
        f"import json, os, time; open({str(tmp_path / 'pid')!r}, 'w')"
        ".write(str(os.getpid())); state = json.load(open(os.environ["
        "'POWERKIT_SERVICE_STATE_FILE'])); os.kill(state['server']['pid'], 9);"
        " time.sleep(60)"
    )
    run = ("service", "run", "--while", "--server", "sleep 60", "--", *PYTHON, kill)
    done = powerkit(*run)
    assert done.code == 1
    assert "F021" in done.out
    assert "ended by signal 9" in done.out
    assert not alive(int((tmp_path / "pid").read_text()))


def test_a_client_that_takes_too_long_is_ended(powerkit: Powerkit) -> None:
    run = ("service", "run", "--while", "--server", "sleep 60", "--client-timeout")
    done = powerkit(*run, 0.05, "--", "sleep", "60")
    assert (done.code, "F024" in done.out) == (1, True)


def test_a_server_that_ends_by_itself(powerkit: Powerkit) -> None:
    done = powerkit("service", "run", "--", "sh", "-c", "echo bye")
    assert done.code == 0
    assert done.err.splitlines()[-1] == "service: it ended with code 0"
    assert "bye" in done.err.splitlines()
    done = powerkit("service", "run", "--", "sh", "-c", "echo oh; exit 4")
    assert done.code == 1
    assert "F022" in done.out
    assert "it ended with code 4; its last output: oh" in done.out


def test_output_moves_no_cursor_and_goes_to_the_log(
    powerkit: Powerkit, apart: Path
) -> None:
    powerkit("service", "run", "--", "printf", "a\\033[2Jb\\tc\\n")
    assert apart.with_suffix(".log").read_bytes() == b"a\033[2Jb\tc\n"
    done = powerkit("service", "run", "--", "printf", "a\\033[2Jb\\tc\\n")
    assert "a\\x1b[2Jb  c" in done.err
    done = powerkit("service", "run", "--no-follow", "--", "echo", "quiet")
    assert "quiet" not in done.err


def test_a_failed_server_is_started_anew_so_often(powerkit: Powerkit) -> None:
    count = "echo x >> starts; test $(wc -l < starts) -ge 3"
    again = ("--restart", "on-failure", "--restart-delay", "0")
    command = ("--", "sh", "-c", count)
    done = powerkit("service", "run", *again, "--json", *command)
    assert done.code == 0
    assert json.loads(done.out)["restarts"] == 2
    assert "start 2 follows" in done.err
    Path("starts").unlink()
    done = powerkit("service", "run", *again, "--restart-limit", 1, *command)
    assert (done.code, Path("starts").read_text()) == (1, "x\nx\n")
    Path("starts").unlink()
    done = powerkit("service", "run", *command)
    assert (done.code, Path("starts").read_text()) == (1, "x\n")


def test_status_and_stop_from_another_terminal(powerkit: Powerkit, apart: Path) -> None:
    assert powerkit("service", "status").code == 1
    with supervisor("--name", "mine", "--", *server()) as child:
        until(ready(apart))
        done = powerkit("service", "status", "--json")
        told = json.loads(done.out)
        assert done.code == 0
        assert told["schema"] == "service-status/1"
        assert (told["phase"], told["supervisor_pid"]) == ("ready", child.pid)
        assert told["service"]["name"] == "mine"
        assert alive(told["server_pid"])
        told_people = powerkit("service", "status").out
        assert told_people.startswith("ready: mine under ")
        assert re.search(r"\nit was ready after \d+\.\d\d s\n", told_people)
        second = powerkit("service", "run", "--", "true")
        assert (second.code, "F017" in second.out) == (1, True)
        done = powerkit("service", "stop", "--json")
        assert done.code == 0
        assert f"supervisor {child.pid}" in json.loads(done.out)["stopped"]
        ended = child.wait(5)
        assert ended is not None
        assert ended.returncode == 0, "an end that was asked for is no failure"
        assert "ended in an orderly way" in printed(child)
    assert not alive(told["server_pid"])
    assert json.loads(powerkit("service", "status", "--json").out)["phase"] == "none"
    assert "F020" in powerkit("service", "stop").out


def test_a_killed_tool_leaves_a_state_that_is_told_from_a_running_one(
    powerkit: Powerkit, apart: Path
) -> None:
    with supervisor("--", *server()) as child:
        until(ready(apart))
        child.process.send_signal(signal.SIGKILL)
        child.wait(5)
        orphan = find(apart).server
        assert orphan is not None
        assert orphan.alive
        done = powerkit("service", "status")
        assert done.code == 1
        assert done.out.startswith("orphaned: ")
        assert "F018" in powerkit("service", "run", "--", "true").out
        assert powerkit("service", "stop").code == 0
        assert not orphan.alive
    assert powerkit("service", "run", "--", "true").code == 0


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGHUP])
def test_ctrl_c_and_a_closed_terminal_end_the_server_too(
    apart: Path, sign: signal.Signals
) -> None:
    with supervisor("--", *server()) as child:
        until(ready(apart))
        found = find(apart).server
        assert found is not None
        child.process.send_signal(sign)
        ended = child.wait(5)
        assert ended is not None
        assert ended.returncode == 0
        assert not found.alive
        assert not apart.exists()


@pytest.mark.parametrize(
    ("text", "unterminated"), [(f"[{EVENT}]", False), (f"[{EVENT},", True)]
)
def test_the_server_s_own_trace_is_read(
    powerkit: Powerkit, text: str, *, unterminated: bool
) -> None:
    command = server(trace=text, say="up")
    run = ("service", "run", "--trace", "t.json", "--ready", "regex:up", "--json")
    options = ("--while", "--server", shlex.join(command))
    done = powerkit(*run, *options, "--", "true")
    assert done.code == 0
    trace = json.loads(done.out)["trace"]
    assert (trace["events"], trace["unterminated"]) == (1, unterminated)


def test_a_trace_of_an_earlier_start_is_none(powerkit: Powerkit) -> None:
    Path("t.json").write_text("[]")
    run = ("service", "run", "--trace", "t.json", "--")
    done = powerkit(*run, "true")
    assert (done.code, "F023" in done.err) == (1, True)
    assert "of an earlier start" in done.err
    assert Path("t.json").read_text() == "[]"
    assert powerkit(*run, "sh", "-c", "echo [] > $UPR_PROFILE_TARGET").code == 0
    assert "V0" in powerkit(*run, "sh", "-c", "echo hello > $UPR_PROFILE_TARGET").err


def test_a_log_that_cannot_be_kept_is_a_warning(powerkit: Powerkit) -> None:
    Path("file").touch()
    done = powerkit("service", "run", "--log", "file/log", "--", "true")
    assert (done.code, "F002" in done.err) == (0, True)


def test_options_of_trims_s_server_become_variables(powerkit: Powerkit) -> None:
    options = (
        *("--eviction", "flush", "--memory-percentage", "0.9"),
        *("--estimation-rate", "1.5", "--no-estimate-with-internal-memory"),
        *("--no-persist-cpu", "--persist-cpu-only", "--profile", "-d"),
    )
    done = powerkit("service", "run", *options, "--env", "A=b=c", "--", "env")
    assert done.code == 0
    assert {
        "UPRD_EVICTION_POLICY=flush",
        "UPRD_MEMORY_PERCENTAGE=0.9",
        "UPRD_ESTIMATION_RATE=1.5",
        "UPRD_ESTIMATE_WITH_INTERNAL_MEMORY=false",
        "UPRD_PERSIST_CPU=false",
        "UPRD_PERSIST_ONLY_CPU=true",
        "UPRD_WRITE_PROFILE=true",
        "GLOG_logtostderr=1",
        "MXNET_ENGINE_TYPE=ThreadedEngine",
        "A=b=c",
    } <= set(done.err.splitlines())


def test_settings_say_which_server(
    powerkit: Powerkit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert "F026" in powerkit("service", "run").out
    (tmp_path / "there").mkdir()
    monkeypatch.setenv("POWERKIT_SERVER_RUN_COMMAND", "sh -c 'pwd; echo \"a b\"'")
    monkeypatch.setenv("POWERKIT_SERVER_DIRECTORY", str(tmp_path / "there"))
    monkeypatch.setenv("POWERKIT_VISIBLE_DEVICES", "1,2")
    done = powerkit("service", "run")
    assert done.code == 0
    assert {str(tmp_path / "there"), "a b"} <= set(done.err.splitlines())
    assert (
        "1,2"
        in powerkit("service", "run", "--", "printenv", "CUDA_VISIBLE_DEVICES").err
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--while",), "--while needs a client after --"),
        (("--server", "x", "--", "true"), "--server is for --while"),
        (("--",), "a command must follow --"),
        (("--ready", "udp:1", "--", "true"), "--ready: it must be http://"),
        (("--stop-signal", "STOP", "--", "true"), "--stop-signal: it must be one of"),
        (("--env", "X", "--", "true"), "--env: it must be NAME=VALUE"),
        (("--eviction", "mru", "--", "true"), "'mru' is not one of"),
        (("--memory-percentage", "1.5", "--", "true"), "less than or equal to 1"),
        (("no-such.yaml",), "does not exist"),
        (("true", "x"), "Got unexpected extra argument"),
    ],
)
def test_a_wrong_call_is_a_usage_error(
    powerkit: Powerkit, arguments: tuple[Any, ...], said: str
) -> None:
    if arguments[0] == "true":
        Path("true").touch()
    done = powerkit("service", "run", *arguments)
    assert done.code == 2
    assert said in " ".join(done.err.replace("│", " ").split())
