"""Attacks that are small to send and endless to read: threat-model.md B6 and W13."""

from __future__ import annotations

import json
import os
import subprocess
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest

from registry.documents import limits
from registry.documents.findings import RegistryError
from registry.documents.manifest import read_manifest
from registry.documents.strict_csv import read_table
from registry.gate.changes import Change
from registry.gate.git_tree import arrivals, git_tree
from registry.gate.scope import scope_of
from tests.simulators.gate import Proposals, found
from tests.simulators.registry import ARRIVED, run_git, small

if TYPE_CHECKING:
    from pathlib import Path


def make_tree(repo: Path, listing: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(repo), "mktree", "--missing"],
        input=listing.encode(),
        check=True,
        capture_output=True,
    )
    return done.stdout.decode().strip()


def nest(repo: Path, tree: str, depth: int) -> str:
    """Commit a tree that holds `tree` ten to the power of `depth` times."""
    for _ in range(depth):
        tree = make_tree(
            repo, "".join(f"040000 tree {tree}\tx{at}\n" for at in range(10))
        )
    top = run_git(repo, "ls-tree", "main") + f"040000 tree {tree}\tzz\n"
    return run_git(
        repo, "commit-tree", make_tree(repo, top), "-p", "main", "-m", "x"
    ).strip()


def test_b6_trees_that_name_each_other_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    merged = Proposals(tmp_path / "repo", small())
    blob = run_git(merged.repo, "rev-parse", "main:specs/server-a.yaml").strip()
    folder = make_tree(merged.repo, f"100644 blob {blob}\tf\n")
    monkeypatch.setattr(limits, "GIT_BYTES", 200_000)
    report = merged.check_branch(nest(merged.repo, folder, 8))
    assert found(report) == [("T003", ".git")]
    assert "bytes" in report.findings[0].what
    monkeypatch.setattr(limits, "GIT_SECONDS", 0.5)
    commit = nest(merged.repo, make_tree(merged.repo, ""), 9)
    report = merged.check_branch(commit)
    assert found(report) == [("T003", ".git")]
    assert "0.5 s" in report.findings[0].what
    with pytest.raises(RegistryError, match="T003"):
        git_tree(merged.repo, commit)


def test_b6_a_repositorys_settings_run_nothing(tmp_path: Path) -> None:
    repo, mark = tmp_path / "repo", tmp_path / "mark"
    small().record(repo)
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    for setting in ("gpg.program", "core.fsmonitor", "diff.external", "pager.log"):
        run_git(repo, "config", setting, str(program))
    for setting in ("log.showSignature", "log.follow"):
        run_git(repo, "config", setting, "true")
    head, _, rest = run_git(repo, "cat-file", "commit", "main").partition("\n\n")
    armour = "-----BEGIN PGP SIGNATURE-----\n \n iQ\n -----END PGP SIGNATURE-----"
    done = subprocess.run(
        ["git", "-C", str(repo), "hash-object", "-t", "commit", "-w", "--stdin"],
        input=f"{head}\ngpgsig {armour}\n\n{rest}".encode(),
        check=True,
        capture_output=True,
    )
    signed = done.stdout.decode().strip()
    assert set(arrivals(repo, signed).values()) == {ARRIVED}
    assert not mark.exists()


def test_s10_grafts_do_not_change_when_bundles_arrived(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    small().record(repo)
    before = run_git(repo, "commit-tree", "main^{tree}", "-m", "x", when=1_000_000_000)
    commit = run_git(repo, "rev-parse", "main").strip()
    (repo / ".git" / "info").mkdir(exist_ok=True)
    (repo / ".git" / "info" / "grafts").write_text(f"{commit} {before}")
    assert set(arrivals(repo, "main").values()) == {ARRIVED}


@pytest.mark.parametrize(
    "rows",
    [b"\n" * 20_000_000, (b"," * 60_000 + b"\n") * 400, b"0,1\n" * 2_000_001],
    ids=["blank lines", "commas", "rows"],
)
def test_b6_tables_are_counted_before_they_take_memory(rows: bytes) -> None:
    data = b"run,wall_watts\n" + rows
    tracemalloc.start()
    try:
        with pytest.raises(RegistryError, match="C001"):
            read_table(data, "levels.csv", "levels")
        assert tracemalloc.get_traced_memory()[1] < 2 * len(data)
    finally:
        tracemalloc.stop()


def test_b11_a_flood_of_problems_is_counted() -> None:
    keys = {f"k{number}": 1 for number in range(5000)}
    with pytest.raises(RegistryError) as refused:
        read_manifest(json.dumps(keys).encode(), "manifest.json")
    assert len(refused.value.findings) == limits.SHOWN_PER_DOCUMENT + 1
    assert "more problems" in refused.value.findings[-1].what
    with pytest.raises(RegistryError, match="J001"):
        read_manifest(b" " * (limits.MANIFEST_BYTES + 1), "manifest.json")


def test_b6_a_flood_of_datasets_is_not_read(tmp_path: Path) -> None:
    merged = Proposals(tmp_path / "repo", small())
    changed = small()
    for number in range(30):
        changed.files[f"datasets/x{number}/manifest.json"] = b"{}"
    for number in range(500):
        changed.files[f"datasets/x1/{number}.CSV"] = b""
    report = merged.check(changed)
    assert report.bundles == limits.CHANGED_DATASETS
    assert ("T022", "datasets/x0") in found(report)
    assert ("T014", "datasets/x1") in found(report)
    assert len(report.findings) < 300


def test_t003_a_moved_or_odd_revision_is_named(tmp_path: Path) -> None:
    merged = Proposals(tmp_path / "repo", small())
    for odd in ("--help", "--octopus", "", "HEAD:datasets", "main^{tree}", "a\nb"):
        report = merged.check_branch(odd)
        assert found(report) == [("T003", ".git")]
        assert "names no commit" in report.findings[0].what


def test_git_that_is_missing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    with pytest.raises(RegistryError, match="T003"):
        git_tree(tmp_path, "HEAD")


def test_w13_a_change_of_very_many_datasets() -> None:
    """Each path is looked at a few times, not once for each of the datasets."""
    looked = 0

    class Counted(str):
        __slots__ = ()

        def startswith(self, *given: Any) -> bool:
            nonlocal looked
            looked += 1
            return super().startswith(*given)

    many = [Change(Counted(f"datasets/d{n}/levels.csv"), "added") for n in range(500)]
    assert [one.code for one in scope_of(many, ()).findings] == ["T022"]
    assert looked < 20 * len(many)
