"""Recordings that Kepler's projects published: imported, then judged by the gate."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from registry.documents.spec import HardwareSpec, write_spec
from registry.gate.directory_tree import directory_tree
from registry.gate.verify import Report, verify_registry
from tests.simulators.machines import GIB, Machine
from tests.tools.conftest import write_key
from tools import cli

# The README of nx12: last burst of each stressor, and what our catalogue calls it.
STRESSORS = (
    *((21, "int"), (39, "branch"), (57, "other"), (75, "l1")),
    *((93, "llc"), (111, "membw"), (126, "other"), (144, "net-lo")),
)
MODEL_DB = (
    *("--source", "kepler-model-db", "--source-id", "models/v0.6/nx12"),
    *("--source-published", "2024-08-15"),
)


def machine(path: Path, name: str, sockets: int, cores: int) -> Path:
    """A spec with what is known of a published machine, which is little."""
    value = Machine(name, "Intel Xeon", sockets=sockets, cores=cores).spec()
    value["cpu"] = value["cpu"] | {"microarchitecture": None, "frequency": {}}  # type: ignore[operator]
    value |= {"storage": None, "power_supplies": None, "rapl_zones": None}
    value["memory"] = {"bytes": 128 * GIB}
    path.write_bytes(write_spec(HardwareSpec.model_validate(value)))
    return path


def run(*arguments: object) -> None:
    sys.argv = ["powerkit", *map(str, arguments)]
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert left.value.code in (0, None)


@pytest.fixture(scope="module")
def registry(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A registry of the published recordings, imported and signed by the command."""
    home = tmp_path_factory.mktemp("published")
    root = home / "registry"
    root.mkdir()
    before = sys.argv
    key = write_key(home / "key", "importer")
    run("enrol", "--key", key, "--contributor", 42, "--login", "ann",
        "--registry", root)  # fmt: skip
    usual = ("--contributor", 42, "--registry", root, "--yes")
    first, lines = 1, ["first_burst,last_burst,state,workload"]
    for last, workload in STRESSORS:
        lines += [f"{first},{last},1,{workload}", f"{first},{last},0,idle"]
        first = last + 1
    plan = home / "plan.csv"
    plan.write_text("\n".join(lines) + "\n")
    nx12 = machine(home / "nx12.yaml", "nx12", 1, 16)
    run("import", "kepler-csv", shared_data / "nx12" / "nx12_abs_joined.csv",
        "--platform", "acpi", "--spec", nx12, "--dataset", "nx12", "--plan", plan,
        *MODEL_DB, *usual)  # fmt: skip
    linux = shared_data / "linux415"
    run("import", "kepler-csv", linux / "acpi_KubeletOnly_abs_data.csv",
        linux / "rapl_KubeletOnly_abs_data.csv", "--spec",
        machine(home / "linux.yaml", "linux415", 1, 64),
        "--dataset", "linux415", *MODEL_DB, *usual)  # fmt: skip
    idle = shared_data / "kepler_prom_idle" / "A" / "idle.json"
    run("import", "kepler-query", idle, "--spec",
        machine(home / "idle.yaml", "broadwell", 2, 36),
        "--dataset", "prom-idle", *usual)  # fmt: skip
    for name in ("nx12", "linux415", "prom-idle"):
        run("sign", root / "datasets" / name, "--key", key)
    sys.argv = before
    return root


@pytest.fixture(scope="module")
def report(registry: Path) -> Report:
    """What the gate says of all of them."""
    return verify_registry(directory_tree(registry), arrivals={}, now=int(time.time()))


@pytest.fixture
def said(report: Report) -> Callable[[str], dict[str, str]]:
    """Codes and texts of a dataset's errors."""

    def of(dataset: str) -> dict[str, str]:
        return {
            one.code: one.what
            for one in report.findings
            if one.path.startswith(f"datasets/{dataset}/") and one.severity == "error"
        }

    return of


def test_nx12_is_refused_with_exact_reasons(
    said: Callable[[str], dict[str, str]],
) -> None:
    errors = said("nx12")
    assert set(errors) == {"E001", "E003", "E006", "E007"}
    assert "fp" in errors["E001"]
    assert errors["E003"].startswith("0 distinct achieved frequencies")


def test_a_plan_numbers_every_burst_of_nx12(registry: Path) -> None:
    runs = (registry / "datasets" / "nx12" / "runs.csv").read_text().splitlines()
    labels = [line.split(",")[1] for line in runs[1:]]
    assert labels.count("int") == 21
    assert labels.count("net-lo") == 18
    assert labels.count("idle") > 100


def test_linux415_is_refused_because_nothing_tells_what_the_machine_did(
    said: Callable[[str], dict[str, str]],
) -> None:
    assert set(said("linux415")) == {"E001", "E002", "E003", "E014", "E045"}


def test_an_idle_dump_is_refused_because_the_board_claims_less_than_its_parts(
    said: Callable[[str], dict[str, str]],
) -> None:
    errors = said("prom-idle")
    assert "acpi_joules_total" in errors["E033"]
    assert "gpu_4_joules_total" in errors["X004"]
    assert {"E001", "E002", "E003"} <= set(errors)


@pytest.mark.parametrize("dataset", ["nx12", "linux415", "prom-idle"])
def test_no_name_of_the_source_is_left(registry: Path, dataset: str) -> None:
    folder = registry / "datasets" / dataset
    public = b"".join(path.read_bytes() for path in sorted(folder.iterdir()))
    for name in (b"kind-fms", b"kube", b"tekton", b"kepler-exporter", b"1702462599"):
        assert name not in public
