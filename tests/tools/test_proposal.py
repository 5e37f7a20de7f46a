"""What contributors check is the change that they would propose, by the gate itself."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any

import pytest

from registry.documents.findings import RegistryError
from registry.gate.drafting import base_of, is_checkout
from tests.simulators.machines import Machine
from tests.simulators.people import Person
from tests.simulators.registry import NOW, Simulator, run_git, small
from tools.bundles import check

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = "datasets/server-n"


@pytest.fixture(autouse=True)
def _no_expectations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out what takes seconds and is tested elsewhere."""
    for name in ("verify_change", "verify_registry"):
        quick = functools.partial(getattr(check, name), expectations=False)
        monkeypatch.setattr(check, name, quick)


def with_bundle(contributor: int = 42) -> Simulator:
    simulated = small()
    if contributor not in simulated.people:
        simulated.enrol(contributor)
    simulated.add_levels("server-n", contributor)
    return simulated


def codes(folder: Path, **options: Any) -> list[tuple[str, str]]:
    report = check.check_bundle(folder, NOW, **options)
    return [(one.code, one.path) for one in report.findings]


def test_a_sound_bundle_of_a_known_contributor(checkout: Path) -> None:
    with_bundle().write(checkout)
    assert codes(checkout / FOLDER) == []
    assert run_git(checkout, "branch", "--list").split() == ["*", "main"]


def test_what_is_not_signed_yet_is_judged_all_the_same(checkout: Path) -> None:
    simulated = with_bundle()
    levels = f"{FOLDER}/levels.csv"
    table = simulated.files[levels].replace(b"wall_watts", b"chassis_watts")
    simulated.files[levels] = table
    simulated.reseal("server-n")
    del simulated.files[f"{FOLDER}/manifest.json.sig"]
    simulated.write(checkout)
    found = [code for code, _ in codes(checkout / FOLDER)]
    assert "S007" in found
    assert [code for code in found if code.startswith("X")] != []


def test_a_branch_that_is_behind_begins_where_it_would_be_merged(
    checkout: Path,
) -> None:
    with_bundle().record(checkout, "newer", "main")
    run_git(checkout, "update-ref", "refs/remotes/origin/main", "newer")
    following = with_bundle()
    following.bump("server-n")
    following.sign("server-n")
    following.write(checkout)
    assert codes(checkout / FOLDER) == []


def test_a_first_contribution_brings_its_own_trust_file(checkout: Path) -> None:
    with_bundle(77).write(checkout)
    trust = "registry/trust/77.yaml"
    assert codes(checkout / FOLDER) == [("L066", trust)]
    assert codes(checkout / FOLDER, published_keys=[]) != []
    (checkout / trust).unlink()
    assert [code for code, _ in codes(checkout / FOLDER)] == ["S010"]


def test_a_trust_file_that_others_wrote_is_not_assumed(checkout: Path) -> None:
    simulated = with_bundle(77)
    stranger = Person.new(77, "stranger").with_key(Person.new(43).key)
    simulated.files[stranger.path] = stranger.trust_file()
    simulated.write(checkout)
    found = codes(checkout / FOLDER)
    assert ("K021", stranger.path) in found


def test_what_the_branch_holds_besides_is_seen(checkout: Path) -> None:
    run_git(checkout, "switch", "-q", "-c", "contribution")
    with_bundle().write(checkout)
    (checkout / "README.md").write_text("changed\n")
    run_git(checkout, "add", "-A")
    run_git(checkout, "commit", "-q", "-m", "bundle")
    assert codes(checkout / FOLDER) == [("T020", "README.md")]


def test_links_and_executables_are_what_they_are(checkout: Path) -> None:
    with_bundle().write(checkout)
    levels = checkout / FOLDER / "levels.csv"
    levels.rename(checkout / FOLDER / "elsewhere.csv")
    levels.symlink_to("elsewhere.csv")
    (checkout / FOLDER / "runs.csv").chmod(0o755)
    found = codes(checkout / FOLDER)
    assert ("T011", f"{FOLDER}/levels.csv") in found
    assert ("T011", f"{FOLDER}/runs.csv") in found


def test_odd_names_are_seen(checkout: Path) -> None:
    with_bundle().write(checkout)
    (checkout / FOLDER / 'no "name"\n.csv').write_text("run\n")
    assert {code for code, _ in codes(checkout / FOLDER)} == {"T010"}


def test_a_file_that_is_gone_is_missed(checkout: Path) -> None:
    run_git(checkout, "switch", "-q", "-c", "contribution")
    with_bundle().write(checkout)
    run_git(checkout, "add", "-A")
    run_git(checkout, "commit", "-q", "-m", "bundle")
    (checkout / FOLDER / "levels.csv").unlink()
    (finding,) = codes(checkout / FOLDER)
    assert finding[1] == f"{FOLDER}/levels.csv"


