"""The state file: one supervisor at a time, and no stranger is ever signalled."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.documents.findings import RegistryError
from tests.services.serving import until
from tests.simulators.living import alive
from tools.processes.child import Child
from tools.processes.marks import Mark
from tools.services.state import end_orphan, find, held_state
from tools.services.stopping import stop_service

SLEEP = ["sleep", "60"]
STATE = (
    '{"schema": "service-state/%s", "phase": "ready",'
    ' "supervisor": {"pid": %s, "started": "x"}}'
)


def refused(path: Path) -> tuple[str, str]:
    with pytest.raises(RegistryError) as caught, held_state(path):
        pass
    (found,) = caught.value.findings
    return found.code, found.what


def left_behind(path: Path, server: Mark | None, supervisor: Mark) -> None:
    """Write what a supervisor that was killed leaves."""
    told = {
        "schema": "service-state/1",
        "phase": "ready",
        "grace_seconds": 0.1,
        "supervisor": {"pid": supervisor.pid, "started": supervisor.started},
        "server": server and {"pid": server.pid, "started": server.started},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(told))


@pytest.fixture
def gone() -> Mark:
    """A process that ended."""
    with Child(SLEEP) as child:
        mark = Mark.of(child.pid)
    assert mark is not None
    return mark


def test_the_state_is_there_as_long_as_it_is_held(apart: Path) -> None:
    assert find(apart).phase == "none"
    with held_state(apart) as state:
        assert find(apart).phase == "starting"
        state.write("ready", restarts=2)
        state.write("stopping")
        found = find(apart)
        assert (found.phase, found.running) == ("stopping", True)
        assert found.facts["restarts"] == 2
        assert found.supervisor == Mark.of(os.getpid())
    assert find(apart).phase == "none"


def test_two_at_once_are_refused(apart: Path) -> None:
    with held_state(apart) as state:
        assert refused(apart) == ("F017", "another tool holds its lock")
        state.write("ready")
        assert refused(apart) == ("F017", f"process {os.getpid()} cares for it")
        assert find(apart).phase == "ready", "a refused one removes nothing"
    with held_state(apart):
        pass


def test_looking_does_not_stand_in_the_way(apart: Path) -> None:
    with held_state(apart):
        pass
    lock = apart.with_name("service.json.lock")
    program = (
        "import fcntl, sys, time; f = open(sys.argv[1], 'rb');"
        "fcntl.flock(f, fcntl.LOCK_EX); print('locked', flush=True); time.sleep(0.03)"
    )
    with subprocess.Popen(
        [sys.executable, "-S", "-c", program, lock], stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with held_state(apart):
            pass


def test_the_lock_is_free_once_a_supervisor_was_killed(apart: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path\n"
        "from tools.services.state import held_state\n"
        "with held_state(Path(sys.argv[1])) as state:\n"
        "    state.write('ready', server=None); print('held', flush=True)\n"
        "    time.sleep(60)\n"
    )
    command = [sys.executable, "-c", program, str(apart)]
    root = Path(__file__).parents[2]
    with Child(command, cwd=root, stdout=subprocess.PIPE) as child:
        assert child.process.stdout is not None
        child.process.stdout.readline()
        assert find(apart).phase == "ready"
        child.stop(signal.SIGKILL)
    found = find(apart)
    assert (found.phase, found.running) == ("stale", False)
    with held_state(apart) as state:
        state.write("ready")
        assert find(apart).running


def test_a_server_of_a_killed_supervisor_is_told_of_and_ended(
    apart: Path, gone: Mark
) -> None:
    with Child(SLEEP) as child:
        mark = Mark.of(child.pid)
        assert mark is not None
        left_behind(apart, mark, gone)
        assert find(apart).phase == "orphaned"
        assert refused(apart) == (
            "F018",
            f"process {child.pid} outlived its supervisor",
        )
        assert alive(child.pid)
        said = stop_service(apart)
        assert said == f"ended process {child.pid}, which its supervisor had left"
        assert child.wait(5) is not None
    assert not apart.exists()


def test_an_orphan_that_ignores_the_signal_is_killed(apart: Path, gone: Mark) -> None:
    command = ["sh", "-c", "trap '' TERM; echo; while :; do sleep 0.01; done"]
    with Child(command, stdout=subprocess.PIPE) as child:
        assert child.process.stdout is not None
        child.process.stdout.readline()
        left_behind(apart, Mark.of(child.pid), gone)
        end_orphan(apart, 0.05)
        ended = child.wait(5)
        assert ended is not None
        assert ended.returncode == -signal.SIGKILL


def test_a_stranger_with_its_number_is_never_touched(apart: Path, gone: Mark) -> None:
    with Child(SLEEP) as stranger:
        mark = Mark.of(stranger.pid)
        assert mark is not None
        left_behind(apart, replace(mark, started=f"{mark.started}0"), gone)
        assert find(apart).phase == "stale"
        said = stop_service(apart)
        assert said == "removed the state of a supervisor that was killed; nothing ran"
        assert stranger.ended is None
        assert not replace(mark, started="of another boot").send(signal.SIGKILL)
        assert not replace(mark, started="x").send(signal.SIGKILL, group=True)
        assert stranger.ended is None
        assert mark.send(signal.SIGKILL)
        assert stranger.wait(5) is not None
        assert not mark.alive, "who only waits to be collected runs no more"


def test_a_mark_of_no_process() -> None:
    assert Mark.of(0) is None
    assert Mark.of(-1) is None
    assert Mark.of(1 << 40) is None
    assert not Mark(1 << 40, "x").send(signal.SIGTERM)


def test_only_the_leader_s_group_is_ended() -> None:
    with Child(
        ["sh", "-c", "sleep 60 & echo $!; wait"], stdout=subprocess.PIPE
    ) as child:
        assert child.process.stdout is not None
        member = int(child.process.stdout.readline())
        mark = Mark.of(member)
        assert mark is not None
        assert not mark.send(signal.SIGKILL, group=True)
        assert child.ended is None
        leader = Mark.of(child.pid)
        assert leader is not None
        assert leader.send(signal.SIGKILL, group=True)
        until(lambda: not alive(member))


def test_stopping_what_does_not_run(apart: Path) -> None:
    with pytest.raises(RegistryError, match="F020"):
        stop_service(apart)


def test_a_supervisor_that_does_not_end_is_named(apart: Path) -> None:
    times = iter([0.0, 0.0, 6.0])
    with Child(
        ["sh", "-c", "trap '' TERM; echo; sleep 60"], stdout=subprocess.PIPE
    ) as x:
        assert x.process.stdout is not None
        x.process.stdout.readline()
        mark = Mark.of(x.pid)
        assert mark is not None
        with held_state(apart):
            left_behind(apart, None, mark)
            with pytest.raises(RegistryError, match="F025") as caught:
                stop_service(apart, 5, clock=lambda: next(times), pause=lambda _: None)
        assert f"process {x.pid}, runs still" in str(caught.value)
        x.stop(signal.SIGKILL)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "J003"),
        ("[]", "F019"),
        ("{}", "F019"),
        ('{"schema": "service-state/1", "phase": "ready", "supervisor": 7}', "F019"),
        (STATE % ("1", 0), "F019"),
        (STATE % ("2", 1), "F019"),
    ],
)
def test_what_is_no_state_is_refused_and_stays(
    apart: Path, text: str, code: str
) -> None:
    apart.parent.mkdir(parents=True)
    apart.write_text(text)
    for use in (find, stop_service, refusing):
        with pytest.raises(RegistryError) as caught:
            use(apart)
        assert {found.code for found in caught.value.findings} == {code}
    assert apart.read_text() == text


def refusing(path: Path) -> None:
    with held_state(path):
        pass


@given(st.binary(max_size=200))
def test_no_bytes_of_a_state_bring_more_than_a_finding(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzzed.json"
    path.write_bytes(data)
    with pytest.raises(RegistryError):
        find(path)
