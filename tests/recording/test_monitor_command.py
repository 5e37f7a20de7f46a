"""`powerkit monitor`: a command watched, reports in every form, and what is lacking."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.simulators import powercap
from tests.simulators.commands import Done
from tests.simulators.nvml import Stub, stubbed
from tests.simulators.powercap import FakePowercap, live
from tests.simulators.procfs import FakeProc
from tools.recording.monitor import read_recording

Powerkit = Callable[..., Done]
QUICK = ("--interval-ms", "5", "--duration", "0.05")


def python(program: str) -> list[str]:
    return ["--", sys.executable, "-c", program]


@pytest.fixture
def gpus(library: Path) -> Iterator[Stub]:
    """Two GPUs whose clock stands at 2.5 s."""
    with stubbed(library, "devices=2;low=60;high=300") as stub:
        stub.time(2.5)
        yield stub
        assert stub.users == 0


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[FakePowercap]:
    """Two sockets that draw power as time goes by."""
    made = FakePowercap(tmp_path / "sys", powercap.TWO_SOCKETS)
    with live(made):
        yield made


def table(out: str, delimiter: str = ",") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(out), delimiter=delimiter))


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


def test_gpus_in_a_table_like_that_of_trims(powerkit: Powerkit, gpus: Stub) -> None:
    done = powerkit("monitor", "--sources", "nvml", "--format", "csv", *QUICK)
    assert done.code == 0
    rows = table(done.out)
    assert list(rows[0]) == [
        "device",
        "statistic",
        "time_seconds",
        "power_watts",
        "temperature_celsius",
        "utilisation_ratio",
        "memory_utilisation_ratio",
        "encoder_utilisation_ratio",
        "decoder_utilisation_ratio",
        "cpu_busy",
        "memory_used_bytes",
        "human_memory_used",
        "memory_free_bytes",
        "human_memory_free",
        "bar1_used_bytes",
        "human_bar1_used",
        "clock_core_hertz",
        "clock_memory_hertz",
        "pcie_receive_bytes_per_second",
        "pcie_transmit_bytes_per_second",
        "fan_ratio",
        "threads",
        "processes",
        "energy_joules",
        "method",
    ]
    assert [(row["device"], row["statistic"]) for row in rows] == [
        (device, statistic)
        for device in ("gpu 0", "gpu 1")
        for statistic in ("peak", "average", "energy", "energy", "energy")
    ]
    peak = rows[5]
    assert peak["device"] == "gpu 1"
    assert float(peak["power_watts"]) == 60
    assert float(peak["temperature_celsius"]) == 41
    assert float(peak["utilisation_ratio"]) == 0.07
    assert float(peak["memory_utilisation_ratio"]) == 0.3
    assert float(peak["encoder_utilisation_ratio"]) == 0.11
    assert float(peak["decoder_utilisation_ratio"]) == 0.12
    assert float(peak["memory_used_bytes"]) == 2 << 30
    assert peak["human_memory_used"] == "2.0 GiB"
    assert float(peak["memory_free_bytes"]) == 148 << 30
    assert peak["human_memory_free"] == "148.0 GiB"
    assert float(peak["clock_core_hertz"]) == 1.98e9
    assert float(peak["clock_memory_hertz"]) == 3.201e9
    assert float(peak["processes"]) == 2
    assert peak["threads"] == ""  # what there is none of is empty
    assert [row["method"] for row in rows[2:5]] == [
        "integral gpu_0_watts",
        "integral gpu_0_average_watts",
        "counter gpu_0_joules_total",
    ]


def test_tsv_is_the_same_with_tabs(powerkit: Powerkit, gpus: Stub) -> None:
    done = powerkit("monitor", "--sources", "nvml", "--format", "tsv", *QUICK)
    assert [row["device"] for row in table(done.out, "\t")][::5] == ["gpu 0", "gpu 1"]


def test_full_has_a_row_a_sample(powerkit: Powerkit, gpus: Stub) -> None:
    gpus.configure("low=60")
    done = powerkit("monitor", "--sources", "nvml", "--format", "csv", "--full", *QUICK)
    samples = [row for row in table(done.out) if row["statistic"] == "sample"]
    assert len(samples) >= 2
    times = [float(row["time_seconds"]) for row in samples]
    assert times[0] == 0
    assert times == sorted(times)
    assert {float(row["power_watts"]) for row in samples} == {60}
    text = powerkit("monitor", "--sources", "nvml", "--full", *QUICK)
    assert text.out.count("sample ") >= 2


def test_json_has_everything(powerkit: Powerkit, gpus: Stub) -> None:
    done = powerkit("monitor", "--sources", "nvml", "--json", "--full", *QUICK)
    document = json.loads(done.out)
    assert document["schema"] == "monitor/1"
    assert document["command"] is None
    assert document["missing"] == []
    assert {one["device"] for one in document["series"]} == {"gpu 0", "gpu 1"}
    assert {one["method"] for one in document["energies"]} == {"counter", "integral"}
    rows = document["rows"]
    assert len(document["samples"]["gpu_1_watts"]) == rows
    assert set(document["samples"]["gpu_1_watts"]) == {60}
    assert document["pace"]["interval_ns"] == 5_000_000


def test_yaml_is_the_same(powerkit: Powerkit, gpus: Stub) -> None:
    done = powerkit("monitor", "--sources", "nvml", "--format", "yaml", *QUICK)
    document = yaml.safe_load(done.out)
    assert document["schema"] == "monitor/1"
    assert document["series"][0]["name"] == "gpu_0_watts"
    assert "samples" not in document


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


def test_processors_power_and_energy(powerkit: Powerkit, tree: FakePowercap) -> None:
    done = powerkit(
        *("monitor", "--sources", "rapl", "--sysroot", str(tree.root)),
        *("--interval-ms", "20", "--format", "csv"),
        *python("import time; time.sleep(0.4)"),
    )
    assert done.code == 0, done
    rows = {(row["device"], row["statistic"]): row for row in table(done.out)}
    for device, watts in (("package 0", 100), ("dram 1", 10), ("core 1", 30)):
        average = float(rows[device, "average"]["power_watts"])
        assert average == pytest.approx(watts, rel=0.15)
        energy = rows[device, "energy"]
        assert float(energy["energy_joules"]) > watts * 0.3
        assert energy["method"].startswith("counter rapl_")


def test_samples_can_be_read_again(
    powerkit: Powerkit, tree: FakePowercap, tmp_path: Path
) -> None:
    samples = tmp_path / "samples.csv"
    done = powerkit(
        *("monitor", "--sources", "rapl,cpu", "--sysroot", str(tree.root)),
        *("--samples", samples, *QUICK),
    )
    assert done.code == 0
    recording = read_recording(samples)
    assert recording.sources == ("cpu", "rapl")
    assert None not in recording.readings("rapl_package_0_joules_total")


def test_a_trace_of_counters_and_the_command(
    powerkit: Powerkit, tree: FakePowercap, tmp_path: Path
) -> None:
    trace = tmp_path / "trace.json"
    done = powerkit(
        *("monitor", "--sources", "rapl", "--sysroot", str(tree.root)),
        *("--interval-ms", "10", "--trace", trace),
        *python("import time; time.sleep(0.2)"),
    )
    assert done.code == 0
    events: list[dict[str, Any]] = json.loads(trace.read_bytes())["traceEvents"]
    counters = [one for one in events if one["ph"] == "C"]
    assert {one["name"] for one in counters} >= {
        "rapl_package_0_watts",
        "rapl_dram_1_watts",
    }
    (slice_,) = [one for one in events if one["ph"] == "X"]
    assert slice_["name"] == Path(sys.executable).name
    within = [one for one in counters if one["ts"] >= slice_["ts"]]
    assert len(within) == len(counters)
    assert slice_["dur"] >= 200_000
    assert {one["pid"] for one in events} == {1}  # no number of this machine's


def test_no_file_names_a_process_or_a_gpu(
    powerkit: Powerkit, gpus: Stub, tmp_path: Path
) -> None:
    done = powerkit(
        *("monitor", "--sources", "nvml", "--gpu-processes", "--full"),
        *("--samples", tmp_path / "s.csv", "--trace", tmp_path / "t.json"),
        *("--json", "-o", tmp_path / "r.json", *QUICK),
    )
    assert done.code == 0
    assert "gpu 1: 4001 train-4001 ?" in done.err  # asked for, at the terminal only
    for name in ("s.csv", "t.json", "r.json"):
        text = (tmp_path / name).read_text()
        assert "train" not in text
        assert "GPU-" not in text
        assert ":4001" not in text
    quiet = powerkit("monitor", "--sources", "nvml", *QUICK)
    assert "train" not in quiet.out + quiet.err


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


def test_a_copy_that_is_left_out_is_said(powerkit: Powerkit, tmp_path: Path) -> None:
    tree = FakePowercap(tmp_path / "sys", powercap.PSYS_AND_MMIO)
    done = powerkit("monitor", "--sources", "rapl", "--sysroot", tree.root, *QUICK)
    assert (
        "left out: rapl intel-rapl-mmio:0 package-0: the same counter is read as"
        " intel-rapl\n"
    ) in done.out


def test_doubts_are_said_beside_the_table(
    powerkit: Powerkit, library: Path, tmp_path: Path
) -> None:
    with stubbed(library, "energy=0.5") as stub:
        stub.time(-1)  # its own clock
        done = powerkit(
            *("monitor", "--sources", "nvml", "--interval-ms", "20"),
            *("--duration", "0.5"),
        )
    assert done.code == 0
    assert "info O010 gpu 0:" in done.err
    assert "by the counter gpu_0_joules_total" in done.err


def test_failed_readings_are_said(
    powerkit: Powerkit, library: Path, tmp_path: Path
) -> None:
    with stubbed(library, "lost=0;lost_at=0.1") as stub:
        stub.time(-1)
        done = powerkit(
            *("monitor", "--sources", "nvml", "--interval-ms", "10"),
            *("--duration", "0.3", "--devices", "0"),
        )
    assert "readings failed; they are empty, not 0" in done.out
    assert "the GPU is lost" in done.err


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
        (["--duration", "0"], "--duration"),
        (["--format", "xml", *QUICK], "--format"),
        (["--sysroot", "nowhere", *QUICK], "--sysroot"),
    ],
)
def test_calls_that_are_wrong(
    powerkit: Powerkit, arguments: list[str], said: str
) -> None:
    done = powerkit("monitor", *arguments)
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


def test_ctrl_c_ends_a_watch_with_its_report(library: Path) -> None:
    command = [sys.executable, "-m", "tools", "monitor", "--sources", "nvml,cpu"]
    environment = os.environ | {
        "LD_LIBRARY_PATH": str(library.parent),
        "NVML_STUB": "low=75;high=75",
    }
    with subprocess.Popen(
        [*command, "--format", "csv"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        wait_for_thread(process.pid, "monitor")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 0, err
    peak = table(out)[2]
    assert (peak["device"], peak["statistic"]) == ("gpu 0", "peak")
    assert float(peak["power_watts"]) == 75


def test_ctrl_c_ends_the_command_too() -> None:
    program = ["--", sys.executable, "-c", "import time; time.sleep(60)"]
    with subprocess.Popen(
        [
            sys.executable,
            "-m",
            "tools",
            "monitor",
            "--sources",
            "cpu,process",
            *program,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        wait_for_thread(process.pid, "monitor")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 1
    assert "Ended before CMD was done." in err
    assert "was ended by us" in out


def wait_for_thread(pid: int, name: str) -> None:
    """Wait until a process has more than one thread: then it records."""
    limit = time.monotonic() + 20
    while len(list(Path(f"/proc/{pid}/task").iterdir())) < 2:
        assert time.monotonic() < limit, f"there is no thread {name}"
        time.sleep(0.02)


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
