"""Published measurements of Kepler go through importer and gate, and hear exactly why.

None of them is a full recording: the gate must refuse each, for its own reasons.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.simulators.machines import Machine
from tests.simulators.people import Person
from tests.simulators.registry import NOW
from tests.tools.conftest import Done, write_key, write_machine
from tools.bundles.check import check_bundle

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PLAN_OF_NX12 = """first_burst,last_burst,state,workload
2,21,1,int
22,39,1,branch
40,57,1,int
58,75,1,l1
76,93,1,llc
94,111,1,membw
112,126,1,membw
127,144,1,net-lo
1,144,0,idle
"""
"""The stressors of its README; what the machine did between bursts is idle."""
ORIGIN = (
    *("--source", "kepler-model-db", "--source-id", "models/v0.6/nx12"),
    *("--source-published", "2023-09-19"),
)


@pytest.fixture
def imported(
    powerkit: Callable[..., Done], tmp_path: Path
) -> Callable[..., dict[str, list[str]]]:
    """Import, sign and check; gives what each code says."""
    root = tmp_path / "registry-checkout"
    person = Person.new(42)
    (root / person.path).parent.mkdir(parents=True)
    (root / person.path).write_bytes(person.trust_file())
    key = write_key(tmp_path / "key", "42/person-42")

    def run(command: str, dataset: str, *arguments: object, **machine: Any) -> Any:
        sockets, cores = machine.pop("sockets"), machine.pop("cores")
        unknown: dict[str, object] = dict.fromkeys(
            ("storage", "power_supplies", "rapl_zones")
        )
        server = Machine(dataset, sockets=sockets, cores=cores, gib=64)
        cpu = dict(server.spec()["cpu"]) | {"frequency": {"max_hertz": 3_600_000_000}}  # type: ignore[call-overload]
        spec = write_machine(
            tmp_path / f"{dataset}.yaml", server, cpu=cpu, **unknown | machine
        )
        done = powerkit(
            *("import", command, *arguments, "--spec", spec, "--dataset", dataset),
            *("--contributor", 42, "--registry", root, "--yes"),
        )
        assert done.code == 0, done
        folder = root / "datasets" / dataset
        assert powerkit("sign", folder, "--key", key).code == 0
        report = check_bundle(folder, NOW)
        assert report.refused
        said: dict[str, list[str]] = {}
        for one in report.findings:
            said.setdefault(one.code, []).append(one.what)
        return said

    return run


def test_nx12_lacks_frequencies_workloads_and_long_idle_runs(
    imported: Callable[..., dict[str, list[str]]], shared_data: Path, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.csv"
    plan.write_text(PLAN_OF_NX12)
    said = imported(
        "kepler-csv",
        "nx12",
        shared_data / "nx12" / "nx12_abs_joined.csv",
        *("--platform", "acpi", "--plan", plan, *ORIGIN),
        sockets=1,
        cores=16,
    )
    assert set(said) == {"E001", "E003", "E006", "E007"}
    assert said["E001"][0].startswith("no accepted run of: fp, vec, mix")
    assert said["E003"][0].startswith("0 distinct achieved frequencies")


def test_nx12_without_a_plan_and_source_is_one_unknown_workload(
    imported: Callable[..., dict[str, list[str]]], shared_data: Path
) -> None:
    names = ("acpi_Basic", "rapl_Basic", "acpi_BPFIRQ")
    folder = shared_data / "nx12"
    said = imported(
        "kepler-csv",
        "nx12",
        *(folder / f"preprocess_abs_default_{name}.csv" for name in names),
        sockets=1,
        cores=16,
    )
    assert {"E001", "E002", "E003", "E012"} <= set(said)


def test_the_idle_dump_has_too_few_samples_and_a_node_below_its_parts(
    imported: Callable[..., dict[str, list[str]]], shared_data: Path
) -> None:
    said = imported(
        "kepler-query",
        "broadwell",
        shared_data / "kepler_prom_idle" / "A" / "idle.json",
        sockets=2,
        cores=36,
        gpus=[{"count": 5, "vendor": "nvidia", "model": "unknown"}],
    )
    assert {"E001", "E002", "E003", "E006", "E033"} <= set(said)
    assert "run 0: 6" in said["E006"][0]
    assert "acpi_joules_total" in said["E033"][0]
    assert not {code for code in said if code[0] in "PXCMSTH"}


def test_linux415_has_no_activity(
    imported: Callable[..., dict[str, list[str]]], shared_data: Path
) -> None:
    folder = shared_data / "linux415"
    said = imported(
        "kepler-csv",
        "linux415",
        folder / "acpi_KubeletOnly_abs_data.csv",
        folder / "rapl_KubeletOnly_abs_data.csv",
        sockets=1,
        cores=24,
    )
    assert {"E001", "E002", "E003", "E012", "E045"} <= set(said)


def test_linux415_has_one_column_for_all_packages(
    powerkit: Callable[..., Done], shared_data: Path, tmp_path: Path
) -> None:
    server = Machine("linux415", sockets=2, cores=48)
    spec = write_machine(tmp_path / "spec.yaml", server)
    done = powerkit(
        *("import", "kepler-csv", "--registry", tmp_path, "--contributor", 42),
        *("--spec", spec, "--dataset", "linux415", "--yes"),
        shared_data / "linux415" / "rapl_KubeletOnly_abs_data.csv",
    )
    assert (done.code, "L025" in done.out) == (1, True)
    assert not (tmp_path / "datasets").exists()
