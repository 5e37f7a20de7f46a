"""The powerkit command as contributors use it, from tables to a checked bundle."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from registry.documents.canonical import sha256
from registry.documents.manifest import read_manifest
from tests.simulators.commands import Done
from tests.simulators.registry import run_git
from tests.tools.conftest import (
    write_key,
    write_levels,
    write_machine,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HEAVY = {
    *("polars", "numpy", "pandas", "pydantic", "cryptography", "yaml", "msgspec"),
    *("scipy", "sklearn", "great_expectations", "jsonschema", "rich.console"),
}
NEWCOMER = 77


def listing(root: Path) -> set[str]:
    """Everything in a checkout but git's own files."""
    paths = (path.relative_to(root).as_posix() for path in root.rglob("*"))
    return {path for path in paths if not path.startswith(".git/")}


@pytest.fixture
def options(checkout: Path, tmp_path: Path) -> list[object]:
    """What `pack` is given besides the tables."""
    spec = write_machine(tmp_path / "spec.yaml")
    return [
        *("--spec", spec, "--dataset", "blade-7", "--contributor", NEWCOMER),
        *("--registry", checkout, "--from", "2026-03-01", "--yes"),
    ]


def test_help_loads_nothing_heavy() -> None:
    program = (
        "import sys; from tools import cli; sys.argv = ['powerkit', '--help']\n"
        "try: cli.main()\nexcept SystemExit: pass\n"
        f"print(sorted({HEAVY!r} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stderr.strip() == "[]"
    for command in ("import", "pack", "sign", "enrol", "check", "submit"):
        assert command in done.stdout


def test_from_tables_to_a_checked_bundle(
    powerkit: Callable[..., Done],
    checkout: Path,
    tmp_path: Path,
    key_file: Path,
    options: list[object],
) -> None:
    tables = write_levels(tmp_path / "tables")
    packed = powerkit("pack", tables, *options, "--json")
    assert packed.code == 0, packed
    assert json.loads(packed.out)["packed"] == "blade-7"
    assert "'Intel Xeon Gold 6248R': spec cpu.model" in packed.err
    folder = checkout / "datasets" / "blade-7"
    written = {path.name for path in folder.iterdir()}
    assert written == {"levels.csv", "manifest.json", "runs.csv"}
    enrolled = powerkit(
        *("enrol", "--key", key_file, "--contributor", NEWCOMER),
        *("--login", "newcomer", "--registry", checkout),
    )
    assert enrolled.code == 0, enrolled
    signed = powerkit("sign", folder, "--key", key_file)
    assert signed.code == 0, signed
    assert "SHA256:" in signed.out
    before = run_git(checkout, "count-objects")

    checked = powerkit("check", folder, "--json")
    document = json.loads(checked.out)
    assert [one["code"] for one in document["findings"]] == ["L066"], document
    assert (checked.code, document["bundles"]) == (0, 1)

    mine = f"{key_file}.pub"
    listed = powerkit("check", folder, "--published-keys", mine, "--json")
    assert json.loads(listed.out)["findings"] == []
    other = write_key(tmp_path / "other", "someone else")
    foreign = powerkit("check", folder, "--published-keys", f"{other}.pub", "--json")
    codes = {one["code"] for one in json.loads(foreign.out)["findings"]}
    assert (foreign.code, "K024" in codes) == (1, True)

    assert run_git(checkout, "count-objects") == before
    status = run_git(checkout, "status", "--porcelain", "--untracked-files=all")
    assert status.splitlines() == [
        "?? datasets/blade-7/levels.csv",
        "?? datasets/blade-7/manifest.json",
        "?? datasets/blade-7/manifest.json.sig",
        "?? datasets/blade-7/runs.csv",
        f"?? registry/trust/{NEWCOMER}.yaml",
        "?? specs/blade-7.yaml",
    ]


def test_the_command_as_a_process_refuses_without_a_trace(
    checkout: Path, tmp_path: Path, options: list[object]
) -> None:
    tables = write_levels(tmp_path / "tables")
    (tables / "levels.csv").write_text("run,watts\n0,1\n")
    before = listing(checkout)
    program = "from tools.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "pack", str(tables), *map(str, options)],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 1
    assert "C005" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert listing(checkout) == before


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"--dataset": "../up"}, "L031"),
        ({"--dataset": "UPPER"}, "L031"),
        ({"--dataset": "server-a"}, "L052"),
        ({"--from": "2026-13-01"}, "M003"),
        ({"--from": "1999-01-01"}, "M003"),
        ({"--source": "other"}, "L033"),
        ({"--licence": "LicenseRef-published-facts"}, "M004"),
    ],
)
def test_bad_answers_write_nothing(
    powerkit: Callable[..., Done],
    checkout: Path,
    tmp_path: Path,
    options: list[object],
    changes: dict[str, str],
    code: str,
) -> None:
    tables, before = write_levels(tmp_path / "tables"), listing(checkout)
    more = [part for pair in changes.items() for part in pair]
    done = powerkit("pack", tables, *options, *more)
    assert (done.code, done.out.count(f"error {code}")) == (1, 1), done
    assert listing(checkout) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["unknown"],
        ["pack"],
        ["pack", "/nowhere"],
        ["import", "kepler-query"],
        ["sign", "/nowhere", "--key", "/nowhere"],
    ],
)
def test_bad_usage_is_told_apart(
    powerkit: Callable[..., Done], arguments: list[str]
) -> None:
    assert powerkit(*arguments).code == 2