def test_a_copy_is_told(checkout: Path) -> None:
    simulated = small()
    tables = {
        name: simulated.files[f"datasets/server-a/{name}"]
        for name in ("levels.csv", "runs.csv")
    }
    fields = {"profile": "load-levels", "workloads": ["idle", "ssj2008"]}
    simulated.add_bundle("server-n", 42, Machine("server-n"), tables, **fields)
    simulated.write(checkout)
    assert "D001" in [code for code, _ in codes(checkout / FOLDER)]


def test_versions_follow_each_other(checkout: Path) -> None:
    simulated = small()
    simulated.bump("server-a")
    simulated.sign("server-a")
    simulated.write(checkout)
    folder = checkout / "datasets" / "server-a"
    assert codes(folder) == []
    simulated.bump("server-a")
    simulated.sign("server-a")
    simulated.write(checkout)
    assert "S016" in [code for code, _ in codes(folder)]


def test_a_merged_bundle_is_checked_by_itself(checkout: Path) -> None:
    folder = checkout / "datasets" / "server-a"
    report = check.check_bundle(folder, NOW)
    assert (report.findings, report.bundles) == ((), 1)
    table = folder / "levels.csv"
    table.write_bytes(table.read_bytes() + b"99,1\n")
    assert "T023" in [code for code, _ in codes(folder)]


def test_a_registry_without_git_is_checked_as_it_lies(tmp_path: Path) -> None:
    root = with_bundle().write(tmp_path / "plain")
    assert not is_checkout(root)
    assert codes(root / FOLDER) == []
    (root / FOLDER / "manifest.json.sig").unlink()
    assert codes(root / FOLDER) == [("S007", f"{FOLDER}/manifest.json.sig")]


def test_a_bundle_may_lie_outside_of_the_registry(
    checkout: Path, tmp_path: Path
) -> None:
    apart = with_bundle().write(tmp_path / "apart")
    folder = apart / FOLDER
    assert codes(folder, registry=checkout) == []
    spec = apart / "specs" / "server-n.yaml"
    moved = spec.rename(tmp_path / "spec.yaml")
    assert codes(folder, registry=checkout, spec=moved) == []
    assert [code for code, _ in codes(folder, registry=checkout)] == ["T001"]


def test_a_folder_in_no_registry_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RegistryError, match="L065"):
        check.check_bundle(tmp_path, NOW)


def test_an_unknown_base_is_refused(checkout: Path) -> None:
    with_bundle().write(checkout)
    with pytest.raises(RegistryError, match="T003"):
        check.check_bundle(checkout / FOLDER, NOW, base="no-such-branch")
    assert codes(checkout / FOLDER, base="main") == []


def test_the_merged_branch_is_found(checkout: Path) -> None:
    assert base_of(checkout) == "main"
    head = run_git(checkout, "rev-parse", "HEAD").strip()
    run_git(checkout, "update-ref", "refs/remotes/origin/main", head)
    assert base_of(checkout) == "origin/main"
    run_git(checkout, "update-ref", "refs/remotes/upstream/main", head)
    assert base_of(checkout) == "upstream/main"
    assert base_of(checkout, "HEAD") == "HEAD"


def test_a_clone_without_history_is_enough(checkout: Path, tmp_path: Path) -> None:
    (checkout / "README.md").write_text("more\n")
    run_git(checkout, "add", "-A")
    run_git(checkout, "commit", "-q", "-m", "more")
    clone = tmp_path / "clone"
    run_git(tmp_path, "clone", "-q", "--depth=1", f"file://{checkout}", str(clone))
    with_bundle().write(clone)
    assert codes(clone / FOLDER) == []


def test_what_git_cannot_hold_is_not_proposed(checkout: Path) -> None:
    with_bundle().write(checkout)
    os.mkfifo(checkout / FOLDER / "pipe.csv")
    assert codes(checkout / FOLDER) == []


def test_files_beyond_every_bound_are_not_read(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_bundle().write(checkout)
    monkeypatch.setattr("registry.documents.limits.FILE_BYTES", 100)
    with pytest.raises(RegistryError, match="T002"):
        check.check_bundle(checkout / FOLDER, NOW)


def test_a_checkout_without_a_commit_is_none(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q")
    assert not is_checkout(tmp_path)
    with pytest.raises(RegistryError, match="T003"):
        base_of(tmp_path)


def test_a_folder_of_a_checkout_is_not_its_top(checkout: Path) -> None:
    assert is_checkout(checkout)
    assert not is_checkout(checkout / "datasets")
