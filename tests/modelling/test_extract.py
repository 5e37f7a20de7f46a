"""Bundles become frames of one node, in Kepler's units."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from registry.modelling.extract import BETWEEN, extract
from tests.simulators.machines import Machine, level_tables, points, sample_tables
from tests.simulators.tables import opened

RUNS = "run,workload,accepted\n0,int,1\n1,idle,1\n"


def text(tables: dict[str, bytes]) -> dict[str, str]:
    return {name.removesuffix(".csv"): data.decode() for name, data in tables.items()}


def test_load_levels_give_cpu_time_of_all_logical_cpus() -> None:
    frame = extract(opened(text(level_tables(Machine("server-x")))))
    assert len(frame.rows) == 11
    assert frame.rows["load_ratio"].is_sorted()
    full = frame.rows.row(-1, named=True)
    assert full["bpf_cpu_time_ms"] == 96 * 1000
    assert full["acpi:platform"] == 380.3
    idle = frame.rows.row(0, named=True)
    assert (idle["bpf_cpu_time_ms"], idle["idle"]) == (0.0, True)
    assert frame.idle == {"acpi:platform": 60.3}
    assert frame.machine == "server-x"
    assert frame.class_key == "xeon-gold-6248r-2s-48c-384g"
    assert not frame.recorded


def test_a_shared_meter_is_divided_by_the_nodes() -> None:
    tables = text(level_tables(Machine("server-x"), "chassis_watts"))
    nodes = {"nodes": {"count": 4, "shared_power": True}}
    frame = extract(opened(tables, spec=nodes))
    assert frame.rows["acpi:platform"].max() == pytest.approx(380.3 / 4)


def test_counters_become_rates_and_wraps_are_followed() -> None:
    machine = Machine("server-x", zone_joules=12_000.0)
    tables = text(sample_tables(machine, points(3)[:6], 10))
    frame = extract(opened(tables, machine))
    rows = frame.rows
    package = rows["rapl-sysfs:package"].to_numpy()
    assert np.all((package > 50) & (package < 320))
    assert frame.recorded
    full = rows.filter(pl.col("run") == 4)
    assert full["bpf_cpu_time_ms"].mean() == pytest.approx(96_300, rel=0.01)
    assert full["cpu_cycles"].mean() == pytest.approx(48.2 * 3e9, rel=0.01)
    assert full["load_ratio"].max() == 1.0
    assert set(rows["workload"]) == {"idle", "int", "fp", BETWEEN}
    assert set(rows["block"]) == {0, 1, 2, 3, 4}
    assert rows["block"].is_sorted()


def test_intervals_that_cross_into_another_run_belong_to_neither() -> None:
    samples = "time_seconds,run,cpu_cycles_total,wall_watts\n" + "".join(
        f"{at},{run},{at * 100},100\n"
        for at, run in enumerate(["0", "0", "0", "1", "1", "", ""])
    )
    rows = extract(opened({"samples": samples, "runs": RUNS})).rows
    assert rows["run"].to_list() == [0, 0, -1, 1, -1, -1]
    assert rows["cpu_cycles"].to_list() == [100.0] * 6


def test_rows_of_rejected_runs_are_left_out() -> None:
    samples = "time_seconds,run,cpu_cycles_total,wall_watts\n" + "".join(
        f"{at},{run},{at * 100},100\n" for at, run in enumerate("000111")
    )
    runs = "run,workload,accepted,rejected_because\n0,int,0,unstable-power\n1,idle,1,\n"
    rows = extract(opened({"samples": samples, "runs": runs})).rows
    assert rows["run"].to_list() == [-1, 1, 1]


def test_a_missing_counter_makes_one_longer_interval_for_all_columns() -> None:
    samples = (
        "time_seconds,run,cpu_cycles_total,cpu_seconds_total,wall_watts\n"
        "0,0,0,0,100\n1,0,100,1,100\n2,0,,2,120\n3,0,300,3,140\n4,0,400,4,100\n"
    )
    rows = extract(opened({"samples": samples, "runs": RUNS})).rows
    assert rows["seconds"].to_list() == [1.0, 3.0, 4.0]
    assert rows["cpu_cycles"].to_list() == [100.0, 100.0, 100.0]
    assert rows["bpf_cpu_time_ms"].to_list() == [1000.0, 1000.0, 1000.0]
    assert rows["acpi:platform"].to_list() == [100.0, 130.0, 100.0]


def test_a_gap_in_the_recording_is_no_interval() -> None:
    times = [0, 1, 2, 3, 60, 61, 62]
    samples = "time_seconds,run,cpu_cycles_total,wall_watts\n" + "".join(
        f"{at},0,{at * 100},100\n" for at in times
    )
    rows = extract(opened({"samples": samples, "runs": RUNS})).rows
    assert rows["seconds"].to_list() == [1.0, 2.0, 3.0, 61.0, 62.0]


def test_the_same_zone_of_several_sockets_is_summed_and_psys_is_not() -> None:
    header = "time_seconds,run,rapl_package_0_joules_total,rapl_package_1_joules_total"
    samples = f"{header},rapl_psys_joules_total\n" + "".join(
        f"{at},0,{at * 50},{at * 70},{at * 500}\n" for at in range(4)
    )
    rows = extract(opened({"samples": samples, "runs": RUNS})).rows
    assert rows["rapl-sysfs:package"].to_list() == [120.0, 120.0, 120.0]
    assert [name for name in rows.columns if ":" in name] == ["rapl-sysfs:package"]


def test_rates_of_a_derived_bundle_stand_for_themselves() -> None:
    samples = (
        "time_seconds,run,cpu_cycles_per_second,rapl_package_0_watts\n"
        "0,0,100,55.5\n3,0,200,66\n6,1,,70\n"
    )
    bundle = opened({"samples": samples, "runs": RUNS}, derived="rates")
    rows = extract(bundle).rows
    assert rows["cpu_cycles"].to_list() == [100.0, 200.0, None]
    assert rows["rapl-sysfs:package"].to_list() == [55.5, 66.0, 70.0]


def test_without_an_idle_run_the_lowest_readings_stand_for_idle() -> None:
    runs = "run,workload,accepted\n0,int,1\n"
    samples = "time_seconds,run,cpu_cycles_per_second,wall_watts\n" + "".join(
        f"{at},0,5,{100 + at}\n" for at in range(101)
    )
    bundle = opened({"samples": samples, "runs": runs}, derived="rates")
    assert extract(bundle).idle == {"acpi:platform": 102.0}


def test_a_reviewed_class_wins_over_the_spec() -> None:
    frame = extract(opened(text(level_tables(Machine("server-x")))), "together")
    assert frame.class_key == "together"


def test_unknown_load_is_null_and_not_zero() -> None:
    samples = "time_seconds,run,cpu_cycles_per_second,wall_watts\n0,0,5,100\n1,,6,101\n"
    bundle = opened({"samples": samples, "runs": RUNS}, derived="rates")
    assert extract(bundle).rows["load_ratio"].to_list() == [None, None]
    assert np.isfinite(extract(bundle).rows["cpu_cycles"].to_numpy()).all()