def test_nobody_to_ask_is_bad_usage(
    powerkit: Callable[..., Done],
    checkout: Path,
    tmp_path: Path,
    options: list[object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tables, before = write_levels(tmp_path / "tables"), listing(checkout)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    done = powerkit("pack", tables, *(one for one in options if one != "--yes"))
    assert (done.code, "--yes" in done.err) == (2, True)
    assert "These are all texts in them" in done.out
    assert listing(checkout) == before


def test_other_files_are_no_tables(
    powerkit: Callable[..., Done], tmp_path: Path, options: list[object]
) -> None:
    tables = write_levels(tmp_path / "tables")
    (tables / "notes.txt").write_text("private")
    done = powerkit("pack", tables, *options)
    assert (done.code, "L030" in done.out) == (1, True)


def test_files_are_bounded(
    powerkit: Callable[..., Done],
    tmp_path: Path,
    options: list[object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tables = write_levels(tmp_path / "tables")
    monkeypatch.setattr("registry.documents.limits.FILE_BYTES", 10)
    done = powerkit("pack", tables, *options)
    assert (done.code, "L032" in done.out) == (1, True)


def test_a_planted_name_stops_the_packing(
    powerkit: Callable[..., Done],
    checkout: Path,
    tmp_path: Path,
    options: list[object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("USER", "gold")
    tables, before = write_levels(tmp_path / "tables"), listing(checkout)
    done = powerkit("pack", tables, *options)
    assert (done.code, "L051" in done.out) == (1, True), done
    assert "specs/blade-7.yaml" in done.out
    assert listing(checkout) == before
    assert powerkit("pack", tables, *options, "--not-a-name", "gold").code == 0


def test_an_address_in_the_spec_stops_the_packing(
    powerkit: Callable[..., Done], checkout: Path, tmp_path: Path, options: list[object]
) -> None:
    system = {"vendor": "Example", "model": "10.20.30.40", "form_factor": "blade"}
    write_machine(tmp_path / "spec.yaml", system=system)
    tables, before = write_levels(tmp_path / "tables"), listing(checkout)
    done = powerkit("pack", tables, *options)
    assert (done.code, "P001" in done.out) == (1, True), done
    assert listing(checkout) == before


def test_a_new_version_follows_the_merged_one(
    powerkit: Callable[..., Done], checkout: Path, tmp_path: Path
) -> None:
    folder = checkout / "datasets" / "server-a"
    old = (folder / "manifest.json").read_bytes()
    tables = write_levels(tmp_path / "tables")
    done = powerkit(
        *("pack", tables, "--spec", checkout / "specs" / "server-a.yaml"),
        *("--dataset", "server-a", "--contributor", 42, "--registry", checkout),
        *("--from", "2026-04-01", "--yes", "--new-version"),
    )
    assert done.code == 0, done
    manifest = read_manifest((folder / "manifest.json").read_bytes(), "m")
    assert (manifest.version, manifest.previous) == (2, sha256(old))
    assert not (folder / "manifest.json.sig").exists()


def test_a_spec_written_by_hand_takes_its_canonical_form(
    powerkit: Callable[..., Done], checkout: Path, tmp_path: Path, options: list[object]
) -> None:
    tables = write_levels(tmp_path / "tables")
    path = checkout / "specs" / "blade-7.yaml"
    canonical = write_machine(path).read_bytes()
    by_hand = canonical.replace(b"  vendor: intel\n", b"  vendor: 'intel'\n")
    assert by_hand != canonical
    path.write_bytes(by_hand)
    refused = powerkit("pack", tables, *options, "--from", "never")
    assert (refused.code, path.read_bytes()) == (1, by_hand)
    options[options.index("--spec") + 1] = path
    assert powerkit("pack", tables, *options).code == 0
    assert path.read_bytes() == canonical


def test_a_spec_that_others_signed_stays_as_it_is(
    powerkit: Callable[..., Done], checkout: Path, tmp_path: Path, options: list[object]
) -> None:
    tables = write_levels(tmp_path / "tables")
    path = checkout / "specs" / "server-a.yaml"
    by_hand = path.read_bytes().replace(b"  vendor: intel\n", b"  vendor: 'intel'\n")
    path.write_bytes(by_hand)
    options[options.index("--spec") + 1] = path
    done = powerkit("pack", tables, *options)
    assert (done.code, "L053" in done.out) == (1, True), done
    assert path.read_bytes() == by_hand
    assert not (checkout / "datasets" / "blade-7").exists()


def test_an_ended_packing_leaves_nothing(
    checkout: Path, tmp_path: Path, options: list[object]
) -> None:
    tables, before = write_levels(tmp_path / "tables"), listing(checkout)
    program = (
        "import os, signal\n"
        "from tools import cli\n"
        "from tools.bundles import pack\n"
        "pack._swap = lambda *_: os.kill(os.getpid(), signal.SIGTERM)\n"
        "cli.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "pack", str(tables), *map(str, options)],
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 143
    files = {path for path in listing(checkout) if not (checkout / path).is_dir()}
    assert files == {path for path in before if not (checkout / path).is_dir()}
    assert not list((checkout / "datasets").glob(".*"))


def test_no_writes_nothing(
    powerkit: Callable[..., Done],
    checkout: Path,
    tmp_path: Path,
    options: list[object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tables, before = write_levels(tmp_path / "tables"), listing(checkout)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("typer.confirm", lambda _: False)
    done = powerkit("pack", tables, *(one for one in options if one != "--yes"))
    assert (done.code, "Nothing was written" in done.err) == (1, True), done
    assert listing(checkout) == before


def test_published_results_are_imported(
    powerkit: Callable[..., Done], shared_data: Path, tmp_path: Path
) -> None:
    pages = sorted((shared_data / "specpower" / "raw").rglob("power_ssj2008-*.txt"))
    done = powerkit(
        *("import", "specpower", pages[0], "--contributor", 42),
        *("--registry", tmp_path, "--json"),
    )
    assert done.code == 0, done
    (name,) = json.loads(done.out)["written"]
    assert (tmp_path / "datasets" / name / "levels.csv").is_file()
    again = powerkit(
        *("import", "specpower", pages[0], "--contributor", 42),
        *("--registry", tmp_path),
    )
    assert (again.code, "L052" in again.out) == (1, True), again
    page = tmp_path / "power_ssj2008-20080116-00034.txt"
    page.write_text("no page\n")
    bad = powerkit(
        *("import", "specpower", page, "--contributor", 42, "--registry", tmp_path)
    )
    assert (bad.code, "L01" in bad.out) == (1, True), bad
    both = powerkit("import", "specpower", page, "--registry", tmp_path)
    assert both.code == 2


def test_the_version_is_told(powerkit: Callable[..., Done]) -> None:
    done = powerkit("--version")
    assert (done.code, done.out) == (0, "0.1.0\n")
