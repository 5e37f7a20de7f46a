"""`powerkit load run` as it is called, and however it ends."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.load.planned import Powerkit, planned
from tests.simulators.commands import Done
from tests.simulators.web import serving
from tools.load.results import write_result

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.usefixtures("folder")


def run(powerkit: Powerkit, *options: object) -> tuple[Done, dict[str, Any]]:
    done = powerkit(
        *("load", "run", "plan.jsonl", "--sut", "python:sut_of_this_test:ask"),
        *("-o", "result.json", *options),
    )
    return done, json.loads(Path("result.json").read_text())


def test_run_on_a_function(powerkit: Powerkit) -> None:
    planned(powerkit, "--items", "a,b", "--popularity", "zipf", "-n", 30)
    done, facts = run(powerkit, "--trace", "trace.json")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("closed: valid\nqueries      30 in ")
    assert facts["schema"] == "load-result/1"
    assert facts["sut"] == "python:sut_of_this_test:ask"
    assert facts["plan"]["file"] == "plan.jsonl"
    assert len(facts["plan"]["sha256"]) == 64
    assert facts["valid"] is True
    assert json.loads(Path("trace.json").read_text())["traceEvents"]


@pytest.mark.parametrize(
    ("scenario", "queries"),
    [("single-stream", 30), ("multi-stream", 5), ("offline", 30), ("closed", 30)],
)
def test_run_in_every_scenario(powerkit: Powerkit, scenario: str, queries: int) -> None:
    planned(powerkit, "--items", 3, "--popularity", "equal", "-n", 30)
    _, facts = run(powerkit, "--scenario", scenario, "--samples-per-query", 6)
    assert (facts["scenario"], facts["queries"]) == (scenario, queries)
    assert facts["valid"], facts["reasons"]


def test_run_on_a_web_service_in_real_time(powerkit: Powerkit) -> None:
    planned(
        powerkit,
        *("--items", "a,b", "--popularity", "equal", "--arrivals", "constant:rate=50"),
        *("-n", 20),
    )
    with serving(lambda path: (200, {}, path.encode())) as address:
        done = powerkit(
            *("load", "run", "plan.jsonl", "--sut", f"{address}/x?m={{item}}"),
            *("--rate-tolerance", 0.5, "--json"),
        )
    facts = json.loads(done.out)
    assert facts["rate"]["planned"] == pytest.approx(50)
    assert facts["failed"] == 0
    assert facts["duration_seconds"] > 0.39
    assert facts["latency_seconds"]["count"] == 20
    assert facts["sut"].endswith("/x?m=***")  # what stands in a query may be secret


def test_run_on_a_program(powerkit: Powerkit) -> None:
    planned(powerkit, "--items", "a,b", "-o", "plan.jsonl")
    done = powerkit("load", "run", "plan.jsonl", "--sut", "cmd:test {item} = a")
    assert done.code == 1
    assert "1 of 2 requests failed" in done.out
    assert "error        1 × exit code 1" in done.out


def test_a_run_that_is_not_valid_fails_and_is_written(powerkit: Powerkit) -> None:
    planned(powerkit, "--items", 2, "--popularity", "equal", "-n", 30)
    done, facts = run(powerkit, "--target-latency", 60)
    assert done.code == 1
    assert facts["reasons"] == ["429 more queries would prove the latency"]
    assert "NOT VALID" in done.out


def test_run_posts_a_body(powerkit: Powerkit) -> None:
    planned(powerkit, "--items", 1)
    Path("body").write_bytes(b"\xff")
    done = powerkit(
        "load", "run", "plan.jsonl", "--sut", "http://localhost:1/", "--body", "body"
    )
    assert done.code == 2
    assert "body is no UTF-8 text" in done.err


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--sut", "nonsense"), "Q011"),
        (("--sut", "cmd:true", "--scenario", "server"), "Q013"),
        (("--sut", "cmd:true", "--max-in-flight", "0"), "Q013"),
    ],
)
def test_run_refuses_before_it_begins(
    powerkit: Powerkit, options: tuple[str, ...], code: str
) -> None:
    planned(powerkit, "--items", 1)
    done = powerkit("load", "run", "plan.jsonl", *options, "-o", "result.json")
    assert done.code == 1
    assert done.out.startswith(f"error {code} ")
    assert not Path("result.json").exists()


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_ended_leaves_what_it_has(
    powerkit: Powerkit, folder: Path, sign: signal.Signals
) -> None:
    planned(
        powerkit,
        *("--items", "a", "--popularity", "equal", "--arrivals", "constant:rate=50"),
        *("--duration", 60),
    )
    (folder / "note_of_this_test.py").write_text(
        "import pathlib, time\ndef ask(item):\n    pathlib.Path('begun').touch()\n"
    )
    command = [
        *(sys.executable, "-m", "tools", "load", "run", "plan.jsonl"),
        *("--sut", "python:note_of_this_test:ask", "-o", "result.json"),
    ]
    env = os.environ | {"PYTHONPATH": f"{ROOT}:{folder}"}
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE) as process:
        limit = time.monotonic() + 60
        while not Path("begun").exists():
            assert time.monotonic() < limit
            time.sleep(0.02)
        process.send_signal(sign)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert b"it ended early: interrupted" in out
    facts = json.loads(Path("result.json").read_text())
    assert (facts["interrupted"], facts["valid"]) == (True, False)
    assert 0 < facts["samples"] < 3000
    assert facts["unfinished"] == 0


def test_a_signal_that_is_ignored_stays_so(powerkit: Powerkit, folder: Path) -> None:
    """As SIGHUP is under nohup."""
    planned(powerkit, "--items", 1, "--popularity", "equal", "-n", 3)
    (folder / "hanging_up_of_this_test.py").write_text(
        "import os, signal\ndef ask(item): os.kill(os.getpid(), signal.SIGHUP)\n"
    )
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        sut = "python:hanging_up_of_this_test:ask"
        done = powerkit("load", "run", "plan.jsonl", "--sut", sut)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
    assert done.code == 0


def test_the_digest_of_a_plan_from_a_pipe(powerkit: Powerkit) -> None:
    planned(powerkit, "--items", "a,b", "-n", 3, "--popularity", "equal")
    data = Path("plan.jsonl").read_bytes()
    done = subprocess.run(
        [
            *(sys.executable, "-m", "tools", "load", "run", "--json", "/dev/stdin"),
            *("--sut", "python:sut_of_this_test:ask"),
        ],
        env=os.environ | {"PYTHONPATH": f"{ROOT}:{Path.cwd()}"},
        input=data,
        capture_output=True,
        check=True,
    )
    told = json.loads(done.stdout)["plan"]
    assert told == {"file": "stdin", "sha256": hashlib.sha256(data).hexdigest()}


@pytest.mark.parametrize(
    ("sut", "told"),
    [
        ("http://me:pw@127.0.0.1:9/x", "http://***@127.0.0.1:9/x"),
        ("cmd:true 'https://me:pw@h/x' {item}", "cmd:true 'https://***@h/x' {item}"),
        ("cmd:true me@example.org", "cmd:true me@example.org"),
    ],
)
def test_a_result_tells_of_the_system_without_secrets(
    powerkit: Powerkit, sut: str, told: str
) -> None:
    planned(powerkit, "--items", 1)
    done = powerkit("load", "run", "plan.jsonl", "--sut", sut, "--json")
    assert json.loads(done.out)["sut"] == told


def test_what_a_function_prints_is_no_part_of_the_json(
    powerkit: Powerkit, folder: Path
) -> None:
    planned(powerkit, "--items", 2)
    (folder / "talking_of_this_test.py").write_text(
        "print('loaded')\ndef ask(item): print('asked')\n"
    )
    sut = "python:talking_of_this_test:ask"
    done = powerkit("load", "run", "plan.jsonl", "--sut", sut, "--json")
    assert json.loads(done.out)["samples"] == 2
    assert done.err.splitlines() == ["loaded", "asked", "asked"]


def test_an_interruption_in_process_gives_the_signals_back(
    powerkit: Powerkit, folder: Path
) -> None:
    planned(powerkit, "--items", 1, "--popularity", "equal", "-n", 1000)
    (folder / "killing_of_this_test.py").write_text(
        "import os, signal\n"
        "count = 0\n"
        "def ask(item):\n"
        "    global count\n"
        "    count += 1\n"
        "    if count == 5: os.kill(os.getpid(), signal.SIGINT)\n"
    )
    before = signal.getsignal(signal.SIGINT)
    done = powerkit(
        *("load", "run", "plan.jsonl", "--sut", "python:killing_of_this_test:ask"),
        *("-o", "result.json"),
    )
    assert done.code == 1
    assert json.loads(Path("result.json").read_text())["interrupted"] is True
    assert signal.getsignal(signal.SIGINT) is before


def test_a_second_interruption_waits_for_nothing(
    powerkit: Powerkit, folder: Path
) -> None:
    """And what the run started does not outlive it."""
    planned(powerkit, "--items", 1)
    (folder / "sut.py").write_text(
        "import os, pathlib, signal, sys, time\n"
        "pathlib.Path('child').write_text(str(os.getpid()))\n"
        "for _ in range(2):\n"
        "    os.kill(int(sys.argv[1]), signal.SIGINT)\n"
        "    time.sleep(0.05)\n"
        "time.sleep(60)\n"
    )
    begun = time.monotonic()
    done = powerkit(
        *("load", "run", "plan.jsonl", "-o", "result.json", "--sut"),
        f"cmd:{sys.executable} sut.py {os.getpid()}",
    )
    assert done.code == 1
    assert time.monotonic() - begun < 30
    facts = json.loads(Path("result.json").read_text())
    assert (facts["interrupted"], facts["unfinished"]) == (True, 1)
    child = int(Path("child").read_text())
    limit = time.monotonic() + 10
    while Path(f"/proc/{child}").exists():
        assert time.monotonic() < limit
        time.sleep(0.01)


@pytest.mark.parametrize("option", ["-o", "--trace"])
@pytest.mark.parametrize("path", [".", "missing/result.json"])
def test_a_result_that_could_not_be_written_is_refused_before_the_run(
    powerkit: Powerkit, option: str, path: str
) -> None:
    planned(powerkit, "--items", 1)
    done = powerkit(
        *("load", "run", "plan.jsonl", "--sut", "python:sut_of_this_test:ask"),
        *(option, path),
    )
    assert done.code == 2
    assert "cannot be written there" in done.err


def test_nothing_is_left_of_a_result_that_cannot_be_written(folder: Path) -> None:
    (folder / "result").mkdir()
    with pytest.raises(OSError):  # noqa: PT011 - a folder is no file
        write_result({}, folder / "result")
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]
