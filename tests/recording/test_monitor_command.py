"""`powerkit monitor`: a command watched, reports in every form, and what is lacking."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.recording.conftest import QUICK, Powerkit, python
from tests.simulators.nvml import Stub
from tests.simulators.procfs import FakeProc
from tools.recording.monitor import Monitor, Recording


def test_a_command_and_how_it_ended(powerkit: Powerkit) -> None:
    program = "import time; print('its own words', flush=True); time.sleep(0.1)"
    done = powerkit(
        "monitor", "--interval-ms", "10", "--devices", "none", *python(program)
    )
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].split() == [
        *("device", "CPUs", "busy", "memory", "free"),
        *(("core", "MHz") if "core MHz" in lines[0] else ()),
        *("threads", "procs"),
    ]
    assert [line.split()[:2] for line in lines[1:5]] == [
        ["machine", "peak"],
        ["machine", "average"],
        ["process", "peak"],
        ["process", "average"],
    ]
    assert "ended with 0 after 0." in done.out
    assert "every 10 ms" in done.out


def test_its_failure_is_ours_and_its_code_is_shown(powerkit: Powerkit) -> None:
    done = powerkit("monitor", "--sources", "cpu", *python("raise SystemExit(7)"))
    assert done.code == 1
    assert "ended with 7 after" in done.out
    killed = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    done = powerkit("monitor", "--sources", "cpu", *python(killed))
    assert done.code == 1
    assert "was ended by signal 9 after" in done.out


def test_a_command_that_cannot_be_started(powerkit: Powerkit) -> None:
    done = powerkit("monitor", "--sources", "cpu", "--", "no-such-program-here")
    assert done.code == 1
    assert done.out.startswith("error F001")


def test_a_while_without_a_command(powerkit: Powerkit) -> None:
    done = powerkit("monitor", "--sources", "cpu,memory", *QUICK)
    assert done.code == 0
    assert "machine" in done.out
    assert "process" not in done.out.partition("samples in")[0]


def test_a_commands_words_are_no_part_of_a_document(
    tmp_path: Path,
) -> None:
    program = python("print('its own words', flush=True)")
    report = tmp_path / "report.json"
    arguments = ["monitor", "--sources", "cpu", "--json"]
    done = run(*arguments, *program)
    assert json.loads(done.stdout)["command"]["ended"]["returncode"] == 0
    assert done.stderr == "its own words\n"
    done = run(*arguments, "-o", str(report), *program)
    assert done.stdout == "its own words\n"
    assert json.loads(report.read_text())["command"]["command"] == program[1:]


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run it as a program of its own."""
    return subprocess.run(
        [sys.executable, "-m", "tools", *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_is_asked_for_by_name_must_be_there(
    powerkit: Powerkit, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    note = tmp_path / "it ran"
    done = powerkit(
        *("monitor", "--sources", "cpu,rapl", "--sysroot", tmp_path / "empty"),
        *python(f"open({str(note)!r}, 'w')"),
    )
    assert done.code == 1
    assert done.out.startswith("error O001 rapl: there is no RAPL zone in ")
    assert not note.exists()


def test_what_is_not_there_by_default_is_said(
    powerkit: Powerkit, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    done = powerkit(
        *("monitor", "--sysroot", tmp_path / "empty", "--devices", "none", *QUICK)
    )
    assert done.code == 0
    assert "not measured: rapl: there is no RAPL zone in" in done.out
    assert "not measured: cpu cpu_frequency_hertz: no cpufreq policy" in done.out
    assert "not measured: nvml: " in done.out


def test_nothing_at_all_is_a_refusal(powerkit: Powerkit, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    empty = tmp_path / "empty"
    done = powerkit(
        *("monitor", "--sysroot", empty, "--procroot", empty, "--devices", "none"),
        *QUICK,
    )
    assert done.code == 1
    assert done.out.count("error O001") == 4


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--"], "a command must follow --"),
        (["--duration", "1", "--", "true"], "not both"),
        (["--sources", "process", *QUICK], "needs a command after --"),
        (["--sources", " , ", *QUICK], "names nothing"),
        (["--samples", "nowhere/s.csv", *QUICK], "there is no folder nowhere"),
        (["--trace", "nowhere/t.json", *QUICK], "there is no folder nowhere"),
        (["-o", "nowhere/r.txt", *QUICK], "there is no folder nowhere"),
        (["--samples", "a", "--trace", "./a", *QUICK], "two outputs have the same"),
        (["--interval-ms", "0", *QUICK[2:]], "--interval-ms"),
        (["--samples", "pipe", *QUICK], "pipe is no plain file"),
        (["-o", "a" * 250, *QUICK], "cannot be written: File name too long"),
        (["--duration", "0"], "--duration"),
        (["--duration", "nan"], "--duration"),
        (["--duration", "inf"], "--duration is a number"),
        (["--format", "xml", *QUICK], "--format"),
        (["--sysroot", "nowhere", *QUICK], "--sysroot"),
    ],
)
def test_calls_that_are_wrong(
    powerkit: Powerkit,
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    done = powerkit("monitor", *arguments)
    assert [one.name for one in tmp_path.iterdir()] == ["pipe"]
    assert done.code == 2
    assert said in " ".join(done.err.split()).replace("│ ", "")


def test_names_and_gpus_that_are_not_there(powerkit: Powerkit, gpus: Stub) -> None:
    done = powerkit("monitor", "--sources", "cpu,abacus", *QUICK)
    assert (done.code, done.out.splitlines()[0]) == (
        1,
        "error O003 --sources: there is no source 'abacus'",
    )
    done = powerkit("monitor", "--sources", "nvml", "--devices", "5", *QUICK)
    assert (done.code, done.out.splitlines()[0]) == (
        1,
        "error O004 --devices: 5 is none of the 2 GPUs",
    )


def test_settings_give_interval_and_gpus(
    powerkit: Powerkit, gpus: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POWERKIT_MONITOR_INTERVAL_MS", "7")
    monkeypatch.setenv("POWERKIT_VISIBLE_DEVICES", "1")
    done = powerkit("monitor", "--sources", "nvml", "--json", "--duration", "0.03")
    document = json.loads(done.out)
    assert document["pace"]["interval_ns"] == 7_000_000
    assert {one["device"] for one in document["series"]} == {"gpu 1"}
    done = powerkit(
        *("monitor", "--sources", "nvml", "--json", "--duration", "0.03"),
        *("--devices", "0", "--interval-ms", "9"),
    )
    document = json.loads(done.out)
    assert document["pace"]["interval_ns"] == 9_000_000
    assert {one["device"] for one in document["series"]} == {"gpu 0"}


def test_procfs_may_stand_elsewhere(powerkit: Powerkit, tmp_path: Path) -> None:
    proc = FakeProc(tmp_path / "proc")
    done = powerkit(
        *("monitor", "--sources", "cpu", "--procroot", proc.root, "--json", *QUICK)
    )
    series = {one["name"]: one for one in json.loads(done.out)["series"]}
    assert series["context_switches_total"]["last"] == 1000


def test_help_does_not_load_what_measures() -> None:
    program = (
        "import contextlib, io, sys; from tools import cli\n"
        "sys.argv = ['powerkit', 'monitor', '--help']\n"
        "quiet = contextlib.redirect_stdout(io.StringIO())\n"
        "with contextlib.suppress(SystemExit), quiet: cli.main()\n"
        "print({'pynvml', 'msgspec', 'psutil', 'numpy', 'tools.recording.monitor'}"
        " & sys.modules.keys())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"


def test_a_line_and_a_drawn_table_at_a_terminal(library: Path) -> None:
    ours, theirs = pty.openpty()
    environment = os.environ | {
        "LD_LIBRARY_PATH": str(library.parent),
        "NVML_STUB": "low=75;high=75",
        "TERM": "xterm-256color",
        "COLUMNS": "240",
        "PYTHONIOENCODING": "utf-8",
    }
    command = [sys.executable, "-m", "tools", "monitor", "--sources", "nvml"]
    with subprocess.Popen(
        [*command, "--duration", "0.8"],
        env=environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        seen = b""
        with contextlib.suppress(OSError):  # the terminal is gone with its last user
            while data := os.read(ours, 65536):
                seen += data
    os.close(ours)
    text = seen.decode()
    assert process.returncode == 0, text
    assert "gpu 0 75 W, gpu 0 75 W, 7%, gpu 0 1.0 GiB" in text
    assert "│" in text


def test_the_report_is_not_lost_if_samples_cannot_be_written(
    powerkit: Powerkit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "samples.csv")

    monkeypatch.setattr(Recording, "write_csv", full)
    done = powerkit("monitor", "--sources", "cpu", "--samples", "samples.csv", *QUICK)
    assert done.code == 1
    assert done.out.startswith("device")
    assert "error U001 samples.csv: No space left on device" in done.out


@pytest.fixture
def ordered(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Have a signal sent to us at the third sample, so surely while it is measured."""

    def order(sign: int) -> None:
        sample = Monitor.sample
        count = itertools.count(1)

        def counted(monitor: Monitor) -> None:
            sample(monitor)
            if next(count) == 3:
                os.kill(os.getpid(), sign)

        monkeypatch.setattr(Monitor, "sample", counted)

    return order


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_watch_without_end_is_ended_by_an_order(
    powerkit: Powerkit, ordered: Callable[[int], None], sign: int
) -> None:
    ordered(sign)
    done = powerkit("monitor", "--sources", "cpu", "--interval-ms", "5")
    assert done.code == 0
    assert done.out.startswith("device")


def test_a_watch_that_is_cut_short_reports_and_fails(
    powerkit: Powerkit, ordered: Callable[[int], None]
) -> None:
    ordered(signal.SIGINT)
    done = powerkit(
        *("monitor", "--sources", "cpu", "--interval-ms", "5", "--duration", "60")
    )
    assert done.code == 1
    assert done.out.startswith("device")


def test_an_order_ends_the_command_too(
    powerkit: Powerkit, ordered: Callable[[int], None], tmp_path: Path
) -> None:
    note = tmp_path / "pid"
    program = (
        "import os, pathlib, time;"
        f"pathlib.Path({str(note)!r}).write_text(str(os.getpid())); time.sleep(60)"
    )
    ordered(signal.SIGINT)
    done = powerkit(
        *("monitor", "--sources", "cpu,process", "--interval-ms", "100"),
        *python(program),
    )
    assert done.code == 1
    assert done.err.startswith("Ended before CMD was done.")
    assert "was ended by us" in done.out
    if note.exists():
        assert not Path(f"/proc/{note.read_text()}").exists()
