"""What `powerkit bench run` records besides: samples, traces, services."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.experiments.experiment_samples import child, yaml_file
from tests.simulators.commands import Done
from tools.experiments.record import read_runs

Bench = Callable[..., Done]

TRACE = '{"traceEvents":[{"name":"a","ph":"X","ts":%s,"dur":2,"pid":1,"tid":1}]}'


def test_monitors_are_recorded(bench: Bench, folder: Path) -> None:
    options = ("--monitor", "cpu,memory", "--monitor-interval-ms", 10)
    assert bench(*options, command=child("sleep 0.03")).code == 0
    (run,) = read_runs(folder)
    assert {one["source"] for one in run.monitors["series"]} == {"cpu", "memory"}
    assert run.file("samples.csv") is not None


def test_a_monitor_that_is_not_here_is_refused_before_anything_runs(
    bench: Bench, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tools.readings.series import Missing
    from tools.recording import opening

    gone = (None, (Missing("nvml", "", "there is no driver"),))
    monkeypatch.setitem(opening._OPENERS, "nvml", lambda **_: gone)
    done = bench("--monitor", "cpu,nvml", command=("true",))
    assert done.code == 1
    assert "O001 nvml: there is no driver" in done.out
    assert not folder.exists()
    assert bench("--monitor", "nothing", command=("true",)).code == 1
    done = bench("--monitor", "all", "-n", 2, command=("true",))
    assert done.code == 0
    assert done.err.count("not monitored: nvml: there is no driver\n") == 1


def test_traces_are_kept_and_combined(bench: Bench, folder: Path) -> None:
    program = (
        f'printf \'{TRACE % "%s"}\' "$POWERKIT_ITERATION" > "$POWERKIT_TRACE_FILE"'
    )
    done = bench("-n", 2, "--trace", "--combine", command=child(program))
    assert (done.code, done.err) == (0, "")
    combined = folder / "combined.json.gz"
    assert f"combined: {combined}" in done.out
    events = json.loads(gzip.decompress(combined.read_bytes()))["traceEvents"]
    slices = [one for one in events if one["ph"] == "X"]
    assert len({one["pid"] for one in slices}) == 2
    assert {float(one["ts"]) for one in slices} == {0.0}
    done = bench("--combine", "--append", command=("true",))
    assert "B064" in done.out


def test_a_bad_trace_is_told_of_without_the_place_of_results(
    bench: Bench, folder: Path
) -> None:
    done = bench("--trace", command=child('printf nonsense > "$POWERKIT_TRACE_FILE"'))
    assert done.code == 1
    (run,) = read_runs(folder)
    assert run.problems == ("V002 trace.json: it is text, but no JSON",)
    assert run.folder is not None
    assert str(folder) not in (run.folder / "run.json").read_text()


def test_raw_traces_are_not_read(bench: Bench, folder: Path) -> None:
    program = 'printf nonsense > "$POWERKIT_TRACE_FILE"'
    assert bench("--trace", "--raw", command=child(program)).code == 0
    assert bench("--trace", "--append", command=child(program)).code == 1


def test_pins_devices_and_trims_variables(bench: Bench, folder: Path) -> None:
    options = ("--trims-environment", "--original", "--visible-devices", "1", "--debug")
    more = ("--no-pin", "--no-profile-memory", "--eager-async")
    assert bench(*options, *more, command=child("env")).code == 0
    (run,) = read_runs(folder)
    assert run.environment == {
        "CUDA_VISIBLE_DEVICES": "1",
        "GLOG_logtostderr": "1",
        "GLOG_stderrthreshold": "0",
        "GLOG_v": "0",
        "UPR_CLIENT": "1",
        "UPR_ENABLED": "false",
        "UPR_INITIALIZE_EAGER_ASYNC": "true",
    }
    path = run.file("stdout")
    assert path is not None
    assert f"UPR_RUN_ID={run.run_id}\n" in path.read_text()


def test_a_time_limit(
    bench: Bench, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = bench("--time-limit", 0.1, command=("sleep", "60"))
    assert done.code == 1
    assert "it was ended after 0.1 s" in done.out
    monkeypatch.setenv("POWERKIT_RUN_TIMEOUT_SECONDS", "0.1")
    done = bench("--append", command=("sleep", "60"))
    assert [run.timed_out for run in read_runs(folder)] == [True, True]


def test_a_service_runs_meanwhile_and_is_recorded(bench: Bench, folder: Path) -> None:
    service = yaml_file(
        Path("service.yaml"),
        "name: server\n"
        "command: [sh, -c, 'touch up; echo devices $CUDA_VISIBLE_DEVICES; echo ready;"
        " exec sleep 60']\n"
        "ready: regex:^ready$\n",
    )
    devices = ("--visible-devices", "3")
    done = bench("--service", service, *devices, "-n", 2, command=child("test -f up"))
    assert (done.code, done.err) == (0, "")
    runs = read_runs(folder)
    assert len({run.service["service_id"] for run in runs if run.service}) == 1
    assert runs[0].service is not None
    assert "log" not in runs[0].service
    assert "devices 3\nready" in (folder / "service.log").read_text()
    with pytest.raises(ProcessLookupError):
        os.kill(int(runs[0].service["pid"]), 0)


def test_a_service_that_does_not_start_is_a_finding(bench: Bench, folder: Path) -> None:
    service = yaml_file(
        Path("service.yaml"),
        "name: server\ncommand: [sh, -c, 'exit 3']\nready: regex:ready\n",
    )
    done = bench("--service", service, command=("true",))
    assert done.code == 1
    assert "F014" in done.out


def test_a_service_that_ends_early_is_a_finding(bench: Bench, folder: Path) -> None:
    service = yaml_file(
        Path("service.yaml"),
        "name: server\n"
        "command: [sh, -c, 'touch up; echo ready; until [ -e stop ]; do sleep 0.01;"
        " done; rm up']\n"
        "ready: regex:ready\n",
    )
    wait = "touch stop; while [ -e up ]; do sleep 0.01; done; sleep 0.1"
    done = bench("--service", service, command=child(wait))
    assert done.code == 1
    assert "F021" in done.out
    assert len(read_runs(folder)) == 1


def test_results_are_published(bench: Bench, folder: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    done = bench("--publish", store.as_uri(), command=("true",))
    assert (done.code, done.err) == (0, "")
    (run,) = read_runs(folder)
    assert list(store.rglob(f"{run.run_id}*"))
