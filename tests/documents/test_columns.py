"""The catalogue of columns agrees with itself and with Kepler."""

from __future__ import annotations

import re

import pytest

from registry.documents import columns
from registry.documents.columns import FEATURE_GROUPS, catalogue, column
from registry.documents.columns_page import columns_page


def test_every_entry_says_what_it_is() -> None:
    names = [entry.name for entry in catalogue()]
    assert len(names) == len(set(names)) > 150
    for entry in catalogue():
        assert re.fullmatch(r"[a-z][a-z0-9_{}]*", entry.name)
        assert entry.meaning
        assert entry.source, entry.name
        assert set(entry.tables) <= set(columns.TABLES)
        assert set(entry.filled) <= set(entry.tables)
        assert entry.minimum < entry.maximum
        assert (entry.kind == "counter") == entry.name.endswith("_total"), entry.name
        assert "|" not in entry.meaning


@pytest.mark.parametrize(
    ("unit", "ending"),
    [("watts", "_watts"), ("hertz", "_hertz"), ("celsius", "_celsius")],
)
def test_gauges_are_named_for_their_unit(unit: str, ending: str) -> None:
    for entry in catalogue():
        if entry.kind == "gauge":
            assert (entry.unit == unit) == entry.name.endswith(ending), entry.name
        elif entry.unit == "joules":
            assert entry.name.endswith("_joules_total")


def test_indexed_columns() -> None:
    found = column("rapl_package_1_joules_total", "samples")
    assert found is not None
    assert (found.name, found.zone, found.power) == (
        "rapl_package_1_joules_total",
        "package",
        "rapl-sysfs",
    )
    for index in ("01", "{n}", "", "10000", "-1"):
        name = f"rapl_package_{index}_joules_total"
        assert column(name, "samples") is None


def test_rates_of_counters() -> None:
    watts = column("rapl_dram_0_watts", "levels")
    assert watts is not None
    assert (watts.unit, watts.kind, watts.derived_from) == (
        "watts",
        "gauge",
        "rapl_dram_0_joules_total",
    )
    rate = column("cpu_cycles_per_second", "samples")
    assert rate is not None
    assert (rate.feature, rate.derived_from) == ("cpu_cycles", "cpu_cycles_total")
    assert column("rapl_dram_0_joules_per_second", "samples") is None
    assert column("cpu_cycles_watts", "samples") is None
    assert column("nonsense_per_second", "samples") is None
    gauge = column("acpi_watts", "samples")
    assert gauge is not None
    assert gauge.derived_from == ""


def test_tables_have_their_own_columns() -> None:
    assert column("cpu_cycles_total", "levels") is None
    assert column("workload", "samples") is None
    assert column("acpi_watts", "runs") is None
    assert columns.required("samples") == ("time_seconds", "run")
    assert columns.required("runs") == ("run", "workload", "accepted")
    assert columns.required("levels") == ("run",)


def test_kepler_features_have_a_source() -> None:
    features = {entry.feature for entry in catalogue()} - {""}
    for group in ("BPFOnly", "CounterOnly", "Basic", "BPFIRQ", "CounterIRQCombined"):
        assert set(FEATURE_GROUPS[group]) <= features
        assert list(FEATURE_GROUPS[group]) == sorted(FEATURE_GROUPS[group])
    cpu = column("bpf_cpu_seconds_total", "samples")
    assert cpu is not None
    assert (cpu.feature, cpu.scale) == ("bpf_cpu_time_ms", 1000.0)
    cache = column("bpf_page_cache_hits_total", "samples")
    assert cache is not None
    assert cache.scale == 1e-6


def test_foreign_names_are_recognised() -> None:
    assert columns.resembling("kepler_container_cpu_cycles_total", "samples") == (
        "cpu_cycles_total"
    )
    assert columns.resembling("LLC-loads", "samples") == "llc_loads_total"
    assert columns.resembling("acpi_wats", "levels") == "acpi_watts"
    assert columns.resembling("zzz", "levels") is None


def test_the_page_lists_every_column() -> None:
    page = columns_page()
    for entry in catalogue():
        assert f"`{entry.name}`" in page
    assert "`run` (required)" in page
    columns, _, workloads = page.rpartition("\n## ")
    for part, bars in ((columns, 9), (workloads, 4)):
        rows = [line for line in part.splitlines() if line.startswith("|")]
        assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {bars}


def test_a_mistake_in_the_catalogue_is_found() -> None:
    from registry.documents import column_catalogue

    with pytest.raises(ValueError, match="unknown fields"):
        column_catalogue._entry("x", {"untis": "watts"})
    with pytest.raises(ValueError, match="no kind"):
        column_catalogue._entry("x", {"kind": "histogram"})
    with pytest.raises(TypeError, match="mapping is missing"):
        column_catalogue._section("text")
