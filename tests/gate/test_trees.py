"""Trees: git objects and folders give the same files, and nothing follows a link."""

from __future__ import annotations

import os
import pickle
from typing import TYPE_CHECKING

import pytest

from registry.documents import limits
from registry.documents.findings import RegistryError
from registry.gate.directory_tree import directory_tree
from registry.gate.git_tree import arrivals, git_tree
from tests.simulators.registry import ARRIVED, Simulator, run_git

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(scope="module")
def simulated() -> Simulator:
    made = Simulator()
    made.enrol(42)
    made.add_levels("server-a", 42)
    made.add_levels("server-b", 42)
    return made


@pytest.fixture
def repo(simulated: Simulator, tmp_path: Path) -> Path:
    simulated.commit(tmp_path / "repo")
    return tmp_path / "repo"


def codes(call: Callable[[], object]) -> list[str]:
    with pytest.raises(RegistryError) as caught:
        call()
    return [one.code for one in caught.value.findings]


def test_both_trees_hold_the_same_bytes(simulated: Simulator, repo: Path) -> None:
    trees = git_tree(repo, "HEAD"), directory_tree(repo)
    for tree in trees:
        listed = {entry.path: entry for entry in tree.entries()}
        assert list(listed) == sorted(simulated.files)
        for path, content in tree.read_many(listed):
            assert content == simulated.files[path]
            assert listed[path].size == len(content)
            assert listed[path].mode == 0o100644
        assert [one.path for one in tree.entries("specs/")] == [
            "specs/server-a.yaml",
            "specs/server-b.yaml",
        ]
        assert codes(lambda tree=tree: tree.read("datasets/none")) == ["T001"]


def test_trees_can_be_sent_to_another_process(repo: Path) -> None:
    for tree in (git_tree(repo, "HEAD"), directory_tree(repo)):
        content = tree.read("specs/server-a.yaml")
        sent = pickle.loads(pickle.dumps(tree))  # noqa: S301 - our own bytes
        assert sent.read("specs/server-a.yaml") == content


def test_the_folder_tree_sees_only_contributions(repo: Path) -> None:
    (repo / "secret").write_text("x")
    paths = [entry.path for entry in directory_tree(repo).entries()]
    assert {path.split("/")[0] for path in paths} == {"datasets", "registry", "specs"}
    assert directory_tree(repo / "specs").entries() == []


def test_a_reader_may_stop_in_the_middle(repo: Path, simulated: Simulator) -> None:
    tree = git_tree(repo, "HEAD")
    paths = [entry.path for entry in tree.entries()]
    some = tree.read_many(paths * 40)
    next(some)
    assert tree.read(paths[-1]) == simulated.files[paths[-1]]


@pytest.mark.parametrize("rev", ["", "--all", "nobody", "HEAD\n", "HEAD:specs", "\0"])
def test_only_commits_are_revisions(repo: Path, rev: str) -> None:
    assert codes(lambda: git_tree(repo, rev)) == ["T003"]


def test_outside_a_repository(tmp_path: Path) -> None:
    assert codes(lambda: git_tree(tmp_path, "HEAD")) == ["T003"]
    assert arrivals(tmp_path, "HEAD") == {}


def test_git_missing(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(repo))
    assert codes(lambda: git_tree(repo, "HEAD")) == ["T003"]


