"""Runs under way: recorded whatever happens, and ended whole."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.experiments.experiment_samples import child, reporting
from tests.simulators.living import alive
from tools.experiments import performing
from tools.experiments.experiment import perform_all
from tools.experiments.launching import prepare
from tools.experiments.performing import Bench
from tools.experiments.record import Run, read_runs
from tools.experiments.spec import spec_of


def performed(
    folder: Path, program: str, time_limit: float = 60, **fields: Any
) -> list[Run]:
    """Runs of a small program, as they were recorded."""
    work = {"name": "work", "command": child(program)}
    spec = spec_of({"name": "x", "workloads": [work]} | fields, "test")
    bench = Bench(spec, folder, time_limit, "all", 20)
    folder.mkdir(exist_ok=True)
    runs = perform_all(prepare(spec).orders, bench, lambda *_: None)
    read = read_runs(folder)
    by_name = {run.run_id: run for run in runs}
    assert {run.run_id: run for run in read} == by_name
    return runs


def test_a_run_is_recorded_with_its_output(tmp_path: Path) -> None:
    (run,) = performed(tmp_path, "echo out; echo err >&2")
    assert run.accepted
    assert run.folder is not None
    assert (run.folder / "stdout").read_text() == "out\n"
    assert (run.folder / "stderr").read_text() == "err\n"
    assert {one.path: one.bytes for one in run.files} == {"stdout": 4, "stderr": 4}
    assert run.wall_seconds > 0
    assert run.started.startswith("20")
    assert run.command == child("echo out; echo err >&2")


def test_cold_and_warm_runs_are_told_apart(tmp_path: Path) -> None:
    assert [run.warm for run in performed(tmp_path, "true", iterations=3)] == [
        False,
        True,
        True,
    ]


def test_a_failed_run_is_recorded_and_the_others_still_run(tmp_path: Path) -> None:
    runs = performed(tmp_path, 'exit "$(($POWERKIT_ITERATION % 2))"', iterations=4)
    assert [run.returncode for run in runs] == [1, 0, 1, 0]
    assert [run.accepted for run in runs] == [False, True, False, True]


def test_a_program_that_is_not_there_is_a_failed_run(tmp_path: Path) -> None:
    work = {"name": "work", "command": ["no-such-program"]}
    run, again = performed(tmp_path, "", workloads=[work], iterations=2)
    assert run.returncode is None
    assert not again.warm
    assert run.max_rss_bytes is None
    assert run.problems == ("F001 no-such-program: No such file or directory",)


def test_a_run_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    program = f"sleep 60 & echo $! > {note}; wait"
    (run,) = performed(tmp_path / "runs", program, 0.5)
    assert run.timed_out
    assert run.problems == ("it was ended after 0.5 s",)
    assert 0.5 <= run.wall_seconds < 30
    limit = time.monotonic() + 5
    while alive(int(note.read_text())):
        assert time.monotonic() < limit
        time.sleep(0.01)


def test_a_run_that_prints_without_end_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(performing, "OUTPUT_BYTES", 1 << 16)
    (run,) = performed(tmp_path, "while :; do echo 0123456789abcdef; done >&2")
    assert run.problems == ("it was ended since it printed over 65536 bytes",)
    assert not run.accepted
    assert run.wall_seconds < 30


def test_what_a_child_says_of_itself(tmp_path: Path) -> None:
    said = reporting(
        phases={"init": 0.05, "run": 1.5},
        performance=830,
        performance_unit="op/s",
        own="ignored",
    )
    (run,) = performed(tmp_path, said)
    assert run.accepted
    assert run.phases == {"init": 0.05, "run": 1.5}
    assert (run.performance, run.performance_unit) == (830.0, "op/s")


@pytest.mark.parametrize(
    ("result", "why"),
    [
        ('{"phases": {"run": -1}}', "B040 result.json: phases.run: Input should be gr"),
        ('{"phases": [1]}', "B040 result.json: phases: Input should be a valid dict"),
        ('{"performance": 1e999}', "B040 result.json: performance: Input should be a"),
        ('{"performance": NaN}', "B002 result.json: NaN is no number of JSON"),
        ("[1]", "B002 result.json: the top level is no object"),
        ("", "B002 result.json: Expecting value"),
    ],
)
def test_a_result_that_makes_no_sense_is_a_failed_run(
    tmp_path: Path, result: str, why: str
) -> None:
    program = f"printf '%s' '{result}' > \"$POWERKIT_RESULT_FILE\""
    (run,) = performed(tmp_path, program)
    assert run.returncode == 0
    assert not run.accepted
    assert run.problems[0].startswith(why)


def test_a_result_that_is_a_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    (run,) = performed(tmp_path, 'mkfifo "$POWERKIT_RESULT_FILE"')
    assert run.problems[0].startswith("B001")


def test_init_is_a_phase_by_itself(tmp_path: Path) -> None:
    """A child with 50 ms of initialisation: eager leaves it out of the run's phase."""
    program = (
        "case $POWERKIT_INIT in eager) a=0.05 b=0.2;; async) a=0.05 b=0.21;;"
        " lazy) a=0 b=0.25;; esac;"
        'printf \'{"phases":{"init":%s,"run":%s}}\' $a $b > "$POWERKIT_RESULT_FILE"'
    )
    for init, phase in (("lazy", 0.25), ("eager", 0.2), ("async", 0.21)):
        (run,) = performed(tmp_path / init, program, init=init)
        assert run.init == init
        assert run.phases["run"] == phase


