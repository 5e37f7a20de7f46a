"""What `powerkit monitor` reports: the table, documents, samples and traces."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.recording.conftest import QUICK, Powerkit, python, table
from tests.simulators import perfetto, powercap
from tests.simulators.nvml import Stub, stubbed
from tests.simulators.powercap import FakePowercap
from tools.recording.monitor import read_recording


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
        assert average == pytest.approx(watts, rel=0.3)
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


def test_perfetto_draws_the_counters(
    powerkit: Powerkit, gpus: Stub, tmp_path: Path
) -> None:
    trace = tmp_path / "trace.json.gz"
    done = powerkit(
        *("monitor", "--sources", "nvml,cpu", "--interval-ms", "5", "--trace", trace),
        *python("pass"),
    )
    assert done.code == 0
    (answer,) = perfetto.ask(
        [trace],
        {
            "counters": perfetto.COUNTERS,
            "slices": perfetto.SLICES,
            "lost": perfetto.LOST,
        },
    )
    counters = {name: values for name, *values in answer.rows("counters")}
    count, least, greatest = counters["gpu_1_watts watts"]
    assert (least, greatest) == (60, 60)
    assert count >= 2
    assert [row[:2] for row in answer.rows("slices")] == [
        (Path(sys.executable).name, 1)
    ]
    assert answer.rows("lost") == []
