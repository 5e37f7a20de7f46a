"""Rebuilding a release and comparing it byte by byte."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from registry.client import rebuild_and_compare, rebuilding
from registry.documents.findings import RegistryError
from registry.publish.channels import publish
from registry.publish.integrity import open_folder
from registry.publish.release import build_release
from tests.simulators.github.hub import QUICK, FakeGitHub
from tests.simulators.machines import Machine
from tests.simulators.registry import Simulator, run_git
from tests.simulators.releases import poison
from tests.simulators.web import Answer, served, serving


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of one server, and the release of its commit in ``release``."""
    simulated = Simulator()
    simulated.enrol(42)
    simulated.add_levels("server-a", 42, Machine("server-a", seed=1))
    root = tmp_path_factory.mktemp("rebuild") / "repo"
    simulated.commit(root)
    build_release(root, root.parent / "release")
    return root


def test_the_same_bytes_come_out(repo: Path) -> None:
    found = rebuild_and_compare(repo, str(repo.parent / "release"))
    assert found.findings == ()
    index, _ = open_folder(repo.parent / "release")
    assert found.commit == index.commit
    assert found.files == len(index.assets) + 2


def test_also_from_a_web_server(repo: Path) -> None:
    with served(repo.parent / "release") as url:
        assert rebuild_and_compare(repo, url).findings == ()


def test_every_file_that_differs_is_named(repo: Path, tmp_path: Path) -> None:
    folder = tmp_path / "release"
    shutil.copytree(repo.parent / "release", folder)
    (folder / "RELEASE_NOTES.md").write_bytes(b"better\n")
    (folder / "extra.txt").write_bytes(b"")
    (folder / "held_out.jsonl").unlink()
    found = rebuild_and_compare(repo, str(folder))
    assert {finding.path for finding in found.findings} == {
        "RELEASE_NOTES.md",
        "extra.txt",
        "held_out.jsonl",
    }


def test_other_sums_on_a_web_server_are_named(repo: Path, tmp_path: Path) -> None:
    folder = tmp_path / "release"
    shutil.copytree(repo.parent / "release", folder)
    (folder / "SHA256SUMS").write_bytes(b"")
    with served(folder) as url:
        found = rebuild_and_compare(repo, url)
    assert [finding.path for finding in found.findings] == ["SHA256SUMS"]


def test_a_web_server_is_not_believed_without_reading_every_file(
    repo: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "release"
    shutil.copytree(repo.parent / "release", folder)
    (folder / "RELEASE_NOTES.md").write_bytes(b"better\n")
    (folder / "std_v0.7.11.zip").unlink()
    with served(folder) as url:
        found = rebuild_and_compare(repo, url)
    assert {finding.path: finding.code for finding in found.findings} == {
        "RELEASE_NOTES.md": "R060",
        "std_v0.7.11.zip": "R060",
    }


def test_a_file_that_cannot_be_read_is_no_difference(
    repo: Path, tmp_path: Path
) -> None:
    folder = repo.parent / "release"

    def answer(path: str) -> Answer:
        if path.endswith("held_out.jsonl"):
            return 500, {}, b""
        file = folder / path.lstrip("/")
        return (200, {}, file.read_bytes()) if file.is_file() else (404, {}, b"")

    with serving(answer) as url, pytest.raises(RegistryError) as caught:
        rebuild_and_compare(repo, url)
    assert [finding.code for finding in caught.value.findings] == ["R040"]


def test_a_release_on_github_is_compared_whole(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeGitHub(tmp_path / "hub") as hub:
        run_git(repo, "push", "--quiet", str(hub.bare), "HEAD:refs/heads/main")
        publish(
            repo.parent / "release",
            "github:",
            environment=hub.environment("power"),
            patience=QUICK,
        )
        for name, value in hub.environment().items():
            monkeypatch.setenv(name, value)
        assert rebuild_and_compare(repo, "github:power/registry").findings == ()
        assets = {asset.name: asset for asset in hub.releases[0].assets}
        assets["RELEASE_NOTES.md"].data = b"better\n"
        zipped = assets["folder.zip"]
        zipped.data = zipped.data[:-1] + b"y"
        found = rebuild_and_compare(repo, "github:power/registry")
        assert {finding.path: finding.code for finding in found.findings} == {
            "RELEASE_NOTES.md": "R060",
            "folder.zip": "R071",
        }
        zipped.data = b"y" + zipped.data[1:]
        found = rebuild_and_compare(repo, "github:power/registry")
        assert "models/std_v0.7.11.zip" in {f.path for f in found.findings}


def test_a_work_tree_is_compared_with_itself(repo: Path, tmp_path: Path) -> None:
    root = tmp_path / "tree"
    shutil.copytree(repo, root, ignore=shutil.ignore_patterns(".git"))
    build_release(root, tmp_path / "release")
    found = rebuild_and_compare(root, str(tmp_path / "release"))
    assert found.findings == ()
    assert found.commit is None


def test_other_code_and_libraries_are_told_before_anything_is_built(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rebuilding, "build_from", pytest.fail)
    folder = tmp_path / "release"
    shutil.copytree(repo.parent / "release", folder)
    index, _ = open_folder(folder)
    changed = index.model_copy(
        update={
            "code": {**index.code, "fits": "0" * 64},
            "libraries": {**index.libraries, "numpy": "1.0"},
        }
    )
    poison(folder, changed, {})
    with pytest.raises(RegistryError) as caught:
        rebuild_and_compare(repo, str(folder))
    assert [finding.code for finding in caught.value.findings] == ["R061", "R061"]
    assert "numpy 1.0" in caught.value.findings[1].what


def test_a_commit_that_is_not_there_is_told(repo: Path, tmp_path: Path) -> None:
    folder = tmp_path / "release"
    shutil.copytree(repo.parent / "release", folder)
    index, _ = open_folder(folder)
    poison(folder, index.model_copy(update={"commit": "0" * 40}), {})
    with pytest.raises(RegistryError) as caught:
        rebuild_and_compare(repo, str(folder))
    assert caught.value.findings[0].code == "T003"


def test_nothing_is_left_behind(repo: Path, tmp_path: Path) -> None:
    rebuild_and_compare(repo, str(repo.parent / "release"), work=tmp_path)
    assert list(tmp_path.glob("rebuild-*")) == []
    index = json.loads((repo.parent / "release" / "index.json").read_bytes())
    assert index["commit"]
