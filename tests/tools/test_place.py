"""Bundles are written complete or not at all, and nothing is ever overwritten."""

from __future__ import annotations

import stat
from pathlib import Path

import polars as pl
import pytest

from registry.documents.canonical import sha256
from registry.documents.findings import RegistryError
from registry.documents.manifest import read_manifest
from tests.tools.drafts import draft
from tools.bundles import pack
from tools.bundles.draft import files
from tools.bundles.pack import merged_version, place, write_file


def codes(caught: pytest.ExceptionInfo[RegistryError]) -> list[tuple[str, str]]:
    return [(one.code, one.path) for one in caught.value.findings]


def everything(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def test_files_describe_the_tables_that_the_gate_will_see() -> None:
    content = files(draft())
    path = "datasets/server-a/manifest.json"
    assert sorted(content) == [
        "datasets/server-a/levels.csv",
        path,
        "datasets/server-a/runs.csv",
        "specs/server-a.yaml",
    ]
    manifest = read_manifest(content[path], path)
    assert manifest.spec.sha256 == sha256(content["specs/server-a.yaml"])
    for entry in manifest.files:
        data = content[f"datasets/server-a/{entry.path}"]
        assert (entry.sha256, entry.bytes) == (sha256(data), len(data))
        assert entry.rows == data.count(b"\n") - 1
        assert bool(entry.sketch) == (entry.path != "runs.csv")
    assert manifest.workloads == ("idle", "ssj2008")
    assert files(draft()) == content


def test_pseudonyms_change_the_privacy_statement_by_themselves() -> None:
    tables = dict(draft().tables)
    tables["runs"] = tables["runs"].with_columns(
        pl.col("workload").replace("ssj2008", "w_abcdefghij23")
    )
    path = "datasets/server-a/manifest.json"
    content = files(draft(tables=tables))
    privacy = read_manifest(content[path], path).privacy
    assert privacy.own_workloads == "pseudonymised"


def test_all_problems_of_all_tables_are_named_at_once() -> None:
    tables = dict(draft().tables)
    tables["runs"] = tables["runs"].with_columns(pl.lit("secret").alias("workload"))
    tables["levels"] = tables["levels"].with_columns(pl.lit(5).alias("my_host"))
    with pytest.raises(RegistryError) as caught:
        files(draft(tables=tables))
    assert {code for code, _ in codes(caught)} == {"C005", "C012"}


def test_infinity_is_no_reading() -> None:
    tables = dict(draft().tables)
    tables["levels"] = tables["levels"].with_columns(
        pl.lit(float("inf")).alias("wall_watts")
    )
    with pytest.raises(RegistryError) as caught:
        files(draft(tables=tables))
    assert codes(caught) == [("L050", "datasets/server-a/levels.csv")]


def test_a_bundle_is_placed_as_plain_files(tmp_path: Path) -> None:
    content = files(draft())
    folder = place(content, tmp_path)
    assert folder == tmp_path / "datasets" / "server-a"
    assert everything(tmp_path) == content
    modes = {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert modes == {0o644}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    content = files(draft())
    place(content, tmp_path)
    with pytest.raises(RegistryError) as caught:
        place(files(draft(licence="CC0-1.0")), tmp_path)
    assert codes(caught) == [("L052", "datasets/server-a")]
    assert everything(tmp_path) == content


def test_a_link_in_the_place_of_the_folder_counts_as_there(tmp_path: Path) -> None:
    (tmp_path / "datasets").mkdir()
    (tmp_path / "datasets" / "server-a").symlink_to(tmp_path / "nowhere")
    with pytest.raises(RegistryError) as caught:
        place(files(draft()), tmp_path)
    assert codes(caught) == [("L052", "datasets/server-a")]


def test_two_datasets_of_one_machine_share_its_spec(tmp_path: Path) -> None:
    place(files(draft()), tmp_path)
    place(files(draft(dataset="second")), tmp_path)
    assert (tmp_path / "datasets" / "second").is_dir()


def test_another_spec_of_the_machine_is_refused_and_kept(tmp_path: Path) -> None:
    other = tmp_path / "specs" / "server-a.yaml"
    other.parent.mkdir()
    other.write_bytes(b"machine: server-a\n")
    with pytest.raises(RegistryError) as caught:
        place(files(draft()), tmp_path)
    assert codes(caught) == [("L053", "specs/server-a.yaml")]
    assert everything(tmp_path) == {"specs/server-a.yaml": b"machine: server-a\n"}


def test_a_full_disk_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = pack._write_new

    def full(path: Path, data: bytes) -> None:
        if path.name == "runs.csv":
            raise OSError(28, "No space left on device", str(path))
        write(path, data)

    monkeypatch.setattr(pack, "_write_new", full)
    with pytest.raises(OSError, match="No space"):
        place(files(draft()), tmp_path)
    assert everything(tmp_path) == {}
    assert list((tmp_path / "datasets").iterdir()) == []


def test_a_new_version_replaces_the_folder_as_a_whole(tmp_path: Path) -> None:
    place(files(draft()), tmp_path)
    (tmp_path / "datasets" / "server-a" / "manifest.json.sig").write_bytes(b"old")
    version, digest = merged_version(tmp_path, "server-a")
    assert version == 1
    content = files(draft(version=2, previous=digest))
    place(content, tmp_path, replace=True)
    assert everything(tmp_path) == content
    assert merged_version(tmp_path, "server-a")[0] == 2


def test_a_failed_new_version_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place(files(draft()), tmp_path)
    before = everything(tmp_path)
    rename = Path.rename

    def fails(self: Path, target: Path) -> Path:
        if self.name.startswith(".pack-"):
            raise OSError(5, "Input/output error", str(self))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fails)
    content = files(draft(version=2, previous="0" * 64))
    with pytest.raises(OSError, match="Input/output"):
        place(content, tmp_path, replace=True)
    monkeypatch.undo()
    assert everything(tmp_path) == before


def test_a_version_needs_one_before_it(tmp_path: Path) -> None:
    with pytest.raises(RegistryError) as caught:
        merged_version(tmp_path, "server-a")
    assert codes(caught) == [("L054", "datasets/server-a/manifest.json")]


def test_a_file_is_written_by_a_rename(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "file"
    target.write_bytes(b"old")
    write_file(target, b"new")
    assert target.read_bytes() == b"new"

    def fails(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pack.os, "fsync", fails)
    with pytest.raises(OSError, match="No space"):
        write_file(target, b"newer")
    assert everything(tmp_path) == {"file": b"new"}
