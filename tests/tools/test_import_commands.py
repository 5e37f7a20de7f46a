"""`powerkit import`: what is written, what is refused, and what is said about it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from registry.documents.manifest import read_manifest
from tests.simulators.commands import Done
from tests.simulators.machines import Machine
from tests.tools.conftest import write_machine
from tests.tools.dumps import Dump
from tests.tools.test_kepler_csv import TABLE
from tests.tools.test_specpower_text import NAME, PAGE

Powerkit = Callable[..., Done]
OTHER = NAME.replace("00001", "00002")


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """A good result and one that SPEC withdrew."""
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / NAME).write_text(PAGE)
    withdrawn = PAGE.replace(" overall ssj_ops/watt", "").replace(
        "SPECpower_ssj2008 = ", "SPECpower_ssj2008 = NC "
    )
    (folder / OTHER).write_text(withdrawn)
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty folder for bundles."""
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """The spec of a machine with one socket."""
    return write_machine(tmp_path / "m.yaml", Machine("blade-7", sockets=1, cores=16))


def test_good_results_are_written_and_others_are_named(
    powerkit: Powerkit, pages: Path, root: Path
) -> None:
    done = powerkit(
        "import", "specpower", pages, "--contributor", 42, "--registry", root
    )
    assert done.code == 1
    assert f"error L010 {OTHER}: " in done.out
    assert "written: 1" in done.out
    assert [path.name for path in (root / "datasets").iterdir()] == [
        "ssj2008-20190101-00001"
    ]
    again = powerkit(
        *("import", "specpower", pages / NAME, "--contributor", 42),
        *("--registry", root, "--json"),
    )
    assert again.code == 1
    assert [one["code"] for one in json.loads(again.out)["findings"]] == ["L052"]


def test_wanted_results_come_from_a_list(
    powerkit: Powerkit, pages: Path, root: Path, tmp_path: Path
) -> None:
    ids = tmp_path / "ids.txt"
    ids.write_text("# remarks\n20190101-00001  # this one\n")
    done = powerkit(
        *("import", "specpower", pages, "--ids-file", ids, "--contributor", 42),
        *("--registry", root, "--json"),
    )
    assert (done.code, json.loads(done.out)) == (
        0,
        {"written": ["ssj2008-20190101-00001"]},
    )
    nowhere = powerkit(
        *("import", "specpower", pages, "--id", "20990101-00001"),
        *("--contributor", 42, "--registry", root),
    )
    assert nowhere.code == 1
    assert "no source has 20990101-00001" in nowhere.out


def test_founding_is_all_or_nothing_and_only_once(
    powerkit: Powerkit, pages: Path, root: Path
) -> None:
    def founding(*more: object) -> Done:
        usual = ("import", "specpower", pages, "--founding", "--registry", root)
        return powerkit(*usual, *more)

    assert founding().code == 1
    assert not (root / "datasets").exists()
    done = founding("--id", "20190101-00001")
    assert done.code == 0
    assert "key: SHA256:" in done.out
    assert (root / "registry" / "trust" / "0.yaml").is_file()
    again = founding("--id", "20190101-00001")
    assert again.code == 1
    assert "L064" in again.out


def test_a_server_that_nobody_can_name_is_refused(
    powerkit: Powerkit, root: Path, tmp_path: Path
) -> None:
    page = tmp_path / NAME
    page.write_text(PAGE.replace("CPU Name:  Intel Xeon", "CPU Name:  Something"))
    done = powerkit(
        "import", "specpower", page, "--contributor", 42, "--registry", root
    )
    assert done.code == 1
    assert "error L015" in done.out
    assert list(root.iterdir()) == []


@pytest.mark.parametrize("more", [(), ("--founding", "--contributor", "42")])
def test_somebody_must_sign_later_or_the_founding_key_now(
    powerkit: Powerkit, pages: Path, more: tuple[str, ...]
) -> None:
    assert powerkit("import", "specpower", pages, *more).code == 2


def test_a_dump_becomes_a_bundle_without_its_names(
    powerkit: Powerkit, root: Path, spec: Path, tmp_path: Path
) -> None:
    dump = tmp_path / "response.json"
    parts = Dump().package([5, 15, 25, 35, 45])
    dump.write_bytes(parts.container("cpu_cycles", [0, 1, 2, 3, 4]).bytes())
    done = powerkit(
        *("import", "kepler-query", dump, "--spec", spec, "--dataset", "mine"),
        *("--contributor", 42, "--registry", root, "--yes", "--json"),
    )
    assert done.code == 0
    assert json.loads(done.out) == {"folder": "datasets/mine", "packed": "mine"}
    assert "rapl_package_0_joules_total" in done.err
    path = "datasets/mine/manifest.json"
    manifest = read_manifest((root / path).read_bytes(), path)
    assert manifest.privacy.own_workloads == "withheld"
    assert manifest.derived is None
    for file in (root / "datasets" / "mine").iterdir():
        assert b"rack4" not in file.read_bytes()


def test_a_plan_says_what_ran(
    powerkit: Powerkit, root: Path, spec: Path, tmp_path: Path
) -> None:
    table = tmp_path / "preprocess_abs_default_acpi_Basic.csv"
    table.write_text(TABLE)
    plan = tmp_path / "plan.csv"
    plan.write_text("start_seconds,end_seconds,workload\n0,3,int\n4,6,idle\n")
    done = powerkit(
        *("import", "kepler-csv", table, "--spec", spec, "--dataset", "mine"),
        *("--contributor", 42, "--registry", root, "--yes", "--plan", plan),
        *("--source", "kepler-model-db", "--source-id", "models/x"),
        *("--source-published", "2024-08-15"),
    )
    assert done.code == 0
    path = "datasets/mine/manifest.json"
    manifest = read_manifest((root / path).read_bytes(), path)
    assert manifest.workloads == ("idle", "int")
    assert manifest.derived == "rates"
    assert manifest.source is not None
    assert manifest.measured.first == "2023-11-14"


def test_part_of_a_source_is_no_source(
    powerkit: Powerkit, root: Path, spec: Path, tmp_path: Path
) -> None:
    table = tmp_path / "preprocess_abs_default_acpi_Basic.csv"
    table.write_text(TABLE)
    done = powerkit(
        *("import", "kepler-csv", table, "--spec", spec, "--dataset", "mine"),
        *("--contributor", 42, "--registry", root, "--yes", "--source", "other"),
    )
    assert done.code == 1
    assert "L033" in done.out
    assert list(root.iterdir()) == []
