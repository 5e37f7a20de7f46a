"""Dumps of Prometheus become counters of one node, without anybody's name."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest

from registry.documents.findings import RegistryError
from registry.documents.strict_csv import read_table, write_table
from tests.tools.dumps import START, Dump
from tools.importers import prometheus
from tools.importers.kepler_query import Imported, import_query

STEPS = [100.0, 130.0, 160.0, 190.0, 220.0]
IDLE = [1000.0, 1010.0, 1020.0, 1030.0, 1040.0]


def imported(dump: Dump, **options: object) -> Imported:
    return import_query(dump.bytes(), "dump.json", **options)  # type: ignore[arg-type]


def column(dump: Dump, name: str) -> list[float | None]:
    return imported(dump).tables["samples"][name].to_list()


def refused(dump: Dump | bytes, **options: object) -> list[str]:
    data = dump if isinstance(dump, bytes) else dump.bytes()
    with pytest.raises(RegistryError) as caught:
        import_query(data, "dump.json", **options)  # type: ignore[arg-type]
    return [one.code for one in caught.value.findings]


def test_modes_are_added_and_packages_kept_apart() -> None:
    dump = Dump().package(STEPS).package(IDLE, mode="idle").package(IDLE, "1")
    assert column(dump, "rapl_package_0_joules_total") == [0, 40, 80, 120, 160]
    assert column(dump, "rapl_package_1_joules_total") == [0, 10, 20, 30, 40]


def test_uneven_scrapes_keep_their_own_times() -> None:
    dump = Dump((0, 15, 30, 51, 66)).package(STEPS)
    assert column(dump, "time_seconds") == [0, 15, 30, 51, 66]
    assert imported(dump).first == imported(dump).last == "2023-11-14"


def test_no_label_gets_into_the_tables() -> None:
    dump = (
        Dump().package(STEPS).container("cpu_cycles", [0, 5, 9, 12, 20], "secret-pod")
    )
    tables = imported(dump).tables
    text = b"".join(write_table(frame, name) for name, frame in tables.items()).decode()
    for name in ("secret", "node-17", "kepler", "lw9fx", "rack4", str(START)[:6]):
        assert name not in text
        assert not any("secret" in note for note in imported(dump).notes)


def test_tables_are_what_the_gate_reads() -> None:
    dump = Dump().package(STEPS).container("bpf_cpu_time_ms", [0, 500, 900, 1200, 1300])
    for name, frame in imported(dump).tables.items():
        again = read_table(write_table(frame, name), f"{name}.csv", name)
        assert again.rows() == frame.rows()


def test_features_are_summed_in_base_units() -> None:
    dump = Dump().package(STEPS)
    dump.container("bpf_cpu_time_ms", [100, 1100, 2100, 3100, 4100], "a")
    dump.container("bpf_cpu_time_ms", [0, 500, 500, 500, 1000], "b")
    dump.container("bpf_page_cache_hit", [0, 1, 2, 3, 4])
    assert column(dump, "bpf_cpu_seconds_total") == [0, 1.5, 2.5, 3.5, 5]
    hits = column(dump, "bpf_page_cache_hits_total")
    assert hits == [0, 1_000_000, 2_000_000, 3_000_000, 4_000_000]


def test_microseconds_of_the_first_keplers_are_milliseconds() -> None:
    dump = (
        Dump().package(STEPS).container("bpf_cpu_time_us", [0, 1000, 2000, 3000, 4000])
    )
    assert column(dump, "bpf_cpu_seconds_total") == [0, 1, 2, 3, 4]
    assert any("milliseconds" in note for note in imported(dump).notes)


def test_containers_come_go_and_restart() -> None:
    dump = Dump().package(STEPS)
    dump.container("cpu_cycles", [100, 110, 120, 130, 140], "stays")
    dump.container("cpu_cycles", [None, None, 7, 9, 9], "late")
    dump.container("cpu_cycles", [50, 60, None, None, None], "ends")
    dump.container("cpu_cycles", [1000, 1001, 5, 6, 7], "restarts")
    expected = [0, 10 + 10 + 1, 10 + 7 + 5, 10 + 2 + 1, 10 + 0 + 1]
    sums = [sum(expected[: at + 1]) for at in range(5)]
    assert column(dump, "cpu_cycles_total") == sums


def test_a_metric_that_begins_late_is_empty_before_and_makes_no_jump() -> None:
    dump = Dump().package(STEPS)
    dump.container("cpu_cycles", [None, None, 9000, 9001, 9003])
    assert column(dump, "cpu_cycles_total") == [None, None, 0, 1, 3]


def test_a_mode_that_is_missing_leaves_the_cell_empty() -> None:
    dump = Dump().package(STEPS).package([None, *IDLE[1:]], mode="idle")
    dump.package(IDLE, "1")
    values = column(dump, "rapl_package_0_joules_total")
    assert values == [None, 0, 40, 80, 120]


def test_a_restart_of_kepler_cuts_and_the_longest_stretch_stays() -> None:
    dump = Dump((0, 3, 6, 9, 12, 15)).package([500, 530, 10, 40, 70, 100])
    result = imported(dump)
    samples = result.tables["samples"]
    assert samples["time_seconds"].to_list() == [0, 3, 6, 9]
    assert samples["rapl_package_0_joules_total"].to_list() == [0, 30, 60, 90]
    assert any("restarted" in note and "4 of 6" in note for note in result.notes)


def test_a_new_exporter_pod_is_a_restart_too() -> None:
    dump = Dump((0, 3, 6, 9, 12))
    dump.package([500, 530, 560, None, None], pod="old")
    dump.package([None, None, None, 5, 35], pod="new")
    assert column(dump, "rapl_package_0_joules_total") == [0, 30, 60]


def test_a_repeated_scrape_is_no_row() -> None:
    dump = Dump().package([100, 100, 130, 130, 160])
    assert column(dump, "time_seconds") == [0, 6, 12]


def test_zones_that_never_move_are_left_out() -> None:
    dump = Dump().package(STEPS)
    labels: dict[str, Any] = {"package": "0", "mode": "dynamic", "source": "rapl-sysfs"}
    dump.add("kepler_node_core_joules_total", [0, 0, 0, 0, 0], **labels)
    dump.container("cpu_instructions", [0, 0, 0, 0, 0])
    result = imported(dump)
    assert "rapl_core_0_joules_total" not in result.tables["samples"].columns
    assert "cpu_instructions_total" not in result.tables["samples"].columns
    assert sum("never moves" in note for note in result.notes) == 2


def test_estimates_are_no_measurements() -> None:
    dump = Dump().package(STEPS, source="trained_power_model")
    assert refused(dump) == ["L023"]
    dump.package(IDLE, "1")
    dump.container("package_joules", [0, 1, 2, 3, 4])
    dump.container("cpu_ref_cycles", [0, 1, 2, 3, 4])
    result = imported(dump)
    wanted = {"time_seconds", "run", "rapl_package_1_joules_total"}
    assert set(result.tables["samples"].columns) == wanted


@pytest.mark.parametrize("source", ["acpi", "redfish"])
def test_platform_energy_goes_to_its_meter(source: str) -> None:
    dump = Dump()
    for mode in ("idle", "dynamic"):
        name = "kepler_node_platform_joules_total"
        dump.add(name, STEPS, mode=mode, source=source)
    assert column(dump, f"{source}_joules_total") == [0, 60, 120, 180, 240]


def test_energy_of_gpus_is_by_index() -> None:
    dump = Dump()
    name = "kepler_node_gpu_joules_total"
    dump.add(name, STEPS, mode="idle", source="nvidia", index="3")
    dump.add(name, STEPS, mode="idle", source="nvidia", index="../3")
    assert column(dump, "gpu_3_joules_total") == [0, 30, 60, 90, 120]
    assert imported(dump).tables["samples"].width == 3


def test_of_two_accounts_of_one_counter_one_is_taken() -> None:
    dump = Dump().package(STEPS).package(IDLE, source="rapl-msr")
    assert column(dump, "rapl_package_0_joules_total") == [0, 30, 60, 90, 120]
    assert any("rapl-sysfs only" in note for note in imported(dump).notes)
    other = Dump().package(IDLE, source="rapl-msr")
    labels: dict[str, Any] = {"package": "0", "mode": "dynamic", "source": "rapl-msr"}
    other.add("kepler_node_dram_joules_total", STEPS, **labels)
    assert "rapl_dram_0_joules_total" not in imported(other).tables["samples"].columns


@pytest.mark.parametrize(
    ("first", "expected"),
    [(2_000_000_000, 2_500_000_000), (2_000_000, 2_500_000_000), (0, None)],
)
def test_frequencies_are_hertz_whatever_kepler_says(
    first: int, expected: int | None
) -> None:
    dump = Dump().package(STEPS)
    name = "kepler_node_cpu_scaling_frequency_hertz"
    dump.add(name, [first] * 5, cpu="0").add(name, [first * 3 // 2] * 5, cpu="1")
    samples = imported(dump).tables["samples"]
    found = samples["cpu_frequency_hertz"][0] if expected else None
    assert found == expected
    assert ("cpu_frequency_hertz" in samples.columns) == (expected is not None)


def test_without_a_plan_all_is_one_run_of_other() -> None:
    runs = imported(Dump().package(STEPS)).tables["runs"]
    assert runs.select("run", "workload", "accepted").rows() == [(0, "other", 1)]


def test_a_plan_in_unix_time() -> None:
    plan = f"start_unix,end_unix,workload,threads\n{START + 3},{START + 6},int,8\n"
    tables = imported(Dump().package(STEPS), plan=(plan.encode(), "plan.csv")).tables
    assert tables["samples"]["run"].to_list() == [None, 0, 0, None, None]
    row = tables["runs"].row(0, named=True)
    assert (row["workload"], row["threads"], row["start_seconds"]) == ("int", 8, 3)


def test_several_machines_are_never_added_up() -> None:
    dump = Dump().package(STEPS).package(IDLE, instance="other-node")
    assert refused(dump) == ["L021"]
    name = "node-17.rack4.example.org"
    samples = imported(dump, instance=name).tables["samples"]
    assert samples["rapl_package_0_joules_total"][1] == 30
    assert refused(dump, instance="nobody") == ["L020"]
    assert refused(Dump().package(STEPS).package(STEPS, job="again")) == ["L021"]


def test_the_same_counter_twice_is_refused() -> None:
    dump = Dump().package(STEPS).package(STEPS, pod="another")
    assert refused(dump) == ["L024"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"\xff\xfe",
        b'{"kepler_node_package_joules_total": 1}',
        b'{"kepler_node_package_joules_total": [{"metric": {}}]}',
        b'{"status": "success", "data": {}}',
        b'{"other_metric": []}',
        b"[" * 100_000,
        b'{"kepler_x": [{"metric": {}, "values": [[1, 2]]}]}',
        b'{"kepler_x": [{"metric": {}, "values": [[1, "two"]]}]}',
        b'{"kepler_x": [{"metric": {}, "values": [[1, "+Inf"]]}]}',
        b'{"kepler_x": [{"metric": {}, "values": [[2, "1"], [1, "2"]]}]}',
        b'{"kepler_x": [{"metric": {}, "values": [[1700000000000, "1"]]}]}',
    ],
)
def test_what_is_no_dump_is_refused(data: bytes) -> None:
    assert refused(data) == ["L020"]


def test_dumps_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    data = Dump().package(STEPS).package(IDLE, "1").bytes()
    for name, most in (("BYTES", 10), ("SERIES", 1), ("SAMPLES", 3)):
        with monkeypatch.context() as patched:
            patched.setattr(prometheus, name, most)
            assert refused(data) == ["L020"]


def test_nothing_measured_is_refused() -> None:
    still = Dump().package([5, 5, 5, 5, 5])
    assert refused(still) == ["L023"]
    assert refused(Dump().container("cpu_cycles", [1, 2, 3, 4, 5])) == ["L023"]
    assert refused(Dump((0,)).package([5])) == ["L023"]


def test_gaps_of_prometheus_are_no_samples() -> None:
    dump = Dump().package([100, "NaN", 160, 190, 220])
    assert column(dump, "time_seconds") == [0, 6, 9, 12]


def test_keys_of_other_programs_are_passed_over() -> None:
    dump = Dump().package(STEPS)
    value = json.loads(dump.bytes()) | {"node_load1": [{"metric": {}, "values": []}]}
    assert isinstance(
        import_query(json.dumps(value).encode(), "d").tables["runs"], pl.DataFrame
    )