def test_environment_cannot_point_git_elsewhere(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    assert git_tree(repo, "HEAD").entries("specs/")


def test_replaced_objects_are_not_read(repo: Path, simulated: Simulator) -> None:
    path = "specs/server-a.yaml"
    (repo / "other").write_text("other")
    new = run_git(repo, "hash-object", "-w", "other").strip()
    old = run_git(repo, "rev-parse", f"HEAD:{path}").strip()
    run_git(repo, "replace", old, new)
    assert run_git(repo, "cat-file", "-p", old) == "other"
    assert git_tree(repo, "HEAD").read(path) == simulated.files[path]


def test_a_missing_object_is_a_finding(repo: Path) -> None:
    path = "specs/server-a.yaml"
    tree = git_tree(repo, "HEAD")
    oid = run_git(repo, "rev-parse", f"HEAD:{path}").strip()
    (repo / ".git/objects" / oid[:2] / oid[2:]).unlink()
    assert codes(lambda: tree.read(path)) == ["T001"]
    assert tree.read("specs/server-b.yaml")


def test_files_over_the_limit_are_not_read(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "FILE_BYTES", 100)
    for tree in (git_tree(repo, "HEAD"), directory_tree(repo)):
        assert codes(lambda tree=tree: tree.read("specs/server-a.yaml")) == ["T002"]


def test_links_pipes_and_repositories_in_a_folder(repo: Path) -> None:
    (repo / "datasets/link.csv").symlink_to("/etc/passwd")
    os.mkfifo(repo / "datasets/pipe.csv")
    (repo / "datasets/nested/.git").mkdir(parents=True)
    (repo / "specs/run.yaml").write_text("x")
    (repo / "specs/run.yaml").chmod(0o755)
    tree = directory_tree(repo)
    modes = {entry.path: entry.mode for entry in tree.entries()}
    assert modes["datasets/link.csv"] == 0o120000
    assert modes["datasets/pipe.csv"] == 0
    assert modes["datasets/nested"] == 0o160000
    assert modes["specs/run.yaml"] == 0o100755
    for path in ("datasets/link.csv", "datasets/pipe.csv", "specs/run.yaml"):
        assert codes(lambda path=path: tree.read(path)) == ["T001"]


def test_a_root_that_is_a_link_is_not_entered(repo: Path, tmp_path: Path) -> None:
    (repo / "specs").rename(tmp_path / "elsewhere")
    (repo / "specs").symlink_to(tmp_path / "elsewhere")
    tree = directory_tree(repo)
    assert [(one.path, one.mode) for one in tree.entries("specs")] == [
        ("specs", 0o120000)
    ]


def test_a_folder_that_becomes_a_link_is_not_followed(
    repo: Path, tmp_path: Path
) -> None:
    tree = directory_tree(repo)
    (repo / "datasets/server-a").rename(tmp_path / "elsewhere")
    (repo / "datasets/server-a").symlink_to(tmp_path / "elsewhere")
    assert codes(lambda: tree.read("datasets/server-a/manifest.json")) == ["T001"]


def test_deep_folders_are_named_but_not_entered(tmp_path: Path) -> None:
    deep = tmp_path.joinpath("datasets", *["a"] * 40)
    deep.mkdir(parents=True)
    (deep / "file").write_text("x")
    (entry,) = directory_tree(tmp_path).entries()
    assert entry.mode == 0o160000
    assert entry.path.count("/") < 20


def test_git_trees_show_links_and_submodules(repo: Path) -> None:
    (repo / "datasets/link.csv").symlink_to("/etc/passwd")
    run_git(repo, "add", "-A")
    head = run_git(repo, "rev-parse", "HEAD").strip()
    run_git(repo, "update-index", "--add", "--cacheinfo", f"160000,{head},specs/sub")
    run_git(repo, "commit", "-q", "-m", "odd")
    tree = git_tree(repo, "HEAD")
    modes = {entry.path: (entry.mode, entry.size) for entry in tree.entries()}
    assert modes["datasets/link.csv"] == (0o120000, len("/etc/passwd"))
    assert modes["specs/sub"] == (0o160000, 0)
    for path in ("datasets/link.csv", "specs/sub"):
        assert codes(lambda path=path: tree.read(path)) == ["T001"]


def test_arrival_is_the_merge_not_the_commit(simulated: Simulator, repo: Path) -> None:
    """A contributor's own commit date counts for nothing (S10)."""
    assert arrivals(repo, "HEAD") == {"server-a": ARRIVED, "server-b": ARRIVED}
    run_git(repo, "checkout", "-q", "-b", "change")
    changed = simulated.copy()
    changed.add_levels("server-c", 42)
    changed.bump("server-a")
    changed.sign("server-a")
    changed.commit(repo, "new bundle", when=1_000_000_000)
    run_git(repo, "checkout", "-q", "main")
    merge = ("merge", "-q", "--no-ff", "-m", "merge", "change")
    run_git(repo, *merge, when=ARRIVED + 500)
    assert arrivals(repo, "HEAD") == {
        "server-a": ARRIVED + 500,
        "server-b": ARRIVED,
        "server-c": ARRIVED + 500,
    }
    assert arrivals(repo, "HEAD^") == {"server-a": ARRIVED, "server-b": ARRIVED}


def test_touching_other_files_of_a_bundle_is_no_arrival(
    simulated: Simulator, repo: Path
) -> None:
    changed = simulated.copy()
    changed.files["datasets/server-a/WITHDRAWN.yaml"] = b"x"
    changed.commit(repo, when=ARRIVED + 5)
    assert arrivals(repo, "HEAD")["server-a"] == ARRIVED


def test_what_is_not_committed_has_not_arrived(
    simulated: Simulator, repo: Path
) -> None:
    changed = simulated.copy()
    changed.bump("server-a")
    changed.sign("server-a")
    changed.add_levels("server-c", 42)
    del changed.files["datasets/server-b/manifest.json"]
    (repo / "datasets/server-b/manifest.json").unlink()
    changed.write(repo)
    assert arrivals(repo, "HEAD", directory_tree(repo)) == {}
    assert arrivals(repo, "HEAD", git_tree(repo, "HEAD")) == arrivals(repo, "HEAD")


def test_a_repository_without_commits_has_no_arrivals(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q")
    assert arrivals(tmp_path, "HEAD") == {}


def test_shallow_history_is_refused(repo: Path, tmp_path: Path) -> None:
    run_git(repo, "commit", "-q", "--allow-empty", "-m", "later")
    shallow = tmp_path / "shallow"
    run_git(repo, "clone", "-q", "--depth=1", f"file://{repo}", str(shallow))
    assert codes(lambda: arrivals(shallow, "HEAD")) == ["T003"]


def test_bare_repositories_work(repo: Path, tmp_path: Path) -> None:
    run_git(repo, "clone", "-q", "--bare", str(repo), str(tmp_path / "bare"))
    bare = tmp_path / "bare"
    assert git_tree(bare, "main").entries("specs/")
    assert arrivals(bare, "main")["server-a"] == ARRIVED
