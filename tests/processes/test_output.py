"""What a program prints: bounded in memory and on disk, and never in its way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from registry.documents.patterns import Expression
from tools.processes.child import Child, first_ended
from tools.processes.output import LINE_BYTES, TAIL_LINES, Output


def printed(
    program: str,
    *,
    log: Path | None = None,
    log_bytes: int = 1 << 20,
    seek: str | None = None,
    on_line: Callable[[str], object] | None = None,
) -> Output:
    command = [sys.executable, "-S", "-c", program]
    pattern = None if seek is None else Expression(seek)
    with (
        Child(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as child,
        Output(
            child.process.stdout,
            log=log,
            log_bytes=log_bytes,
            seek=pattern,
            on_line=on_line,
        ) as output,
    ):
        ended = child.wait(10)
        assert ended is not None
        assert ended.ok
    return output


def test_lines_come_in_order_and_the_last_needs_no_end(tmp_path: Path) -> None:
    lines: list[str] = []
    log = tmp_path / "new" / "log"
    program = "import sys; sys.stdout.write('a\\nb\\r\\n\\nend')"
    output = printed(program, log=log, on_line=lines.append)
    assert lines == ["a", "b", "", "end"]
    assert output.tail(2) == ["", "end"]
    assert output.tail(0) == []
    assert log.read_bytes() == b"a\nb\r\n\nend"
    assert output.problem is None


def test_memory_is_bounded_whatever_is_printed() -> None:
    output = printed("print('x' * 3_000_000); print('y\\n' * 5000, end='')")
    assert output.tail(10**6) == ["y"] * TAIL_LINES
    output = printed("print('x' * 3_000_000); print('y')")
    assert [len(line) for line in output.tail(9)] == [LINE_BYTES, 1]


def test_a_log_is_put_aside_when_it_is_full(tmp_path: Path) -> None:
    log = tmp_path / "log"
    program = (
        "import sys, time\n"
        "for number in range(6):\n"
        "    sys.stdout.write(str(number) * 1000); sys.stdout.flush(); time.sleep(0.02)"
    )
    printed(program, log=log, log_bytes=2500)
    sizes = [len(one.read_bytes()) for one in (log, tmp_path / "log.1")]
    assert max(sizes) <= 2500
    assert log.read_bytes().endswith(b"5" * 1000)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["log", "log.1"]


def test_what_is_no_text_is_shown_all_the_same() -> None:
    output = printed("import sys; sys.stdout.buffer.write(b'\\xff\\xfe\\n')")
    assert output.tail(1) == ["\ufffd\ufffd"]


@pytest.mark.parametrize(
    ("program", "seen"),
    [
        ("print('now ready')", True),
        ("print('now ready', end='')", True),
        ("print('not yet')", False),
        ("print('x' * 5000 + 'ready')", False),
    ],
)
def test_a_pattern_is_sought_in_each_line(program: str, *, seen: bool) -> None:
    assert printed(program, seek="ready$").seen.is_set() is seen


def test_an_unfinished_line_is_looked_at_while_the_program_waits() -> None:
    program = "print('ready', end='', flush=True); import time; time.sleep(60)"
    command = [sys.executable, "-S", "-c", program]
    with (
        Child(command, stdout=subprocess.PIPE) as child,
        Output(child.process.stdout, seek=Expression("^ready$")) as output,
    ):
        assert output.seen.wait(5)
        assert output.tail(1) == ["ready"]


def test_who_keeps_the_pipe_open_does_not_keep_us(tmp_path: Path) -> None:
    # The grandchild has a session of its own, so nothing here ends it.
    note = tmp_path / "pid"
    command = [
        "sh",
        "-c",
        f"setsid sh -c 'echo $$ > {note}; exec sleep 60' & echo done",
    ]
    with Child(command, stdout=subprocess.PIPE) as child:
        begun = time.monotonic()
        with Output(child.process.stdout) as output:
            child.wait(5)
            while not note.exists() or not note.read_text():
                time.sleep(0.01)
        assert time.monotonic() - begun < 5
        assert output.tail(1) == ["done"]
    os.kill(int(note.read_text()), signal.SIGKILL)


def test_a_log_that_cannot_be_written_is_a_warning_and_no_end(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    output = printed("print('a')", log=tmp_path / "file" / "log")
    assert output.problem is not None
    assert output.problem.code == "F002"
    assert output.tail(1) == ["a"]
    output = printed("print('a' * 10**6)", log=Path("/dev/full"))
    assert output.problem is not None
    assert "No space left" in output.problem.what
    assert output.tail(1) == ["a" * LINE_BYTES]


def test_who_shows_lines_may_fail() -> None:
    calls: list[str] = []

    def gone(line: str) -> None:
        calls.append(line)
        raise BrokenPipeError

    output = printed("print('a'); print('b')", on_line=gone)
    assert calls == ["a"]
    assert output.tail(2) == ["a", "b"]


def test_the_first_of_several_to_end() -> None:
    with Child(["sleep", "60"]) as slow, Child(["true"]) as quick:
        assert first_ended([slow, quick], 5) is quick
        assert first_ended([slow], 0.01) is None
        slow.stop()
        assert first_ended([slow, quick]) is slow


def test_the_first_of_several_without_pidfd(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    with Child(["sleep", "60"]) as slow, Child(["sleep", "0.05"]) as quick:
        assert first_ended([slow, quick], 5) is quick
        assert first_ended([slow], 0.01) is None


def test_a_group_that_is_gone_is_not_signalled(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[int, int]] = []
    kill = os.killpg

    def told(group: int, sign: int) -> None:
        sent.append((group, sign))
        kill(group, sign)

    monkeypatch.setattr(os, "killpg", told)
    with Child(["true"]) as child:
        child.wait(5)
        assert sent == [(child.pid, 0)]
    assert sent == [(child.pid, 0)], "its number may be another's by now"


def test_a_second_ctrl_c_does_not_spare_the_child(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    command = ["sh", "-c", "trap '' TERM; echo; sleep 60"]
    with Child(command, stdout=subprocess.PIPE) as child:
        assert child.process.stdout is not None
        child.process.stdout.readline()
        over, calls = child._over, iter([False])

        def impatient(seconds: float | None) -> bool:
            for answer in calls:
                return answer
            raise KeyboardInterrupt

        monkeypatch.setattr(child, "_over", impatient)
        with pytest.raises(KeyboardInterrupt):
            child.stop(grace=60)
        monkeypatch.setattr(child, "_over", over)
        ended = child.wait(5)
        assert ended is not None
        assert ended.returncode == -9


def test_one_that_got_away_and_prints_without_end_holds_nobody_up() -> None:
    yes = subprocess.Popen(["yes"], stdout=subprocess.PIPE)
    output = Output(yes.stdout)
    leaving = threading.Thread(target=output.__exit__, daemon=True)
    try:
        limit = time.monotonic() + 5
        while not output.tail(1):
            assert time.monotonic() < limit
            time.sleep(0.01)
        leaving.start()
        leaving.join(5)
        assert not leaving.is_alive()
    finally:
        yes.kill()
        yes.communicate()
        leaving.join(5)
