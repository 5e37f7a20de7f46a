"""Tables of kepler-model-server become derived rates, less what is mislabelled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from registry.documents.findings import RegistryError
from registry.documents.spec import HardwareSpec
from tests.simulators.machines import Machine
from tools.importers import kepler_csv
from tools.importers.kepler_query import Imported

ACPI = "preprocess_abs_default_acpi_Basic.csv"
RAPL = "preprocess_abs_default_rapl_Basic.csv"
TABLE = """timestamp,bpf_cpu_time_us,cpu_cycles,kubelet_cpu_usage,platform_power,block5
1700000003,2000,1e9,0.5,210.0,1
1700000000,1000,5e8,0.0,200.0,1
1700000006,3000,2e9,0.0,,1
"""
POWER = """timestamp,cpu_cycles,package_power,core_power,dram_power,packge_ratio_package
1700000000,500000000,40,0,10,1
1700000003,1000000000,50,0,11,1
1700000009,3000000000,60,0,12,1
"""


def spec(sockets: int = 1, cores: int = 16) -> HardwareSpec:
    value = Machine("m", sockets=sockets, cores=cores).spec()
    return HardwareSpec.model_validate(value)


def imported(
    *texts: str, names: tuple[str, ...] = (ACPI, RAPL), **more: Any
) -> Imported:
    tables = {name: text.encode() for name, text in zip(names, texts, strict=False)}
    return kepler_csv.import_tables(tables, more.pop("machine", spec()), **more)


def refused(*texts: str, **more: Any) -> list[tuple[str, int | None]]:
    with pytest.raises(RegistryError) as caught:
        imported(*texts, **more)
    return [(one.code, one.line) for one in caught.value.findings]


def test_rates_and_watts_in_base_units_and_in_the_order_of_time() -> None:
    result = imported(TABLE)
    samples = result.tables["samples"].to_dict(as_series=False)
    assert samples == {
        "time_seconds": [0, 3, 6],
        "run": [0, 0, 0],
        "acpi_watts": [200, 210, None],
        "bpf_cpu_seconds_per_second": [1, 2, 3],
        "cpu_cycles_per_second": [5e8, 1e9, 2e9],
    }
    assert any("milliseconds" in note for note in result.notes)
    assert any("kubelet_cpu_usage" in note for note in result.notes)


def test_tables_are_joined_on_all_their_times() -> None:
    samples = imported(TABLE, POWER).tables["samples"]
    assert samples["time_seconds"].to_list() == [0, 3, 6, 9]
    assert samples["cpu_cycles_per_second"].to_list() == [5e8, 1e9, 2e9, 3e9]
    assert samples["rapl_package_0_watts"].to_list() == [40, 50, None, 60]
    assert samples["acpi_watts"].to_list() == [200, 210, None, None]


def test_zones_that_are_always_0_are_not_measured() -> None:
    result = imported(TABLE, POWER)
    assert "rapl_core_0_watts" not in result.tables["samples"].columns
    assert any("core_power" in note for note in result.notes)


def test_a_sum_over_packages_is_no_package() -> None:
    assert refused(TABLE, POWER, machine=spec(2, 32)) == [("L025", None)]


def test_power_less_a_background_is_refused() -> None:
    text = TABLE.replace("block5", "id").replace(",1\n", ",all containers\n")
    assert refused(text) == [("L026", None)]
    assert refused(TABLE, names=("preprocess_dyn_x_acpi_Basic.csv",)) == [
        ("L026", None)
    ]


def test_more_cpu_time_than_processors_is_another_unit() -> None:
    assert refused(TABLE, machine=spec(1, 1)) == [("L027", None)]


def test_tables_of_two_recordings_are_refused() -> None:
    other = POWER.replace(",1000000000,", ",1200000000,")
    assert refused(TABLE, other) == [("L028", None)]


def test_the_meter_is_never_guessed() -> None:
    assert refused(TABLE, names=("table.csv",)) == [("L029", None)]
    assert refused(TABLE, platform="hmc") == [("L029", None)]
    samples = imported(TABLE, names=("t.csv",), platform="redfish").tables["samples"]
    assert "redfish_watts" in samples.columns


def test_activity_alone_is_refused() -> None:
    text = "timestamp,cpu_cycles\n1,2\n2,3\n"
    assert refused(text) == [("L023", None)]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", None),
        ("\x00\x01", None),
        ("a,b\n1,2\n", None),
        ("timestamp,platform_power\n1,2\n", None),
        ("timestamp,platform_power\n1,2\n2,x\n", 3),
        ("timestamp,platform_power\n1,2\n,3\n", 3),
        ("timestamp,platform_power\n1,2\n2,inf\n", 3),
        ("timestamp,platform_power\n1,2\n1,3\n", None),
        ("timestamp,platform_power\n-1,2\n1,3\n", None),
        ("timestamp,platform_power\n1700000000000,2\n1700000001000,3\n", None),
        ("timestamp,platform_power\n1,2,3,4\n1,3\n", None),
    ],
)
def test_what_is_no_table_is_refused(text: str, line: int | None) -> None:
    assert refused(text) == [("L020", line)]


def test_the_number_of_tables_is_bounded() -> None:
    with pytest.raises(RegistryError, match="L020"):
        kepler_csv.import_tables({}, spec())


def test_columns_of_nobody_are_named_and_left_out() -> None:
    text = "timestamp,platform_power,mystery\n1,2,3\n2,3,4\n"
    result = imported(text)
    assert result.tables["samples"].columns == ["time_seconds", "run", "acpi_watts"]
    assert any("mystery" in note for note in result.notes)


def test_published_tables_are_joined(shared_data: Path) -> None:
    names = ("acpi_Basic", "rapl_Basic", "acpi_BPFIRQ")
    files = {
        path.name: path.read_bytes()
        for name in names
        for path in [shared_data / "nx12" / f"preprocess_abs_default_{name}.csv"]
    }
    result = kepler_csv.import_tables(files, spec())
    samples = result.tables["samples"]
    assert samples.height == 2202
    assert samples.columns == [
        "time_seconds",
        "run",
        "acpi_watts",
        "bpf_cpu_seconds_per_second",
        "cache_misses_per_second",
        "cpu_cycles_per_second",
        "cpu_instructions_per_second",
        "rapl_dram_0_watts",
        "rapl_package_0_watts",
        "softirq_block_per_second",
        "softirq_net_rx_per_second",
        "softirq_net_tx_per_second",
    ]
    assert samples["bpf_cpu_seconds_per_second"].max() == pytest.approx(29.17, abs=0.01)
    assert (result.first, result.last) == ("2023-09-19", "2023-09-19")


def test_a_published_sum_of_packages_is_refused(shared_data: Path) -> None:
    path = shared_data / "linux415" / "rapl_KubeletOnly_abs_data.csv"
    with pytest.raises(RegistryError, match="L025"):
        kepler_csv.import_tables({path.name: path.read_bytes()}, spec(2, 48))
