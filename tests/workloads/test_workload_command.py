"""`powerkit workload list` and `run` as people and `bench run` call them."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.simulators.commands import Done
from tools.experiments.record import read_runs
from tools.experiments.results import read_result
from tools.traces.allocations import Calls
from tools.traces.memory import read_memory
from tools.workloads.catalogue import BUILTINS

Powerkit = Callable[..., Done]

TINY = "numpy:matmul:16"


def result(powerkit: Powerkit, *options: object) -> dict[str, Any]:
    done = powerkit("workload", "run", *options, "--json")
    assert (done.code, done.err) == (0, "")
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_the_list_says_what_can_run(powerkit: Powerkit) -> None:
    done = powerkit("workload", "list", "--json")
    document = json.loads(done.out)
    assert (done.code, document["schema"]) == (0, "workload-list/1")
    by_name = {one["name"]: one for one in document["workloads"]}
    assert list(by_name) == list(BUILTINS)
    assert by_name["numpy:matmul"]["missing"] == []
    assert by_name["numpy:matmul"]["parameters"][0] == {
        "name": "size",
        "default": 512,
        "min": 8,
        "max": 32768,
    }


def test_the_list_says_what_to_install(
    powerkit: Powerkit, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tools.workloads import requirements

    monkeypatch.setattr(
        requirements, "_present", lambda name: name not in {"onnxruntime", "torch"}
    )
    done = powerkit("workload", "list", "--format", "csv")
    rows = {line.split(",")[0]: line for line in done.out.splitlines()}
    how = "no onnxruntime: pip install 'power-dataset-registry[workloads]'"
    assert how in rows["onnx:FILE"]
    assert "no torch: pip install torch" in rows["torch:matmul:size=512"]
    assert rows["sleep:seconds=0.1"].endswith("yes")


def test_a_result_for_people_and_for_programs(powerkit: Powerkit) -> None:
    done = powerkit("workload", "run", TINY, "-n", 3)
    assert (done.code, done.err) == (0, "")
    assert "3 iterations, median" in done.out
    assert "flops a second" in done.out
    document = result(powerkit, f"{TINY}:float32", "--seed", 4, "--warm-up", 2)
    assert document["schema"] == "workload-result/1"
    assert document["workload"] == "numpy:matmul"
    assert document["parameters"] == {"size": 16, "type": "float32"}
    assert (document["seed"], document["threads"], document["warm_up"]) == (4, 1, 2)
    assert (document["iterations"], document["amount"]) == (10, 10 * 2 * 16**3)
    assert set(document["phases"]) == {
        "import",
        "open",
        "data",
        "init",
        "warm_up",
        "run",
    }
    rate = document["amount"] / document["phases"]["run"]
    assert document["performance"] == pytest.approx(rate)
    times = document["iteration_seconds"]
    assert 0 < times["min"] <= times["median"] <= times["p95"] <= times["max"]


def test_files_for_bench(powerkit: Powerkit, tmp_path: Path) -> None:
    trace, where = tmp_path / "t.json.gz", tmp_path / "r.json"
    options = ("--trace", trace, "--result", where, "--init", "async", "--warm-up", 1)
    document = result(powerkit, TINY, "-n", 2, *options)
    assert json.loads(where.read_text()) == document
    read, complaints = read_result(where)
    assert complaints == ()
    assert read.phases == document["phases"]
    assert read.performance == document["performance"]
    assert read.performance_unit == "flops"
    loaded = json.loads(gzip.decompress(trace.read_bytes()))
    assert loaded["otherData"]["eager_mode_async"] is True
    assert loaded["otherData"]["workload"] == "numpy:matmul"
    assert loaded["baseTimeNanoseconds"] > 1.6e18
    spans = [one for one in loaded["traceEvents"] if one["ph"] == "X"]
    names = [one["name"] for one in spans]
    assert sorted(names) == sorted(
        [*document["phases"], "warm-up", "iteration", "iteration"]
    )
    at = {one["name"]: one for one in spans}
    run = at["run"]
    for one in spans:
        if one["name"] == "iteration":
            assert run["ts"] <= one["ts"]
            assert one["ts"] + one["dur"] <= run["ts"] + run["dur"] + 0.001
    assert at["init"]["tid"] != at["run"]["tid"]
    for name, seconds in document["phases"].items():
        assert at[name]["dur"] == pytest.approx(seconds * 1e6, abs=0.01)
    threads = {
        one["args"]["name"]
        for one in loaded["traceEvents"]
        if one["name"] == "thread_name"
    }
    assert threads == {"main", "init"}
    (use,) = read_memory(trace, Calls()).rows
    assert (use.total_bytes, use.leaked_bytes) == (3 * 8 * 16**2, 0)
    assert use.device == "cpu"


def test_variables_of_a_run_are_taken(
    powerkit: Powerkit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POWERKIT_INIT", "lazy")
    monkeypatch.setenv("POWERKIT_RESULT_FILE", str(tmp_path / "r.json"))
    monkeypatch.setenv("POWERKIT_TRACE_FILE", str(tmp_path / "t.json"))
    document = result(powerkit, TINY)
    assert document["init"] == "lazy"
    assert json.loads((tmp_path / "r.json").read_text()) == document
    assert json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    assert result(powerkit, TINY, "--init", "eager")["init"] == "eager"


@pytest.mark.parametrize(
    ("text", "threads"), [("3", 3), ("2,1", 2), ("", 1), ("no", 1), ("0", 1)]
)
def test_threads_are_as_openmp_is_told(
    powerkit: Powerkit, monkeypatch: pytest.MonkeyPatch, text: str, threads: int
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", text)
    assert result(powerkit, "sleep:0", "-n", 1)["threads"] == threads
    assert result(powerkit, "sleep:0", "-n", 1, "--threads", 5)["threads"] == 5


def test_a_duration(powerkit: Powerkit) -> None:
    document = result(powerkit, "sleep:0.002", "--duration", 0.02)
    assert 2 <= document["iterations"] <= 11


def test_a_model_with_open_extents(powerkit: Powerkit, model: Path) -> None:
    document = result(powerkit, f"onnx:{model}", "--dim", "batch=2", "-n", 3)
    assert (document["amount"], document["performance_unit"]) == (6, "images")


@pytest.mark.parametrize(
    "options",
    [
        ("--dim", "batch"),
        ("--dim", "batch=0"),
        ("--dim", "=3"),
        ("--dim", "a=1", "--dim", "a=2"),
        ("--iterations", "0"),
        ("--init", "later"),
        ("--threads", "0"),
        ("--seed", "-1"),
    ],
)
def test_options_that_cannot_be(powerkit: Powerkit, options: tuple[str, ...]) -> None:
    assert powerkit("workload", "run", TINY, *options).code == 2


def test_findings_write_nothing(powerkit: Powerkit, tmp_path: Path) -> None:
    options = ("--result", tmp_path / "r.json", "--trace", tmp_path / "t.json")
    done = powerkit("workload", "run", "numpy:inverse", *options, "--json")
    assert done.code == 1
    (found,) = json.loads(done.out)["findings"]
    assert found["code"] == "W002"
    assert "numpy:matmul" in found["what"]
    assert list(tmp_path.iterdir()) == []


def test_a_result_that_cannot_be_written(powerkit: Powerkit, tmp_path: Path) -> None:
    where = tmp_path / "no" / "r.json"
    done = powerkit("workload", "run", TINY, "--result", where)
    assert done.code == 1
    assert "U001" in done.out + done.err


def test_bench_runs_workloads_of_the_kit(tmp_path: Path) -> None:
    """Two real processes, one in the other, as people start them."""
    words = "bench run --workload numpy:matmul:32 --init lazy --trace -n 1"
    root = Path(__file__).parents[2]
    environment = os.environ | {
        "POWERKIT_PROFILE_OUTPUT_DIRECTORY": str(tmp_path / "out"),
        "PYTHONPATH": str(root),
        "HOME": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "-m", "tools", *words.split()],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    (record,) = (tmp_path / "out").rglob("run.json")
    (run,) = read_runs(record.parents[1])
    assert run.accepted
    assert run.init.value == "lazy"
    assert {"import", "data", "init", "run"} <= set(run.phases)
    assert run.phases["init"] <= run.phases["run"]  # it is in the first iteration
    assert run.performance is not None
    assert run.performance_unit == "flops"
    assert run.file("trace.json.gz") is not None
