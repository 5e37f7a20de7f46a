"""RAPL on trees that make other readers err: the trap table of measuring.md."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.recording.conftest import Scripted, record, series
from tests.simulators import powercap
from tests.simulators.powercap import RANGE, FakePowercap, FakeZone
from tools.readings.series import Kind
from tools.recording.monitor import Opened, Recording, open_sources
from tools.sources.rapl import longest_interval_seconds, open_rapl
from tools.sources.rapl_zones import find_zones


def recorded(
    root: Path, zones: Sequence[FakeZone], seconds: float = 3, interval: float = 0.05
) -> Recording:
    tree = FakePowercap(root, zones)
    source, missing = open_rapl(root)
    assert source is not None
    return record(Opened((source,), missing), seconds, interval, tree.at)


def watts(recording: Recording) -> dict[str, float | None]:
    energies = recording.summary().energies
    assert {one.method for one in energies} == {"counter"}
    return {
        one.device: None if one.watts is None else round(one.watts, 3)
        for one in energies
    }


def codes(recording: Recording) -> list[str]:
    return [one.code for one in recording.summary().findings]


def test_two_sockets(tmp_path: Path) -> None:
    recording = recorded(tmp_path / "sys", powercap.TWO_SOCKETS)
    assert watts(recording) == {
        "package 0": 100,
        "core 0": 60,
        "dram 0": 10,
        "package 1": 50,
        "core 1": 30,
        "dram 1": 10,
    }
    assert [one.name for one in recording.columns] == [
        "rapl_package_0_joules_total",
        "rapl_core_0_joules_total",
        "rapl_dram_0_joules_total",
        "rapl_package_1_joules_total",
        "rapl_core_1_joules_total",
        "rapl_dram_1_joules_total",
    ]
    assert not recording.missing
    assert not codes(recording)


def test_each_zone_has_its_own_range_and_limit(tmp_path: Path) -> None:
    FakePowercap(tmp_path, powercap.TWO_SOCKETS)
    source, _ = open_rapl(tmp_path)
    assert source is not None
    by_name = {one.name: one for one in source.series}
    package = by_name["rapl_package_0_joules_total"]
    dram = by_name["rapl_dram_0_joules_total"]
    assert (package.modulus, dram.modulus) == (RANGE, 65_712_999_613)
    assert (package.rate_maximum, dram.rate_maximum) == (150, None)
    assert package.origin == "intel-rapl:0 package-0"
    # a quarter of a turn at twice 150 W, and at twice the 1000 W of the unknown
    assert longest_interval_seconds(package) == pytest.approx(RANGE / 1e6 / 1200)
    assert longest_interval_seconds(dram) == pytest.approx(65_712.999613 / 8000)


def test_raw_readings_are_kept(tmp_path: Path) -> None:
    recording = recorded(tmp_path / "sys", powercap.TWO_SOCKETS, seconds=0.1)
    readings = recording.readings("rapl_package_0_joules_total")
    assert readings == [10**9, 10**9 + 5_000_000, 10**9 + 10_000_000]


def test_psys_and_memory_mapped_copies(tmp_path: Path) -> None:
    recording = recorded(tmp_path / "sys", powercap.PSYS_AND_MMIO)
    assert watts(recording) == {
        "package 0": 100,
        "core 0": 60,
        "uncore 0": 5,
        "psys": 160,
    }
    (copy,) = recording.missing
    assert copy.what == "intel-rapl-mmio:0 package-0"
    assert copy.why == "the same counter is read as intel-rapl"
    assert copy.expected


def test_memory_mapped_alone_is_read(tmp_path: Path) -> None:
    zones = [FakeZone("intel-rapl-mmio:0", "package-0", 15)]
    recording = recorded(tmp_path / "sys", zones)
    assert watts(recording) == {"package 0": 15}
    assert recording.columns[0].origin == "intel-rapl-mmio:0 package-0"


def test_psys_as_the_first_zone(tmp_path: Path) -> None:
    recording = recorded(tmp_path / "sys", powercap.PSYS_FIRST)
    assert watts(recording) == {
        "psys": 300,
        "package 0": 100,
        "dram 0": 10,
        "package 1": 50,
        "dram 1": 10,
    }


def test_mirrored_dies_are_told_of(tmp_path: Path) -> None:
    recording = recorded(tmp_path / "sys", powercap.MIRRORED_DIES)
    assert watts(recording) == {"package 0 die 0": 68, "package 0 die 1": 68}
    (told,) = recording.summary().findings
    assert told.code == "O013"
    assert told.path == "rapl_package_0_die_1_joules_total"
    assert "60 of 60" in told.what


def test_distinct_dies_are_not(tmp_path: Path) -> None:
    recording = recorded(tmp_path / "sys", powercap.DISTINCT_DIES)
    assert watts(recording) == {
        "package 0 die 0": 100,
        "dram 0 die 0": 10,
        "package 0 die 1": 50,
        "dram 0 die 1": 10,
    }
    assert not codes(recording)


@pytest.mark.parametrize(("second", "told"), [(100, True), (101, False)])
def test_a_mirror_is_seen_though_it_is_read_a_little_later(
    second: float, told: bool
) -> None:
    # Counters are renewed every ms; the second one is read 50 us after the first.
    dies = [
        series(
            f"rapl_package_0_die_{die}_joules_total",
            unit="joules",
            kind=Kind.COUNTER,
            decimals=6,
            source="rapl",
            device=f"package 0 die {die}",
            quantity="energy",
            coverage="package",
            update_seconds=0.001,
        )
        for die in (0, 1)
    ]

    def values(now: int) -> list[int]:
        ms, later_ms = now // 1_000_000, (now + 50_000) // 1_000_000
        return [ms * 100_000, round(later_ms * second * 1000)]

    source = Scripted(dies, values, name="rapl")
    recording = record([source], 10, interval=0.0503)  # in no step with the counters
    assert [one.code for one in recording.summary().findings] == ["O013"] * told


def test_two_packages_that_draw_alike_are_no_mirror(tmp_path: Path) -> None:
    zones = [
        FakeZone("intel-rapl:0", "package-0", 68),
        FakeZone("intel-rapl:1", "package-1-die-0", 68),
        FakeZone("intel-rapl:2", "package-2-die-0", 68),
    ]
    assert not codes(recorded(tmp_path / "sys", zones))


def test_a_turn_of_the_counter(tmp_path: Path) -> None:
    recording = recorded(tmp_path / "sys", powercap.WRAPPING)
    assert watts(recording) == {"package 0": 100, "dram 0": 10}
    package, dram = recording.summary().series
    assert (package.turns, dram.turns) == (1, 0)
    assert package.peak == pytest.approx(100)
    assert package.total == pytest.approx(300)


def test_a_turn_that_could_hide_is_not_guessed(tmp_path: Path) -> None:
    # 310 J of range at 100 W, read every 3.1 s: the counter is where it was
    zones = [FakeZone("intel-rapl:0", "package-0", 100, start=0, range=310 * 10**6)]
    recording = recorded(tmp_path / "sys", zones, seconds=9.3, interval=3.1)
    (energy,) = recording.summary().energies
    assert energy.joules is None
    assert energy.why.startswith("3 s passed between two readings: a turn may be hid")
    assert codes(recording) == ["O011", "O015"]


def test_a_slow_interval_is_told_of(tmp_path: Path) -> None:
    zones = [FakeZone("intel-rapl:0", "package-0", 90, limit=100)]
    slow = RANGE / 1e6 / 800  # a quarter of a turn at twice 100 W
    quiet = recorded(tmp_path / "a", zones, seconds=10 * slow, interval=slow - 1)
    assert not codes(quiet)
    told = recorded(tmp_path / "b", zones, seconds=10 * slow, interval=slow + 1)
    assert codes(told) == ["O015"]
    assert watts(told) == {"package 0": 90}  # yet no turn was missed


def test_a_frozen_counter_is_no_zero(tmp_path: Path) -> None:
    recording = recorded(tmp_path / "sys", powercap.FROZEN)
    (energy,) = recording.summary().energies
    assert (energy.joules, energy.why) == (None, "it stood still for 3 s")
    assert codes(recording) == ["O011"]


def test_a_counter_that_stops_for_a_while(tmp_path: Path) -> None:
    tree = FakePowercap(tmp_path, [FakeZone("intel-rapl:0", "package-0", 100)])
    source, _ = open_rapl(tmp_path)
    assert source is not None
    recording = record([source], 4, 0.05, lambda t: tree.at(t if t < 1 else max(t, 3)))
    (told,) = recording.summary().findings
    assert (told.code, told.severity) == ("O011", "warning")
    assert recording.summary().energies[0].joules == pytest.approx(400, rel=0.01)


def test_without_its_range_a_turn_is_invalid(tmp_path: Path) -> None:
    start = RANGE - 150 * 10**6
    zones = [FakeZone("intel-rapl:0", "package-0", 100, start=start, range=None)]
    recording = recorded(tmp_path / "sys", zones)
    (energy,) = recording.summary().energies
    assert energy.joules is None
    assert energy.why == "it began again at 0, and the number at which is unknown"
    (told,) = recording.summary().findings
    assert (told.code, told.severity) == ("O012", "warning")
    (lacking,) = recording.missing
    assert lacking.what == "intel-rapl:0 package-0 max_energy_range_uj"


def test_without_its_range_and_a_turn_it_is_valid(tmp_path: Path) -> None:
    zones = [FakeZone("intel-rapl:0", "package-0", 100, range=None)]
    assert watts(recorded(tmp_path / "sys", zones)) == {"package 0": 100}


def test_a_counter_that_was_set_back_is_no_turn(tmp_path: Path) -> None:
    tree = FakePowercap(tmp_path, [FakeZone("intel-rapl:0", "package-0", 100)])
    source, _ = open_rapl(tmp_path)
    assert source is not None
    # after suspending it starts from another number, and not by a turn
    recording = record([source], 2, 0.05, lambda t: tree.at(t if t < 1 else t - 5))
    (energy,) = recording.summary().energies
    assert energy.joules is None
    assert energy.why.startswith("it jumped by what would be")


def test_a_zone_that_goes_away_leaves_gaps(tmp_path: Path) -> None:
    tree = FakePowercap(tmp_path, powercap.TWO_SOCKETS)
    source, _ = open_rapl(tmp_path)
    assert source is not None

    def moved(seconds: float) -> None:
        if seconds < 1:
            tree.at(seconds)
        elif (file := tree.folder(tree.zones[0]) / "energy_uj").exists():
            file.unlink()
        if seconds >= 1:
            for zone in tree.zones[1:]:
                energy = zone.start + round(zone.watts * seconds * 1e6)
                (tree.folder(zone) / "energy_uj").write_text(f"{energy}\n")

    recording = record([source], 2, 0.05, moved)
    readings = recording.readings("rapl_package_0_joules_total")
    assert readings[19] is not None
    assert readings[20:] == [None] * 21
    (told,) = recording.summary().findings
    assert (told.code, told.path) == ("O014", "rapl_package_0_joules_total")
    assert told.what == "21 readings: no such file"
    first = recording.summary().energies[0]
    assert first.watts == pytest.approx(100)
    assert first.after_seconds == pytest.approx(1.05)


@pytest.mark.parametrize("text", ["", "\n", "12 13\n", "-5\n", "0x10\n", "a\0b\n"])
def test_a_broken_counter_is_missing_with_its_reason(tmp_path: Path, text: str) -> None:
    tree = FakePowercap(tmp_path, powercap.TWO_SOCKETS)
    (tree.folder(tree.zones[0]) / "energy_uj").write_text(text)
    source, (lacking,) = open_rapl(tmp_path)
    assert source is not None
    assert len(source.series) == 5
    assert lacking.what == "intel-rapl:0 package-0"
    assert lacking.why in ("empty", "not a number")


def test_a_number_of_more_than_63_bits_is_missing(tmp_path: Path) -> None:
    zones = [FakeZone("intel-rapl:0", "package-0", 1, start=2**63, range=2**64)]
    recording = recorded(tmp_path / "sys", zones, seconds=0.1)
    assert recording.readings("rapl_package_0_joules_total") == [None] * 3
    (told,) = recording.summary().findings
    assert told.what == "3 readings: a number of more than 63 bits"


def test_zones_that_nobody_knows_and_names_that_two_have(tmp_path: Path) -> None:
    zones = [
        FakeZone("intel-rapl:0", "package-0", 10),
        FakeZone("intel-rapl:1", "package-0", 10),
        FakeZone("intel-rapl:2", "flux-capacitor", 10),
        FakeZone("intel-rapl:2/intel-rapl:2:0", "core", 10),
    ]
    FakePowercap(tmp_path, zones)
    source, missing = open_rapl(tmp_path)
    assert source is not None
    assert [one.name for one in source.series] == ["rapl_package_0_joules_total"]
    assert {one.what: one.why for one in missing} == {
        "intel-rapl:1 package-0": (
            "intel-rapl:0 package-0 has the column rapl_package_0_joules_total already"
        ),
        "intel-rapl:2 flux-capacitor": "it is none of the zones that are known",
        "intel-rapl:2:0 core": "it is none of the zones that are known",
    }


def test_no_zone_at_all(tmp_path: Path) -> None:
    source, (lacking,) = open_rapl(tmp_path)
    assert source is None
    assert (lacking.source, lacking.what) == ("rapl", "")
    assert lacking.why == f"there is no RAPL zone in {tmp_path}/class/powercap"
    assert "guest" in lacking.remedy


@contextmanager
def another_user() -> Iterator[None]:
    """Be nobody, if we are root: root may read everything."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_what_only_root_may_read_is_missing_and_says_so() -> None:
    folder = Path(tempfile.mkdtemp())  # outside of tmp_path, which nobody may enter
    folder.chmod(0o755)
    try:
        tree = FakePowercap(folder / "sys", powercap.TWO_SOCKETS)
        for zone in tree.zones:
            (tree.folder(zone) / "energy_uj").chmod(0o400 if os.geteuid() == 0 else 0)
        with another_user():
            source, missing = open_rapl(folder / "sys")
    finally:
        shutil.rmtree(folder)
    assert source is None
    assert len(missing) == 7
    assert missing[0].what == "intel-rapl:0 package-0"
    assert missing[0].why == "permission denied"
    assert "CVE-2020-8694" in missing[0].remedy
    assert missing[-1].what == ""
    assert missing[-1].why == (
        "no zone can be read; intel-rapl:0 package-0: permission denied"
    )
    assert "run as root" in missing[-1].remedy


def test_a_published_tree_with_a_zone_in_hexadecimal(shared_data: Path) -> None:
    root = shared_data / "sysfs_trees/A/procfs_sys/sys"
    opened = open_sources(["rapl"], sysroot=root)
    (source,) = opened.sources
    assert [(one.name, one.origin) for one in source.series] == [
        ("rapl_package_0_joules_total", "intel-rapl:0 package-0"),
        ("rapl_core_0_joules_total", "intel-rapl:0:0 core"),
        ("rapl_package_10_joules_total", "intel-rapl:a package-10"),
    ]
    assert list(source.read(0)) == [240422366267, 118821284256, 240422366267]
    assert [one.rate_maximum for one in source.series] == [95, None, 95]
    assert not opened.missing


def test_a_published_tree_with_a_copy(shared_data: Path) -> None:
    root = shared_data / "sysfs_trees/A/kepler_device_testdata/sys"
    zones, missing = find_zones(root)
    assert [zone.identity for zone in zones] == [
        "intel-rapl:0 package-0",
        "intel-rapl:0:0 core",
        "intel-rapl:a package-10",
    ]
    assert [one.what for one in missing] == ["intel-rapl-mmio:0 package-0"]
