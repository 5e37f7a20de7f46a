"""What disturbs measurements, on trees of a test's own and on published ones."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.machine.trees import QUIET, tree
from tools.machine import counters
from tools.machine.checks import Check, Level
from tools.machine.checkup import checkup
from tools.readings.kernel_files import Unreadable

CPU = "sys/devices/system/cpu"
POLICY = f"{CPU}/cpufreq/policy"
CLOCK = "sys/devices/system/clocksource/clocksource0"


def looked(root: Path) -> dict[str, Check]:
    return {one.name: one for one in checkup(root / "sys", root / "proc")}


def test_a_quiet_machine_is_well(tmp_path: Path) -> None:
    found = looked(tree(tmp_path))
    levels = {name: one.level for name, one in found.items()}
    assert set(levels.values()) == {Level.OK}, levels
    assert all(not one.command and not one.remedy for one in found.values())
    assert set(found) == {
        *("governor", "frequency driver", "turbo", "SMT", "ASLR", "swap"),
        *("huge pages", "virtualisation", "clock source", "load average"),
        *("pressure on cpu", "pressure on memory", "pressure on io", "steal time"),
        *("thermal throttling", "energy counters", "hardware events"),
        "write cache of sda",
    }


def test_nothing_that_is_missing_is_well(tmp_path: Path) -> None:
    found = looked(tree(tmp_path, dict.fromkeys(QUIET)))
    assert {one.level for one in found.values()} == {Level.UNKNOWN}
    assert found["write cache"].state == "no list of disks"
    assert len(found) == 18


@pytest.mark.parametrize("path", sorted(QUIET))
def test_a_file_less_never_makes_anything_better(tmp_path: Path, path: str) -> None:
    ours = {"loop0", "dm-0", "available_clocksource", "max_energy_range_uj"}
    levels = {one.level for one in looked(tree(tmp_path, {path: None})).values()}
    # A policy that does not tell its driver has one that is known by the other.
    alone = ours.isdisjoint(Path(path).parts) and not path.endswith(
        ("scaling_driver", "throttle_count")
    )
    assert levels == ({Level.OK, Level.UNKNOWN} if alone else {Level.OK})


@pytest.mark.parametrize(
    ("name", "changes", "level", "state", "command"),
    [
        (
            "governor",
            {f"{POLICY}{k}/scaling_governor": "powersave" for k in (0, 1)},
            Level.NOTICE,
            "powersave (2 policies)",
            "sudo cpupower frequency-set -g performance",
        ),
        (
            "governor",
            {f"{POLICY}1/scaling_governor": "schedutil"},
            Level.UNFIT,
            "performance (1 policies), schedutil (1 policies)",
            "sudo cpupower frequency-set -g performance",
        ),
        (
            "frequency driver",
            {f"{POLICY}{k}/scaling_driver": "intel_pstate" for k in (0, 1)},
            Level.NOTICE,
            "intel_pstate",
            "echo passive | sudo tee /sys/devices/system/cpu/intel_pstate/status",
        ),
        (
            "frequency driver",
            {f"{POLICY}{k}/scaling_driver": "amd-pstate-epp" for k in (0, 1)},
            Level.NOTICE,
            "amd-pstate-epp",
            "echo passive | sudo tee /sys/devices/system/cpu/amd_pstate/status",
        ),
        (
            "turbo",
            {f"{CPU}/intel_pstate/no_turbo": "0"},
            Level.NOTICE,
            "on (intel_pstate/no_turbo 0)",
            "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo",
        ),
        (
            "turbo",
            {f"{CPU}/cpufreq/boost": "1"},
            Level.NOTICE,
            "on (cpufreq/boost 1)",
            "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost",
        ),
        (
            "turbo",
            {f"{CPU}/cpufreq/boost": "2"},
            Level.UNKNOWN,
            "cpufreq/boost is 2",
            "",
        ),
        (
            "SMT",
            {f"{CPU}/smt/control": "on"},
            Level.NOTICE,
            "on",
            "echo off | sudo tee /sys/devices/system/cpu/smt/control",
        ),
        ("SMT", {f"{CPU}/smt/control": "notsupported"}, Level.OK, "notsupported", ""),
        ("SMT", {f"{CPU}/smt/control": "perhaps"}, Level.UNKNOWN, "perhaps", ""),
        (
            "ASLR",
            {"proc/sys/kernel/randomize_va_space": "2"},
            Level.NOTICE,
            "on (2)",
            "sudo sysctl kernel.randomize_va_space=0",
        ),
        (
            "swap",
            {"proc/meminfo": "SwapTotal:  4096 kB\nSwapFree:  1024 kB"},
            Level.NOTICE,
            "3 MiB of 4 MiB in use",
            "sudo swapoff -a && sudo swapon -a",
        ),
        (
            "huge pages",
            {"sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never"},
            Level.NOTICE,
            "always",
            "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled",
        ),
        (
            "huge pages",
            {"sys/kernel/mm/transparent_hugepage/enabled": "always madvise"},
            Level.UNKNOWN,
            "no choice is marked",
            "",
        ),
        (
            "virtualisation",
            {"proc/cpuinfo": "flags\t: fpu hypervisor tsc"},
            Level.NOTICE,
            "a guest of a hypervisor",
            "",
        ),
        (
            "virtualisation",
            {"sys/hypervisor/type": "xen"},
            Level.NOTICE,
            "a guest of xen",
            "",
        ),
        (
            "virtualisation",
            {"proc/cpuinfo": "Features\t: fp asimd"},
            Level.UNKNOWN,
            "such processors have no flag of it",
            "",
        ),
        (
            "clock source",
            {f"{CLOCK}/current_clocksource": "hpet"},
            Level.UNFIT,
            "hpet",
            f"echo tsc | sudo tee /{CLOCK}/current_clocksource",
        ),
        (
            "clock source",
            {
                f"{CLOCK}/current_clocksource": "hpet",
                f"{CLOCK}/available_clocksource": "hpet acpi_pm",
            },
            Level.UNFIT,
            "hpet",
            "",
        ),
        (
            "load average",
            {"proc/loadavg": "0.20 0.00 0.00 1/2 3"},
            Level.NOTICE,
            "0.20 tasks over the last minute",
            "",
        ),
        (
            "load average",
            {"proc/loadavg": "0.50 0.00 0.00 1/2 3"},
            Level.UNFIT,
            "0.50 tasks over the last minute",
            "",
        ),
        (
            "load average",
            {"proc/loadavg": "many"},
            Level.UNKNOWN,
            "it cannot be understood",
            "",
        ),
        (
            "pressure on memory",
            {"proc/pressure/memory": "some avg10=1.00 avg60=0.00 avg300=0.00 total=9"},
            Level.NOTICE,
            "some task waited in 1.00 % of the last ten seconds",
            "",
        ),
        (
            "pressure on io",
            {"proc/pressure/io": "some avg10=10.00 avg60=0.00 avg300=0.00 total=9"},
            Level.UNFIT,
            "some task waited in 10.00 % of the last ten seconds",
            "",
        ),
        (
            "steal time",
            {"proc/stat": "cpu  0 0 0 9999 0 0 0 1 0 0"},
            Level.NOTICE,
            "0.01 % of all time since the start",
            "",
        ),
        (
            "steal time",
            {"proc/stat": "cpu  0 0 0 99 0 0 0 1 0 0"},
            Level.UNFIT,
            "1.00 % of all time since the start",
            "",
        ),
        (
            "thermal throttling",
            {f"{CPU}/cpu0/thermal_throttle/package_throttle_count": "7"},
            Level.NOTICE,
            "package at most 7 times, core at most 0 times since the start",
            "",
        ),
        (
            "hardware events",
            {"proc/sys/kernel/perf_event_paranoid": "2"},
            Level.NOTICE,
            "perf_event_paranoid 2",
            "sudo sysctl kernel.perf_event_paranoid=0",
        ),
        (
            "write cache of sda",
            {"sys/block/sda/queue/write_cache": "write back"},
            Level.NOTICE,
            "write back",
            "sudo hdparm -W 0 /dev/sda",
        ),
        (
            "write cache of nvme0n1",
            {"sys/block/nvme0n1/queue/write_cache": "write back"},
            Level.NOTICE,
            "write back",
            "sudo nvme set-feature /dev/nvme0 -f 6 -v 0",
        ),
        (
            "write cache of vda",
            {"sys/block/vda/queue/write_cache": "write back"},
            Level.NOTICE,
            "write back",
            "",
        ),
    ],
)
def test_what_disturbs_is_told_with_the_command_against_it(
    tmp_path: Path,
    name: str,
    changes: dict[str, str],
    level: Level,
    state: str,
    command: str,
) -> None:
    found = looked(tree(tmp_path, changes))
    one = found.pop(name)
    assert (one.level, one.state, one.command) == (level, state, command)
    assert bool(one.remedy) == (level in (Level.NOTICE, Level.UNFIT))
    assert {other.level for other in found.values()} == {Level.OK}


def test_energy_that_is_forbidden_is_unfit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> NoReturn:
        raise Unreadable("permission denied", forbidden=True)

    monkeypatch.setattr(counters, "read_number", refuse)
    one = looked(tree(tmp_path))["energy counters"]
    assert (one.level, one.state) == (Level.UNFIT, "1 of 1 zones are forbidden")
    files = "/sys/class/powercap/intel-rapl:*/energy_uj"
    assert one.command == f"sudo chgrp $(id -g) {files} && sudo chmod g+r {files}"


def test_energy_that_is_no_number_is_unknown(tmp_path: Path) -> None:
    one = looked(tree(tmp_path, {"sys/class/powercap/intel-rapl:0/energy_uj": "x"}))
    assert one["energy counters"].state == "package-0: not a number"


def test_nothing_is_run_and_nothing_is_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbid(*_: object, **__: object) -> NoReturn:
        raise AssertionError("a program was started")

    monkeypatch.setattr(subprocess, "Popen", forbid)
    monkeypatch.setattr("os.system", forbid)
    tree(tmp_path)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}
    looked(tmp_path)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in files} == before


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(QUIET)), st.binary(max_size=80))
def test_whatever_stands_in_a_file_is_told(
    tmp_path_factory: pytest.TempPathFactory, path: str, data: bytes
) -> None:
    root = tree(tmp_path_factory.mktemp("m"))
    (root / path).write_bytes(data)
    for one in checkup(root / "sys", root / "proc"):
        assert one.state.isprintable()
        assert len(one.state) <= 200


def test_a_published_tree(shared_data: Path) -> None:
    """Of prometheus/procfs: a laptop with intel_pstate that was throttled."""
    found = looked(shared_data / "sysfs_trees" / "A" / "procfs_sys")
    told = {name: (one.level.value, one.state) for name, one in found.items()}
    assert told["governor"] == ("notice", "powersave (1 policies)")
    assert told["frequency driver"] == ("notice", "intel_pstate")
    assert told["thermal throttling"] == (
        "notice",
        "package at most 34818 times, core at most 10084 times since the start",
    )
    assert told["energy counters"] == ("ok", "3 zones can be read")
    assert told["virtualisation"][0] == "ok"
    assert told["swap"] == ("ok", "0 MiB of 0 MiB in use")
    for name in ("SMT", "ASLR", "turbo", "load average", "write cache"):
        assert told[name][0] == "unknown", name


def test_a_published_tree_without_anything_but_energy(shared_data: Path) -> None:
    found = looked(shared_data / "sysfs_trees" / "A" / "kepler_device_testdata")
    levels = {name: one.level for name, one in found.items()}
    assert levels.pop("energy counters") is Level.OK
    assert set(levels.values()) == {Level.UNKNOWN}