def test_runs_go_side_by_side(tmp_path: Path) -> None:
    # Each waits for all the others, however slow the machine is.
    there = tmp_path / "there"
    there.mkdir()
    program = f"cd {there}; : > $$; until set -- *; [ $# -eq 6 ]; do sleep 0.01; done"
    runs = performed(tmp_path / "runs", program, iterations=6, concurrency=6)
    assert all(run.accepted for run in runs)
    spans = sorted(
        (run.started_monotonic_ns, run.started_monotonic_ns + run.wall_seconds * 1e9)
        for run in runs
    )
    assert spans[1][0] < spans[0][1]
    assert max(start for start, _ in spans) < min(end for _, end in spans)


def test_warm_ups_and_measured_runs_never_go_on_at_once(tmp_path: Path) -> None:
    runs = performed(
        tmp_path, "sleep 0.0$POWERKIT_ITERATION", iterations=2, warm_up=3, concurrency=2
    )
    ends = [
        run.started_monotonic_ns + run.wall_seconds * 1e9 for run in runs if run.warm_up
    ]
    assert len(ends) == 3
    measured = [run.started_monotonic_ns for run in runs if not run.warm_up]
    assert max(ends) <= min(measured)


def test_variants_of_a_comparison_never_go_on_at_once(tmp_path: Path) -> None:
    work = {"name": "work", "command": child("sleep 0.05")}
    fields = {"variants": {"a": {}, "b": {}}, "iterations": 2, "concurrency": 4}
    spec = spec_of({"name": "x", "workloads": [work]} | fields, "test")
    bench = Bench(spec, tmp_path, 60, "all", 20, comparison="one")
    runs = perform_all(prepare(spec).orders, bench, lambda *_: None)
    ends = [
        run.started_monotonic_ns + run.wall_seconds * 1e9
        for run in runs
        if run.variant == "a"
    ]
    assert len(ends) == 2
    others = [run.started_monotonic_ns for run in runs if run.variant == "b"]
    assert max(ends) <= min(others)


def test_memory_below_our_own_is_unknown(tmp_path: Path) -> None:
    (run,) = performed(tmp_path / "small", "true")
    assert run.max_rss_bytes is None
    wanted = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 + (64 << 20)
    program = f"{sys.executable} -S -c 'x = bytearray({wanted})'"
    (run,) = performed(tmp_path / "large", f"exec {program}")
    assert run.max_rss_bytes is not None
    assert wanted <= run.max_rss_bytes < wanted + (32 << 20)


