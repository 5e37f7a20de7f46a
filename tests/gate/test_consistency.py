"""What was measured must be possible on the machine that the spec describes."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from registry.documents.bundle import Bundle
from registry.gate.consistency import check_spec_and_data
from registry.gate.rates import fastest
from tests.simulators.bundles import changed, levels_bundle, samples_bundle, scaled
from tests.simulators.changes import WALL, Change, kept, levels, of_spec, runs, samples


@pytest.fixture(scope="module")
def recorded() -> Bundle:
    return samples_bundle()


@pytest.fixture(scope="module")
def loaded() -> Bundle:
    return levels_bundle()


def cpu(**fields: object) -> Change:
    def change(bundle: Bundle) -> Bundle:
        now = bundle.spec.cpu.model_dump(mode="json", exclude_none=True)
        return changed(bundle, spec={"cpu": now | fields})

    return change


def both(*changes: Change) -> Change:
    def change(bundle: Bundle) -> Bundle:
        for one in changes:
            bundle = one(bundle)
        return bundle

    return change


SHARED = {"nodes": {"count": 4, "shared_power": True}}
GUEST = {"virtualisation": {"kind": "vm", "hypervisor": "kvm"}, "rapl_zones": []}
GPU = {"gpus": [{"count": 2, "vendor": "nvidia", "model": "A100"}]}
CHASSIS = WALL.alias("chassis_watts")

RECORDINGS: dict[str, tuple[Change, list[str]]] = {
    "as it should be": (lambda bundle: bundle, []),
    "fewer CPUs than were busy": (cpu(cores=40), ["X001", "X001", "X008"]),
    "milliseconds for seconds": (samples(scaled("cpu_seconds_total", 1000)), ["X001"]),
    "derived CPU time": (
        samples(pl.lit(120.0).alias("cpu_seconds_per_second")),
        ["X001"],
    ),
    "cycles of a larger machine": (samples(scaled("cpu_cycles_total", 3)), ["X011"]),
    "a frequency in kilohertz of hertz": (
        samples(scaled("cpu_frequency_hertz", 1000)),
        ["X002"],
    ),
    "a frequency above turbo": (
        runs(scaled("frequency_achieved_hertz", 1.5)),
        ["X002"],
    ),
    "a frequency above any turbo": (
        both(
            cpu(frequency={"base_hertz": 1_000_000_000}),
            runs(scaled("frequency_set_hertz", 1.2)),
        ),
        ["X002", "X002", "X002"],
    ),
    "an unknown highest frequency": (cpu(frequency={}), []),
    "a frequency below the lowest": (
        runs(scaled("frequency_achieved_hertz", 0.8)),
        ["X002"],
    ),
    "a socket more": (cpu(sockets={"populated": 1}), ["X003", "X003"]),
    "a GPU that is not there": (samples((WALL / 4).alias("gpu_0_watts")), ["X004"]),
    "a GPU more": (
        both(of_spec(**GPU), samples((WALL / 4).alias("gpu_2_watts"))),
        ["X004"],
    ),
    "all GPUs": (both(of_spec(**GPU), samples((WALL / 4).alias("gpu_1_watts"))), []),
    "memory in use beyond all": (
        samples(pl.lit(400.0 * 2**30).alias("memory_used_bytes")),
        ["X005"],
    ),
    "memory in use": (samples(pl.lit(300.0 * 2**30).alias("memory_used_bytes")), []),
    "one node's column of a shared meter": (of_spec(**SHARED), ["X006"]),
    "a shared meter of one node": (samples(CHASSIS), ["X006"]),
    "a guest with the host's power": (
        of_spec(**GUEST),
        ["X007"],
    ),
    "a container with the host's power": (
        of_spec(virtualisation={"kind": "container"}),
        ["X007"],
    ),
    "a guest with a GPU of its own": (
        both(
            of_spec(**GUEST, **GPU),
            lambda bundle: changed(
                bundle,
                samples=bundle.tables["samples"].select(
                    ~pl.selectors.contains("joules", "watts"),
                    (WALL / 4).alias("gpu_0_watts"),
                ),
            ),
        ),
        [],
    ),
    "more threads than CPUs": (runs(pl.col("threads") + 8), ["X008"]),
    "another workload": (
        runs(pl.col("workload").replace("fp", "crypt")),
        ["X009"],
    ),
    "a drive that is not there": (
        samples(pl.lit(5.0).alias("storage_2_watts")),
        ["X010"],
    ),
    "drives that nobody counted": (
        both(
            lambda bundle: replace(
                bundle, spec=bundle.spec.model_copy(update={"storage": None})
            ),
            samples(pl.lit(5.0).alias("storage_2_watts")),
        ),
        [],
    ),
    "a supply that is not there": (
        samples((WALL / 2).alias("psu_2_input_watts")),
        ["X010"],
    ),
    "another vendor's counter": (
        samples(pl.col("cpu_seconds_total").alias("amd_socket_1_joules_total")),
        ["X012"],
    ),
}

LEVELS: dict[str, tuple[Change, list[str]]] = {
    "as it should be": (lambda bundle: bundle, []),
    "one node's column of a shared meter": (of_spec(**SHARED), ["X006"]),
    "a shared meter": (
        both(
            of_spec(**SHARED),
            lambda b: changed(
                b, levels=b.tables["levels"].rename({"wall_watts": "chassis_watts"})
            ),
        ),
        [],
    ),
    "a guest": (of_spec(**GUEST), ["X007"]),
    "CPU time": (levels(pl.lit(97.0).alias("cpu_seconds_per_second")), []),
    "too much CPU time": (
        levels(pl.lit(101.0).alias("cpu_seconds_per_second")),
        ["X001"],
    ),
    "no idle run": (kept("runs", pl.col("workload") != "idle"), ["X009"]),
}


def codes(bundle: Bundle) -> list[str]:
    return [found.code for found in check_spec_and_data(bundle)]


@pytest.mark.parametrize("name", RECORDINGS)
def test_recordings(name: str, recorded: Bundle) -> None:
    change, expected = RECORDINGS[name]
    assert codes(change(recorded)) == expected


@pytest.mark.parametrize("name", LEVELS)
def test_load_levels(name: str, loaded: Bundle) -> None:
    change, expected = LEVELS[name]
    assert codes(change(loaded)) == expected


def test_findings_say_what_was_measured_and_what_is_described(
    recorded: Bundle,
) -> None:
    found, *_ = check_spec_and_data(cpu(cores=40)(recorded))
    assert found.path == "datasets/server-b/samples.csv"
    assert found.what.startswith("cpu_seconds: 96.")
    assert found.what.endswith("a second, the spec has 80 logical CPUs")


def test_a_bundle_without_runs_is_no_error(recorded: Bundle) -> None:
    only = replace(recorded, tables={"samples": recorded.tables["samples"]})
    assert codes(only) == []


TIMES = [0.0, 1.0, 2.0, 9.0, 10.0, 20.0]


@pytest.mark.parametrize(
    ("times", "values", "expected"),
    [
        (TIMES, [0.0, 1, 2, 9, 10, 20], 1.0),
        (TIMES, [0.0, 1, 2, 9, 10, 60], 5.0),
        ([0.0, 1.0], [0.0, 3.0], 3.0),
        ([0.0], [5.0], None),
        ([0.0, 1.0], [None, 3.0], None),
    ],
)
def test_rates_are_over_whole_windows(
    times: list[float], values: list[float | None], expected: float | None
) -> None:
    frame = pl.DataFrame(
        {
            "time_seconds": times,
            "cpu_seconds_total": pl.Series(values, dtype=pl.Float64),
        }
    )
    found = fastest(frame, "cpu_seconds")
    assert found == (None if expected is None else pytest.approx(expected))


def test_a_burst_between_two_reads_is_no_sustained_rate() -> None:
    """Jitter of the clock makes single steps fast; windows do not see it."""
    times = [row + (0.9 if row % 2 else 0.0) for row in range(40)]
    frame = pl.DataFrame(
        {"time_seconds": times, "cpu_seconds_total": [float(row) for row in range(40)]}
    )
    rate = fastest(frame, "cpu_seconds")
    assert rate is not None
    assert rate < 1.25
