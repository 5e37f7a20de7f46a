"""Several threads: results in order, errors at once, and no waiting after Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.simulators.file_server import FileServer
from tools.assets.crews import each

ROOT = Path(__file__).resolve().parents[2]


def test_results_come_in_order_whoever_is_first() -> None:
    second = threading.Event()

    def work(number: int) -> int:
        if number == 0:
            assert second.wait(5)
        second.set()
        return number * number

    assert each(work, range(5), 2) == [0, 1, 4, 9, 16]
    assert each(work, [], 2) == []


def test_no_more_at_once_than_was_said() -> None:
    lock = threading.Lock()
    now, most = 0, 0

    def work(_: int) -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        threading.Event().wait(0.01)
        with lock:
            now -= 1

    each(work, range(12), 3)
    assert most == 3


def test_an_error_ends_it() -> None:
    begun: list[int] = []

    def work(number: int) -> None:
        begun.append(number)
        raise ValueError(number)

    with pytest.raises(ValueError, match="0"):
        each(work, range(1000), 1)
    assert len(begun) < 1000


def test_ctrl_c_is_not_held_up_by_who_works() -> None:
    go_on, names = threading.Event(), []

    def work(_: int) -> None:
        names.append(threading.current_thread())
        os.kill(os.getpid(), signal.SIGINT)
        go_on.wait(30)

    try:
        with pytest.raises(KeyboardInterrupt):
            each(work, [1, 2], 1)
        assert [thread.daemon for thread in names] == [True]
    finally:
        go_on.set()


@pytest.mark.parametrize("command", ["assets", "fetch"])
def test_ctrl_c_ends_a_fetch_of_a_server_that_stalls(
    command: str, tmp_path: Path, web: FileServer
) -> None:
    data = b"x" * 1000
    web.files["/x"] = data
    web.stall["/x"] = [500] * 9
    digest = "0" * 64
    (tmp_path / "x.yaml").write_text(
        "schema: asset-manifest/1\nname: x\nlicence: CC0-1.0\nfiles:\n- path: x\n"
        f"  urls: ['{web.url('/x')}']\n  sha256: '{digest}'\n  bytes: 1000\n"
    )
    words = {
        "assets": ["assets", "fetch", "--manifests", "x.yaml", "--directory", "kept"],
        "fetch": ["fetch", web.url("/x"), "--sha256", digest, "--out", "kept"],
    }[command]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-m", "tools", *words],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        part = None
        for _ in range(3000):
            part = next(tmp_path.glob("kept/**/.x.*.part"), None)
            if part is not None and part.stat().st_size == 500:
                break
            threading.Event().wait(0.01)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=10)
    assert (process.returncode, out) == (130, b"")
    assert part is not None
    assert part.read_bytes() == data[:500], "the next attempt goes on from there"
