"""NVIDIA GPUs through pynvml and a driver's library made of C."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.documents.columns import column
from tests.recording.conftest import Pretend, opened_gpus, record, row
from tests.simulators.nvml import Stub, stubbed
from tools.readings.series import Kind
from tools.recording.monitor import Opened, Recording


def recorded(stub: Stub, seconds: float, devices: str = "all") -> Recording:
    source, missing = opened_gpus(devices)
    recording = record(Opened((source,), missing), seconds, 0.05, stub.time)
    source.close()
    return recording


def test_every_number_of_a_gpu(pretend: Pretend) -> None:
    pretend("low=80;ecc=10").time(2.55)
    source, missing = opened_gpus()
    assert row(source) == {
        "gpu_0_watts": 80_000,
        "gpu_0_average_watts": 80_000 + (100 - 80) * 450,
        "gpu_0_joules_total": 1_000_000 + 220_000,
        "gpu_0_power_limit_watts": 700_000,
        "gpu_0_utilisation_ratio": 7,
        "gpu_0_memory_utilisation_ratio": 30,
        "gpu_0_encoder_utilisation_ratio": 11,
        "gpu_0_decoder_utilisation_ratio": 12,
        "gpu_0_memory_used_bytes": 1 << 30,
        "gpu_0_memory_free_bytes": 149 << 30,
        "gpu_0_bar1_used_bytes": 3 << 20,
        "gpu_0_sm_frequency_hertz": 1_980_000_000,
        "gpu_0_memory_frequency_hertz": 3_201_000_000,
        "gpu_0_celsius": 41,
        "gpu_0_memory_celsius": 55,
        "gpu_0_pcie_receive_bytes_total": (1 << 40) + 5100,
        "gpu_0_pcie_transmit_bytes_total": 4_294_962_550,
        "gpu_0_ecc_corrected_errors_total": 25,
        "gpu_0_ecc_uncorrected_errors_total": 0,
        "gpu_0_fan_ratio": 35,
        "gpu_0_processes": 2,
    }
    assert missing == ()
    source.close()
    source.close()  # harmless


def test_columns_are_those_of_the_catalogue_with_its_units(pretend: Pretend) -> None:
    pretend("")
    source, _ = opened_gpus()
    source.close()
    for one in source.series:
        entry = column(one.name, "samples")
        assert entry is not None, one.name
        assert entry.unit == one.unit, one.name
        assert (entry.kind == "counter") == (one.kind is Kind.COUNTER), one.name


def test_a_square_wave_is_integrated_and_counted(pretend: Pretend) -> None:
    recording = recorded(pretend("low=60;high=300"), 10)
    by_series = {one.series: one for one in recording.summary().energies}
    assert by_series["gpu_0_joules_total"].joules == pytest.approx(1800, rel=0.001)
    assert by_series["gpu_0_watts"].joules == pytest.approx(1800, rel=0.01)
    # the mean of a second lags: it has not yet seen what the last second drew
    assert by_series["gpu_0_average_watts"].joules == pytest.approx(1680, rel=0.01)
    power = next(s for s in recording.summary().series if s.name == "gpu_0_watts")
    assert (power.minimum, power.peak) == (60, 300)
    assert power.mean == pytest.approx(180, rel=0.01)
    assert not recording.summary().findings


def test_report_16_counter_and_integral_are_both_reported(pretend: Pretend) -> None:
    # ml-energy/zeus #181: idle for 5 s, the counter says 187 J, the power 327 J
    stub = pretend(f"low=65.4;high=65.4;energy={187 / 327}")
    summary = recorded(stub, 5).summary()
    counted, integrated, averaged = (
        next(one for one in summary.energies if one.series == series)
        for series in ("gpu_0_joules_total", "gpu_0_watts", "gpu_0_average_watts")
    )
    assert (counted.method, round(counted.joules or 0)) == ("counter", 187)
    assert (integrated.method, round(integrated.joules or 0)) == ("integral", 327)
    assert round(averaged.joules or 0) == 327
    first, second = summary.findings
    assert (first.code, first.severity, first.path) == ("O010", "warning", "gpu 0")
    assert first.what == (
        "187 J by the counter gpu_0_joules_total, "
        "327 J by integrating gpu_0_watts, over 5.0 s"
    )
    assert "gpu_0_average_watts" in second.what


def test_a_small_disagreement_is_none(pretend: Pretend) -> None:
    assert not recorded(pretend("energy=0.95"), 5).summary().findings
    assert recorded(pretend("energy=0.85"), 5).summary().findings


def test_a_gpu_without_an_energy_counter(pretend: Pretend) -> None:
    stub = pretend("nvmlDeviceGetTotalEnergyConsumption=3")
    recording = recorded(stub, 1)
    assert {one.method for one in recording.summary().energies} == {"integral"}
    (lacking,) = recording.missing
    assert (lacking.what, lacking.why) == (
        "gpu 0 energy",
        "this GPU does not support it",
    )


def test_what_is_forbidden_is_said_once_with_a_remedy(pretend: Pretend) -> None:
    stub = pretend("nvmlDeviceGetComputeRunningProcesses_v3=4;nvmlDeviceGetFanSpeed=3")
    recording = recorded(stub, 1)
    assert [(one.what, one.why, bool(one.remedy)) for one in recording.missing] == [
        ("gpu 0 fan speed", "this GPU does not support it", False),
        ("gpu 0 processes", "permission denied", True),
    ]
    assert not recording.gaps.counts


def test_a_passing_failure_is_a_gap_and_no_end(pretend: Pretend) -> None:
    stub = pretend("nvmlDeviceGetUtilizationRates=999")  # NVML_ERROR_UNKNOWN
    source, missing = opened_gpus()
    assert not missing
    assert row(source)["gpu_0_utilisation_ratio"] is None
    stub.configure("")
    assert row(source)["gpu_0_utilisation_ratio"] == 7
    assert source.gaps.counts == {
        ("gpu_0_utilisation_ratio", "unknown error"): 1,
        ("gpu_0_memory_utilisation_ratio", "unknown error"): 1,
    }
    source.close()


def test_a_gpu_that_is_lost_while_sampling(pretend: Pretend) -> None:
    recording = recorded(pretend("devices=2;lost=0;lost_at=2.01"), 4)
    lost = recording.readings("gpu_0_watts")
    assert lost[:41] == [100_000] * 41
    assert lost[41:] == [None] * 40
    assert None not in recording.readings("gpu_1_watts")
    summary = recording.summary()
    energies = {one.series: one for one in summary.energies}
    assert energies["gpu_0_watts"].joules == pytest.approx(200)
    assert energies["gpu_0_watts"].after_seconds == pytest.approx(2)
    assert energies["gpu_1_watts"].joules == pytest.approx(400)
    assert {one.code for one in summary.findings} == {"O014"}
    assert summary.findings[0].what == "40 readings: the GPU is lost"


def test_a_lost_gpu_is_not_asked_again(pretend: Pretend) -> None:
    stub = pretend("lost=0;lost_at=1")
    source, _ = opened_gpus()
    stub.time(2)
    assert set(source.read(0)) == {None}
    stub.configure("")  # it would answer, which could take long on a real machine
    assert set(source.read(0)) == {None}
    assert set(source.gaps.counts.values()) == {2}
    source.close()


def test_a_gpu_that_is_lost_from_the_start(pretend: Pretend) -> None:
    recording = recorded(pretend("devices=2;handle1=15"), 0.1)
    assert {one.device for one in recording.columns} == {"gpu 0"}
    assert [(one.what, one.why) for one in recording.missing] == [
        ("gpu 1", "the GPU is lost")
    ]


@pytest.mark.parametrize(
    ("arch", "model", "name", "kind"),
    [
        (9, "NVIDIA H200", "gpu_0_average_watts", Kind.AVERAGE),
        (7, "NVIDIA A100-SXM4-80GB", "gpu_0_watts", Kind.INSTANT),
        (7, "NVIDIA A10", "gpu_0_average_watts", Kind.AVERAGE),
        (5, "Tesla V100-SXM2-16GB", "gpu_0_watts", Kind.INSTANT),
        (0xFFFFFFFF, "Graphics Device", "gpu_0_power_usage_watts", Kind.UNKNOWN),
    ],
)
def test_what_power_means_by_architecture(
    pretend: Pretend, arch: int, model: str, name: str, kind: Kind
) -> None:
    # https://docs.nvidia.com/deploy/nvml-api, nvmlDeviceGetPowerUsage
    pretend(f"arch={arch};model={model};field185=3;field186=3")
    source, missing = opened_gpus()
    source.close()
    power = next(one for one in source.series if one.name.endswith("watts"))
    assert (power.name, power.kind) == (name, kind)
    assert power.window_seconds == (1.0 if kind is Kind.AVERAGE else None)
    other = {
        Kind.AVERAGE: ["gpu 0 power"],
        Kind.INSTANT: ["gpu 0 average power"],
        Kind.UNKNOWN: ["gpu 0 power", "gpu 0 average power"],
    }
    assert [one.what for one in missing] == other[kind]


def test_an_old_driver(old_library: Path) -> None:
    with stubbed(old_library) as stub:
        source, missing = opened_gpus()
        names = {one.name for one in source.series}
        assert row(source)["gpu_0_power_usage_watts"] == 100_000  # its age is unknown
        assert row(source)["gpu_0_processes"] == 2
        assert len(source.processes()) == 2
        source.close()
        assert stub.users == 0
    assert "gpu_0_watts" not in names
    assert {one.what: one.why for one in missing} == dict.fromkeys(
        ("gpu 0 power", "gpu 0 average power", "gpu 0 memory temperature"),
        "the driver is too old for it",
    )


def test_pcie_rates_take_turns_where_there_are_no_counters(pretend: Pretend) -> None:
    # each call waits 20 ms, which two GPUs with two ways would not have at 50 ms
    pretend("devices=2;field197=3;field198=3")
    source, missing = opened_gpus()
    assert not missing
    names = [
        f"gpu_{n}_pcie_{way}_bytes_per_second"
        for n in (0, 1)
        for way in ("receive", "transmit")
    ]
    rows = [row(source) for _ in range(5)]
    seen = [[one[name] for name in names] for one in rows]
    rx, tx = 2_000_000, 1_000_000
    assert seen == [
        [rx, None, None, None],
        [None, tx, None, None],
        [None, None, rx, None],
        [None, None, None, tx],
        [rx, None, None, None],
    ]
    assert not source.gaps.counts
    entry = column(names[0], "samples")
    unit = next(one.unit for one in source.series if one.name == names[0])
    assert entry is not None
    assert entry.unit == unit
    source.close()


def test_calls_that_prove_slow_take_turns(pretend: Pretend) -> None:
    pretend("devices=2;slow_field185=4000;slow_nvmlDeviceGetFanSpeed=200")
    source, missing = opened_gpus()
    assert not missing
    rows = [row(source) for _ in range(4)]
    for name in ("gpu_0_average_watts", "gpu_1_average_watts"):
        assert sum(one[name] is not None for one in rows) == 2
    assert {one["gpu_0_watts"] for one in rows} == {100_000}
    assert not source.gaps.counts
    source.close()


def test_pcie_bytes_of_32_bits_turn(pretend: Pretend) -> None:
    recording = recorded(pretend(""), 20)
    sent = next(s for s in recording.summary().series if s.quantity == "pcie_transmit")
    assert (sent.turns, sent.total) == (1, 20_000)


def test_the_newer_call_for_temperature(pretend: Pretend) -> None:
    pretend("nvmlDeviceGetTemperature=13")
    source, missing = opened_gpus()
    assert row(source)["gpu_0_celsius"] == 43
    assert not missing
    source.close()


def test_a_divided_gpu_is_told_of(pretend: Pretend) -> None:
    recording = recorded(pretend("mig=1"), 0.1)
    (told,) = recording.missing
    assert told.what == "gpu 0 slices"
    assert "the power of a slice is not known" in told.why


def test_processes_are_listed_only_when_asked(pretend: Pretend) -> None:
    pretend("running=70")
    source, _ = opened_gpus()
    assert row(source)["gpu_0_processes"] == 70
    listed = source.processes()
    assert len(listed) == 64
    assert (listed[0].pid, listed[0].memory, listed[0].name) == (4000, 1 << 29, "")
    assert listed[1].memory is None
    assert source.processes(names=True)[1].name == "train-4001"
    source.close()
