"""Pull requests that hold exactly what was meant, whatever happened before."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from registry.documents.findings import RegistryError
from registry.gate.drafting import branch_for
from registry.gate.github.forks import Account
from registry.gate.github.proposals import author_of
from tests.gate.proposing import BRANCH, NEW, blob, content, moved, opened, sent
from tests.simulators.github import FakeGitHub
from tests.simulators.registry import run_git

if TYPE_CHECKING:
    from collections.abc import Mapping

    from registry.gate.tree import Tree


def state(root: Path) -> list[str]:
    """All that a user has in a checkout."""
    refs, files, config = ["for-each-ref"], ["ls-files", "-s"], ["config", "-l"]
    status = ["status", "--porcelain"]
    return [run_git(root, *words) for words in (refs, status, files, config)]


def test_a_first_contribution_forks_pushes_and_opens(
    hub: FakeGitHub, checkout: Path
) -> None:
    (checkout / "notes.txt").write_text("mine")
    run_git(checkout, "add", "notes.txt")
    before = state(checkout)
    done = sent(hub, checkout)
    assert (done.new, done.pushed, done.by) == (True, True, "alice")
    assert done.head == f"alice:{BRANCH}"
    assert done.url == f"{hub.web}/power/registry/pull/{done.number}"
    assert content(hub, done.number) == NEW
    pull = hub.pull(done.number)
    assert (pull.issue.title, pull.issue.body) == ("Add server-n", "Hello")
    assert pull.issue.user == 4242
    assert state(checkout) == before
    modes = run_git(hub.bare, "ls-tree", "-r", pull.head_sha, *NEW)
    assert {line.split()[0] for line in modes.splitlines()} == {"100644"}


def test_the_commit_is_signed_off_by_who_git_says(
    hub: FakeGitHub, checkout: Path
) -> None:
    run_git(checkout, "config", "user.name", "Ann <Other>")
    run_git(checkout, "config", "user.email", "ann@example.org")
    done = sent(hub, checkout)
    form = "--format=%an <%ae>%n%cn <%ce>%n%B"
    shown = run_git(hub.bare, "log", "-1", form, hub.pull(done.number).head_sha)
    me = "Ann Other <ann@example.org>"
    assert shown.strip() == f"{me}\n{me}\nAdd server-n\n\nSigned-off-by: {me}"


def test_without_an_identity_github_knows_one(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    by = author_of(checkout, Account(4242, "alice"))
    assert by.text == "alice <4242+alice@users.noreply.github.com>"


def test_again_changes_nothing(hub: FakeGitHub, checkout: Path) -> None:
    first = sent(hub, checkout)
    sha = hub.pull(first.number).head_sha
    again = sent(hub, checkout, title="other", body="other")
    assert again == replace(first, new=False, pushed=False)
    assert hub.pull(first.number).head_sha == sha
    assert opened(hub) == [first.number]
    assert hub.count("POST", "receive-pack") == 1


def test_other_content_is_one_more_commit(hub: FakeGitHub, checkout: Path) -> None:
    first = sent(hub, checkout)
    sha = hub.pull(first.number).head_sha
    files = {"datasets/server-n/manifest.json": b"[]\n"}
    again = sent(hub, checkout, files)
    assert (again.number, again.new, again.pushed) == (first.number, False, True)
    assert content(hub, first.number) == files
    head = hub.pull(first.number).head_sha
    assert run_git(hub.bare, "rev-parse", f"{head}^").strip() == sha


def test_a_file_can_go(hub: FakeGitHub, checkout: Path) -> None:
    done = sent(hub, checkout, {"datasets/server-a/levels.csv": None})
    assert content(hub, done.number) == {"datasets/server-a/levels.csv": None}


def test_files_can_be_made_for_the_base_as_it_is_now(
    hub: FakeGitHub, checkout: Path
) -> None:
    moved(hub, checkout, {"specs/newer.yaml": b"new\n"})

    def make(tree: Tree) -> dict[str, bytes | None]:
        return {"specs/newer.yaml": tree.read("specs/newer.yaml") + b"more\n"}

    assert content(hub, sent(hub, checkout, make).number) == {
        "specs/newer.yaml": b"new\nmore\n"
    }


def test_what_is_merged_already_is_not_proposed(
    hub: FakeGitHub, checkout: Path
) -> None:
    done = sent(hub, checkout)
    hub.merge(done.number, "power", method="squash")
    with pytest.raises(RegistryError, match="T042"):
        sent(hub, checkout)
    assert opened(hub) == []


@pytest.mark.parametrize("method", ["merge", "squash"])
def test_after_a_merge_comes_a_new_one(
    method: str, hub: FakeGitHub, checkout: Path
) -> None:
    first = sent(hub, checkout)
    hub.merge(first.number, "power", method=method)
    files = {**NEW, "specs/server-n.yaml": b"a: c\n"}
    second = sent(hub, checkout, files)
    assert (second.number != first.number, second.new) == (True, True)
    assert content(hub, second.number) == {"specs/server-n.yaml": b"a: c\n"}
    head = hub.pull(second.number).head_sha
    assert run_git(hub.bare, "rev-list", "--count", f"main..{head}").strip() == "1"


def test_after_a_closed_one_comes_a_new_one(hub: FakeGitHub, checkout: Path) -> None:
    first = sent(hub, checkout)
    hub.set_state(hub.pull(first.number).issue, "closed")
    second = sent(hub, checkout)
    assert (second.number != first.number, second.new) == (True, True)
    assert content(hub, second.number) == NEW
    assert sent(hub, checkout).number == second.number


def test_that_main_moved_elsewhere_does_not_matter(
    hub: FakeGitHub, checkout: Path
) -> None:
    first = sent(hub, checkout)
    moved(hub, checkout, {"README.md": b"newer\n"})
    again = sent(hub, checkout)
    assert (again.number, again.pushed) == (first.number, False)
    assert content(hub, first.number) == NEW


def test_what_main_says_meanwhile_of_the_same_file_is_answered(
    hub: FakeGitHub, checkout: Path
) -> None:
    first = sent(hub, checkout)
    moved(hub, checkout, {"specs/server-n.yaml": b"a: other\n"})
    again = sent(hub, checkout)
    assert (again.number, again.pushed) == (first.number, True)
    assert content(hub, first.number) == NEW
    head = hub.pull(first.number).head_sha
    newest = run_git(hub.bare, "rev-parse", "main").strip()
    assert newest in run_git(hub.bare, "rev-parse", f"{head}^@").split()


def test_what_else_lies_on_the_branch_is_no_part_of_it(
    hub: FakeGitHub, checkout: Path
) -> None:
    first = sent(hub, checkout)
    fork = hub.bare_of("alice/registry")
    clone = checkout.parent / "clone"
    run_git(checkout.parent, "clone", "-q", "-b", BRANCH, str(fork), str(clone))
    (clone / "stray.txt").write_text("stray")
    run_git(clone, "add", "-A")
    run_git(clone, "commit", "-q", "-m", "stray")
    url = hub.git_url("alice", "alice/registry")
    run_git(clone, "push", "-q", url, f"HEAD:{BRANCH}")
    stray = run_git(clone, "rev-parse", "HEAD").strip()
    assert sent(hub, checkout).pushed
    assert content(hub, first.number) == NEW
    head = hub.pull(first.number).head_sha
    assert stray in run_git(hub.bare, "rev-list", head).split()


@pytest.mark.parametrize("depth", ["--depth=1", "--filter=blob:none"])
def test_a_clone_that_lacks_objects_is_enough(
    depth: str, hub: FakeGitHub, checkout: Path
) -> None:
    run_git(hub.bare, "config", "uploadpack.allowFilter", "true")
    for number in range(3):
        moved(hub, checkout, {"README.md": b"%d\n" % number})
    clone = checkout.parent / "thin"
    run_git(checkout.parent, "clone", "-q", depth, hub.git_url(), str(clone))
    assert content(hub, sent(hub, clone).number) == NEW


def test_a_folder_without_git_is_enough(hub: FakeGitHub, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    assert content(hub, sent(hub, plain).number) == NEW
    assert list(plain.iterdir()) == []


def test_a_check_can_stop_it_before_anything_is_written(
    hub: FakeGitHub, checkout: Path
) -> None:
    seen: list[object] = []

    def check(repo: Path, main: str, head: str, account: Account) -> None:
        seen.append((blob(repo, head, "specs/server-n.yaml"), main, account.id))
        sent(hub, checkout, {}, branch="x")

    with pytest.raises(RegistryError, match="T042"):
        sent(hub, checkout, check=check)
    newest = run_git(hub.bare, "rev-parse", "main").strip()
    assert seen == [(b"a: b\n", newest, 4242)]
    assert hub.count("POST", "/repos") == 0
    assert hub.count("POST", "receive-pack") == 0


def test_bytes_that_say_the_same_stay(hub: FakeGitHub, checkout: Path) -> None:
    sent(hub, checkout)
    files = {**NEW, "specs/server-n.yaml": b"a: b # today\n"}
    seen: list[Mapping[str, bytes | None]] = []

    def as_good(*both: Mapping[str, bytes | None]) -> bool:
        seen.extend(both)
        return True

    assert not sent(hub, checkout, files, as_good=as_good).pushed
    assert seen == [files, NEW]
    assert sent(hub, checkout, files, as_good=lambda *_: False).pushed


def test_every_dataset_has_a_branch_of_its_own_that_git_allows() -> None:
    names = ("a", "a..b", "a-b", "a.lock", "a-lock", "a.b", "a.-.b", "x" * 64)
    branches = {branch_for("withdraw", name) for name in names}
    assert len(branches) == len(names)
    for branch in branches:
        command = ["git", "check-ref-format", f"refs/heads/{branch}"]
        subprocess.run(command, check=True)
    assert branch_for("withdraw", "server-a") == "withdraw/server-a"


def test_names_of_branches_are_plain(hub: FakeGitHub, checkout: Path) -> None:
    for name in ("--upload-pack=x", "a b", "a..b", "A"):
        with pytest.raises(ValueError, match="no name of a branch"):
            sent(hub, checkout, branch=name)