TRACE = '{"traceEvents":[{"name":"a","ph":"X","ts":1,"dur":2,"pid":1,"tid":1},]'


def test_a_trace_is_labelled_and_compressed(tmp_path: Path) -> None:
    import gzip

    program = f"printf '%s' '{TRACE}' > \"$POWERKIT_TRACE_FILE\""
    (run,) = performed(tmp_path, program, trace=True, description="about it")
    assert run.accepted
    assert run.trace is not None
    assert (run.trace["events"], run.trace["unterminated"]) == (1, True)
    path = run.file("trace.json.gz")
    assert path is not None
    document = json.loads(gzip.decompress(path.read_bytes()))
    label = document["otherData"]["powerkit"]
    assert label["run_id"] == run.run_id
    assert label["experiment_description"] == "about it"
    assert label["end_to_end_process_time"] == round(run.wall_seconds * 1e9)
    assert document["traceEvents"][0]["name"] == "a"
    assert not (path.parent / "trace.json").exists()


def test_a_raw_trace_is_left_as_it_is(tmp_path: Path) -> None:
    program = 'printf broken > "$POWERKIT_TRACE_FILE"'
    (run,) = performed(tmp_path, program, trace=True, postprocess=False)
    assert run.accepted
    path = run.file("trace.json")
    assert path is not None
    assert path.read_text() == "broken"


def test_a_trace_that_is_none_or_not_there_is_a_problem(tmp_path: Path) -> None:
    (run,) = performed(tmp_path / "one", "true", trace=True)
    assert run.problems[0].startswith("B044")
    program = 'printf "# tracer: nop" > "$POWERKIT_TRACE_FILE"'
    (run,) = performed(tmp_path / "two", program, trace=True)
    assert run.problems[0].startswith("V00")
    assert run.file("trace.json") is not None


def test_monitors_see_the_run(tmp_path: Path) -> None:
    (run,) = performed(tmp_path, "sleep 0.06", monitors=["cpu", "memory", "process"])
    assert run.accepted
    sources = {one["source"] for one in run.monitors["series"]}
    assert sources == {"cpu", "memory", "process"}
    assert run.monitors["rows"] >= 2
    after = run.monitors["begin_monotonic_ns"] - run.started_monotonic_ns
    assert 0 < after < run.wall_seconds * 1e9
    assert run.file("samples.csv") is not None


def test_an_interrupt_ends_the_runs_and_records_them(tmp_path: Path) -> None:
    spec = spec_of(
        {
            "name": "x",
            "workloads": [{"name": "work", "command": "sleep 60"}],
            "iterations": 5,
            "concurrency": 2,
        },
        "test",
    )
    bench = Bench(spec, tmp_path, 0, "all", 20)
    main = threading.get_ident()
    timer = threading.Timer(0.2, signal.pthread_kill, (main, signal.SIGINT))
    timer.start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        perform_all(prepare(spec).orders, bench, lambda *_: None)
    assert time.monotonic() - begun < 30
    runs = read_runs(tmp_path)
    assert len(runs) == 2
    assert {run.problems for run in runs} == {("it was interrupted",)}
    assert {run.returncode for run in runs} == {-signal.SIGTERM}


def test_the_command_ends_whole_at_sigterm(apart: Path, repository: Path) -> None:
    note = Path("pid").resolve()
    words = ["bench", "run", "-n", "3", "--profile-output", "x", "--host-label", "host"]
    program = f"echo $$ > {note}; sleep 60"
    process = subprocess.Popen(
        [sys.executable, "-m", "tools", *words, "--", *child(program)],
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(repository)},
    )
    limit = time.monotonic() + 20
    while not (note.exists() and note.read_text().strip()):
        assert time.monotonic() < limit
        time.sleep(0.02)
    process.terminate()
    _, said = process.communicate(timeout=20)
    assert process.returncode == 128 + signal.SIGTERM
    assert b"ended by signal 15" in said
    assert not alive(int(note.read_text()))
    (run,) = read_runs(apart / "host" / "x")
    assert run.problems == ("it was interrupted",)
