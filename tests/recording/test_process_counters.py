"""A process and what it started, on a /proc of our own and on the real one."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from tests.recording.conftest import row
from tests.simulators.procfs import FakeProc
from tools.counters.process import ProcessSource
from tools.recording.monitor import open_sources


@pytest.fixture(autouse=True)
def _searches_take_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    still = SimpleNamespace(monotonic_ns=lambda: 0)
    monkeypatch.setattr("tools.counters.process.time", still)


def test_a_process_and_what_it_started(proc: FakeProc) -> None:
    proc.process(7, parent=1, ticks=10, waited=5, pages=10, threads=3)
    proc.process(8, parent=7, ticks=20, pages=20)
    proc.process(9, parent=8, ticks=30, pages=30)
    proc.process(10, parent=1, ticks=10_000)  # of somebody else
    source = ProcessSource(proc.root, 7)
    assert row(source) == {
        "process_cpu_seconds_total": 65,
        "process_memory_bytes": 60 * os.sysconf("SC_PAGE_SIZE"),
        "process_threads": 5,
        "process_count": 3,
    }


def test_time_of_the_dead_is_kept(proc: FakeProc) -> None:
    proc.process(7, ticks=10)
    proc.process(8, parent=7, ticks=20)
    source = ProcessSource(proc.root, 7)
    counted = [row(source)["process_cpu_seconds_total"]]
    proc.end(8)
    proc.process(7, ticks=11, waited=22)  # it waited for 8, which used 2 more
    counted.append(row(source)["process_cpu_seconds_total"])
    proc.process(9, parent=7, ticks=40, started=2000)
    counted.append(row(source, 10**9)["process_cpu_seconds_total"])
    proc.end(9)  # nobody waited for 9
    counted.append(row(source)["process_cpu_seconds_total"])
    proc.process(7, ticks=12, waited=22)
    counted.append(row(source)["process_cpu_seconds_total"])
    assert counted == [30, 33, 73, 73, 74]


def test_new_processes_are_looked_for_now_and_then(proc: FakeProc) -> None:
    proc.process(7, ticks=1)
    source = ProcessSource(proc.root, 7)
    assert row(source, 10**9)["process_count"] == 1
    proc.process(8, parent=7)
    assert row(source, 10**9 + 19_999_999)["process_count"] == 1
    # It may be later where the search itself took long.
    assert row(source, 20 * 10**9)["process_count"] == 2


def test_the_kernels_lists_of_children_are_taken_where_they_are(
    proc: FakeProc,
) -> None:
    proc.process(7, ticks=1, children="8 ")
    proc.process(8, parent=7, ticks=2, children="")
    proc.process(9, parent=8, ticks=4)  # of whom its parent's list does not tell
    source = ProcessSource(proc.root, 7)
    assert row(source)["process_count"] == 2
    proc.process(8, parent=7, ticks=2, children="9 ")
    found = row(source, 10**9)
    assert (found["process_count"], found["process_cpu_seconds_total"]) == (3, 7)


def test_a_dear_search_is_rarer(
    proc: FakeProc, monkeypatch: pytest.MonkeyPatch
) -> None:
    proc.process(7)
    source = ProcessSource(proc.root, 7)
    ticking = iter(range(0, 10**12, 20_000_000))  # each search takes 20 ms
    clock = SimpleNamespace(monotonic_ns=lambda: next(ticking))
    monkeypatch.setattr("tools.counters.process.time", clock)
    assert row(source, 10**9)["process_count"] == 1
    proc.process(8, parent=7)
    assert row(source, 3 * 10**9 - 1)["process_count"] == 1
    assert row(source, 3 * 10**9)["process_count"] == 2


def test_an_orphan_is_still_followed(proc: FakeProc) -> None:
    proc.process(7, ticks=1)
    proc.process(8, parent=7, ticks=2)
    source = ProcessSource(proc.root, 7)
    assert row(source)["process_count"] == 2
    proc.end(7)
    proc.process(8, parent=1, ticks=5)
    found = row(source, 10**9)
    assert (found["process_count"], found["process_cpu_seconds_total"]) == (1, 5)


def test_a_number_that_another_process_got_is_not_followed(proc: FakeProc) -> None:
    proc.process(7, ticks=1, started=1000)
    source = ProcessSource(proc.root, 7)
    assert row(source)["process_count"] == 1
    proc.process(7, ticks=9000, started=2000)
    assert row(source, 10**9)["process_count"] is None


def test_before_and_after_a_process_nothing_is_read_and_nothing_failed(
    proc: FakeProc,
) -> None:
    source = ProcessSource(proc.root)
    assert set(row(source).values()) == {None}
    proc.process(7)
    source.follow(7)
    assert row(source)["process_count"] == 1
    proc.end(7)
    assert set(row(source).values()) == {None}
    assert not source.gaps.counts
    source.follow(99)
    assert set(row(source).values()) == {None}
    why = "the process ended before it was seen"
    assert source.gaps.counts == {(one.name, why): 1 for one in source.series}


@pytest.mark.parametrize("content", ["", "7 (a) S", "7 (a) S 1 x y", "\0" * 9000])
def test_a_stat_that_cannot_be_read_is_no_process(proc: FakeProc, content: str) -> None:
    proc.process(7)
    (proc.root / "7/stat").write_text(content)
    assert row(ProcessSource(proc.root, 7))["process_count"] is None


def test_a_real_process_and_its_child() -> None:
    program = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'input()'],"
        " stdin=subprocess.PIPE)\n"
        "sum(range(3 * 10**6))\n"
        "print('ready', flush=True)\n"
        "input()\n"
        "child.communicate(b'\\n')\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        (source,) = open_sources(["process"], pid=process.pid).sources
        found = row(source, time.monotonic_ns())
        process.communicate("\n")
    assert found["process_count"] == 2
    assert found["process_threads"] == 2
    assert (found["process_cpu_seconds_total"] or 0) > 1
    assert (found["process_memory_bytes"] or 0) > 1 << 20
