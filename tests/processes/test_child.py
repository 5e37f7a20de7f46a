"""A program under care: times, limits, and an end of all that it started."""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from pathlib import Path

import pytest

from registry.documents.findings import RegistryError
from tests.simulators.living import alive
from tools.processes import child as child_module
from tools.processes.child import Child, Ended, first_ended


def run_child(command: list[str], *, time_limit: float | None = None) -> Ended:
    """Run a program to its end, or to the end of its time."""
    with Child(command) as child:
        return child.wait(time_limit) or child.time_out()


def python(program: str) -> list[str]:
    return [sys.executable, "-c", program]


def test_how_it_ended() -> None:
    ended = run_child(python("import sys; sum(range(10**6)); sys.exit(3)"))
    assert (ended.returncode, ended.timed_out, ended.ok) == (3, False, False)
    assert ended.user_seconds > 0
    assert abs(ended.started_epoch_ns - time.time_ns()) < 60 * 10**9
    assert run_child(["true"]).ok


def test_memory_is_the_childs_own_or_unknown() -> None:
    """A child begins with our own peak: the largest that this process ever was."""
    assert run_child(["true"]).max_rss_bytes is None
    wanted = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 + (32 << 20)
    said = run_child(python(f"x = bytearray({wanted})")).max_rss_bytes
    assert said is not None
    assert wanted <= said < wanted + (32 << 20)


def test_the_end_of_its_time_ends_what_it_started_too(tmp_path: Path) -> None:
    note = tmp_path / "grandchild"
    program = (
        "import subprocess, sys, time, pathlib\n"
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"pathlib.Path({str(note)!r}).write_text(str(p.pid))\n"
        "time.sleep(60)"
    )
    with Child(python(program)) as child:
        while not note.exists() or not note.read_text():
            assert child.ended is None
            time.sleep(0.01)
        ended = child.time_out()
    assert ended.timed_out
    assert ended.returncode == -signal.SIGTERM
    limit = time.monotonic() + 10
    while alive(int(note.read_text())):
        assert time.monotonic() < limit
        time.sleep(0.01)


def test_who_ignores_the_signal_is_killed(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    program = (
        "import signal, time, pathlib\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"pathlib.Path({str(ready)!r}).touch()\n"
        "time.sleep(60)"
    )
    with Child(python(program)) as child:
        while not ready.exists():
            time.sleep(0.01)
        assert child.stop(grace=0.1).returncode == -signal.SIGKILL
    assert not alive(child.pid)


def test_waiting_is_limited_and_may_be_repeated() -> None:
    with Child(["sleep", "30"]) as child:
        assert child.wait(0.01) is None
        assert child.ended is None
        first = child.stop()
        assert child.wait() == first
    assert first.returncode == -signal.SIGTERM
    assert not first.timed_out


def test_a_limit_may_be_longer_than_the_system_waits_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert run_child(["true"], time_limit=1e12).ok
    with Child(["true"]) as child:
        assert first_ended([child], 1e12) is child
    monkeypatch.setattr(child_module, "_POLL_SECONDS", 0.01)
    with Child(["sleep", "30"]) as child:
        begun = time.monotonic()
        assert child.wait(0.1) is None
        assert first_ended([child], 0.1) is None
        assert time.monotonic() - begun >= 0.2
    assert run_child(["sleep", "0.1"], time_limit=60).ok


def test_without_pidfd_it_works_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    assert run_child(["true"]).ok
    assert run_child(["sleep", "30"], time_limit=0.05).timed_out


@pytest.mark.parametrize("command", [["/no/such/program"], ["/"], [], ["a\0b"]])
def test_what_cannot_be_started_is_a_finding(command: list[str]) -> None:
    with pytest.raises(RegistryError) as caught:
        run_child(command)
    assert [found.code for found in caught.value.findings] == ["F001"]
