"""Processor time, memory, pressure and processes, on a /proc of our own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from registry.documents.columns import column
from registry.documents.findings import RegistryError
from tests.recording.conftest import record, row
from tests.simulators.procfs import FakeProc
from tools.counters.cpu import open_cpu
from tools.counters.memory import open_memory
from tools.readings.series import Kind
from tools.recording.monitor import NAMES, open_sources


@pytest.fixture
def sys_(tmp_path: Path) -> Path:
    """A sysfs with two policies, one of which rules three processors."""
    for number, (khz, cpus) in enumerate(((2_000_000, "0 1 2"), (3_600_000, "3"))):
        policy = tmp_path / f"sys/devices/system/cpu/cpufreq/policy{number}"
        policy.mkdir(parents=True)
        (policy / "scaling_cur_freq").write_text(f"{khz}\n")
        (policy / "affected_cpus").write_text(f"{cpus}\n")
    return tmp_path / "sys"


def test_times_of_all_processors(proc: FakeProc, sys_: Path) -> None:
    source, missing = open_cpu(sys_, proc.root)
    assert source is not None
    assert not missing
    found = row(source)
    # cpu 100 20 50 9000 30 3 4 5 6 1 in ticks of 10 ms
    assert {k: v for k, v in found.items() if k.startswith("cpu_") and "_s" in k} == {
        "cpu_seconds_total": 100 + 20 + 50 + 3 + 4,  # no idling, waiting, stolen time
        "cpu_user_seconds_total": 120,
        "cpu_system_seconds_total": 50,
        "cpu_irq_seconds_total": 3,
        "cpu_softirq_seconds_total": 4,
        "cpu_steal_seconds_total": 5,
        "cpu_guest_seconds_total": 7,
        "cpu_iowait_seconds_total": 30,
        "cpu_idle_seconds_total": 9000,
    }
    assert found["context_switches_total"] == 1000
    assert found["forks_total"] == 77
    assert found["interrupts_total"] == 12345
    assert (found["procs_running"], found["procs_blocked"]) == (2, 1)
    assert found["pressure_cpu_some_seconds_total"] == 1000
    assert found["pressure_io_full_seconds_total"] == 500


def test_frequencies_are_weighted_and_not_read_each_time(
    proc: FakeProc, sys_: Path
) -> None:
    source, _ = open_cpu(sys_, proc.root)
    assert source is not None
    names = [f"cpu_frequency{part}_hertz" for part in ("", "_lowest", "_highest")]
    at_once = row(source, 10**9)
    assert [at_once[name] for name in names] == [2.4e9, 2e9, 3.6e9]
    soon, later = row(source, 10**9 + 199_999_999), row(source, 10**9 + 200_000_000)
    assert [soon[name] for name in names] == [None] * 3
    assert [later[name] for name in names] == [2.4e9, 2e9, 3.6e9]
    assert not source.gaps.counts  # not due is no failure
    for path in sys_.rglob("scaling_cur_freq"):
        path.unlink()
    gone = row(source, 2 * 10**9)
    assert gone[names[0]] is None
    assert source.gaps.counts == {("cpu_frequency_hertz", "no such file"): 2}


def test_no_frequency_is_said(proc: FakeProc, tmp_path: Path) -> None:
    source, (lacking,) = open_cpu(tmp_path / "nothing", proc.root)
    assert source is not None
    assert lacking.what == "cpu_frequency_hertz"
    assert not [one for one in source.series if "frequency" in one.name]


def test_a_kernel_without_pressure(proc: FakeProc, sys_: Path) -> None:
    for file in (proc.root / "pressure").iterdir():
        file.unlink()
    source, missing = open_cpu(sys_, proc.root)
    assert source is not None
    assert [one.what for one in missing] == [
        "pressure/cpu some",
        "pressure/io some",
        "pressure/io full",
    ]
    assert "psi=1" in missing[0].remedy
    assert not [one for one in source.series if "pressure" in one.name]


@pytest.mark.parametrize("content", [None, "", "cpu0 1 2 3\n", "cpu one two\n"])
def test_no_processor_time_at_all(
    proc: FakeProc, sys_: Path, content: str | None
) -> None:
    if content is None:
        (proc.root / "stat").unlink()
    else:
        (proc.root / "stat").write_text(content)
    source, (lacking,) = open_cpu(sys_, proc.root)
    assert source is None
    assert lacking.what == ""
    assert lacking.why.startswith(f"{proc.root}/stat: ")


def test_a_stat_that_breaks_later_is_a_gap(proc: FakeProc, sys_: Path) -> None:
    source, _ = open_cpu(sys_, proc.root)
    assert source is not None
    (proc.root / "stat").write_text("cpu  1 2 3\nctxt 5\n")
    found = row(source)
    assert found["cpu_user_seconds_total"] == 3
    assert found["cpu_seconds_total"] is None  # not all of it is there
    assert found["context_switches_total"] == 5
    assert source.gaps.counts[("cpu_seconds_total", "not in stat")] == 1
    (proc.root / "stat").unlink()
    assert row(source)["context_switches_total"] is None
    assert source.gaps.counts[("cpu_seconds_total", "no such file")] == 1


def test_memory(proc: FakeProc) -> None:
    source, missing = open_memory(proc.root)
    assert source is not None
    assert not missing
    page = os.sysconf("SC_PAGE_SIZE")
    assert row(source) == {
        "memory_used_bytes": 400 * 1024,
        "memory_available_bytes": 600 * 1024,
        "memory_cached_bytes": 300 * 1024,
        "memory_dirty_bytes": 7 * 1024,
        "page_faults_total": 10,
        "major_page_faults_total": 3,
        "page_cache_in_bytes_total": 5 * 1024,
        "page_cache_out_bytes_total": 6 * 1024,
        "swap_in_bytes_total": page,
        "swap_out_bytes_total": 2 * page,
        "pressure_memory_some_seconds_total": 1000,
        "pressure_memory_full_seconds_total": 500,
    }


def test_memory_that_is_not_told_is_no_zero(proc: FakeProc) -> None:
    source, _ = open_memory(proc.root)
    assert source is not None
    (proc.root / "meminfo").write_text("MemTotal: 1000 kB\nDirty: 0 kB\n")
    (proc.root / "vmstat").unlink()
    (proc.root / "pressure/memory").write_text("some avg10=x\n")
    found = row(source)
    assert found["memory_used_bytes"] is None
    assert found["memory_dirty_bytes"] == 0
    assert found["page_faults_total"] is None
    assert found["pressure_memory_some_seconds_total"] is None
    assert source.gaps.counts == {
        ("memory_used_bytes", "not in meminfo"): 1,
        ("memory_available_bytes", "not in meminfo"): 1,
        ("memory_cached_bytes", "not in meminfo"): 1,
        **{(n, "no such file"): 1 for n in found if n.endswith(("faults_total",))},
        **{(n, "no such file"): 1 for n in found if n.endswith("bytes_total")},
        ("pressure_memory_some_seconds_total", "no such line"): 1,
        ("pressure_memory_full_seconds_total", "no such line"): 1,
    }


def test_no_memory_at_all(tmp_path: Path) -> None:
    source, (lacking,) = open_memory(tmp_path)
    assert (source, lacking.why) == (None, f"{tmp_path}/meminfo: no such file")


def test_rates_of_a_recording(proc: FakeProc, sys_: Path) -> None:
    source, _ = open_cpu(sys_, proc.root)

    def moved(seconds: float) -> None:
        # two processors at work, and a wait that steps back, as proc(5) warns of
        proc.stat(user=100 + round(200 * seconds), iowait=30 - (seconds > 1))

    recording = record([source], 2, 0.05, moved)
    summary = recording.summary()
    by_name = {one.name: one for one in summary.series}
    busy = by_name["cpu_seconds_total"]
    assert busy.mean == pytest.approx(2, rel=0.03)
    assert busy.peak == pytest.approx(2, rel=0.06)
    assert by_name["cpu_iowait_seconds_total"].total == 0  # never below
    told = [(one.code, one.severity, one.path) for one in summary.findings]
    assert told == [("O012", "info", "cpu_iowait_seconds_total")]


def test_published_files(shared_data: Path) -> None:
    root = shared_data / "sysfs_trees/A/procfs_sys"
    opened = open_sources(
        ["cpu", "memory"], sysroot=root / "sys", procroot=root / "proc"
    )
    cpu, memory = opened.sources
    assert row(cpu)["cpu_seconds_total"] == 301854 + 612 + 111922 + 2 + 3944
    assert row(memory)["memory_cached_bytes"] is not None
    assert "pressure/cpu some" in [one.what for one in opened.missing]


def test_columns_are_those_of_the_catalogue_with_its_units(
    proc: FakeProc, sys_: Path
) -> None:
    names = ["cpu", "memory", "process"]
    opened = open_sources(names, pid=1, sysroot=sys_, procroot=proc.root)
    series = [one for source in opened.sources for one in source.series]
    for one in series:
        entry = column(one.name, "samples")
        assert (entry is None) == (one.source == "process"), one.name
        if entry is not None:
            assert entry.unit == one.unit, one.name
            assert (entry.kind == "counter") == (one.kind is Kind.COUNTER), one.name


def test_names_that_are_no_source() -> None:
    with pytest.raises(RegistryError) as refused:
        open_sources(["cpu", "abacus", "dowsing-rod"])
    assert [(one.code, one.what) for one in refused.value.findings] == [
        ("O003", "there is no source 'abacus'"),
        ("O003", "there is no source 'dowsing-rod'"),
    ]
    assert "cpu, memory, process, rapl, nvml" in refused.value.findings[0].fix


def test_sources_stand_in_one_order_and_are_opened_once(proc: FakeProc) -> None:
    opened = open_sources(
        ["process", "memory", "cpu", "cpu"], pid=1, procroot=proc.root
    )
    assert [one.name for one in opened.sources] == ["cpu", "memory", "process"]
    assert tuple(NAMES[:3]) == ("cpu", "memory", "process")


def test_all_sources_are_without_a_process_where_there_is_none(
    proc: FakeProc, sys_: Path
) -> None:
    places = {"sysroot": sys_, "procroot": proc.root, "devices": "none"}
    alone = open_sources(None, **places)  # type: ignore[arg-type]
    assert [one.name for one in alone.sources] == ["cpu", "memory"]
    both = open_sources(None, pid=1, **places)  # type: ignore[arg-type]
    assert [one.name for one in both.sources] == ["cpu", "memory", "process"]
    assert both.absent == ("rapl", "nvml")
