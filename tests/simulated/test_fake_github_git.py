"""Clones, pushes, forks and merges of the fake are git's own."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
import requests

from tests.simulated.conftest import clone, git, push
from tests.simulators.github import CannotMerge, FakeGitHub

WITH_REVIEW = {
    "name": "main",
    "enforcement": "active",
    "conditions": {"ref_name": {"include": ["~DEFAULT_BRANCH"], "exclude": []}},
    "rules": [{"type": "pull_request"}],
}


def proposed(hub: FakeGitHub, fork: Path, **files: str) -> int:
    push(fork, "change", files or {"data/b.csv": "4\n"})
    return hub.open_pull("alice", "change", title="Add b")


def test_anybody_clones_what_is_public(hub: FakeGitHub, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", hub.git_url(), "copy")
    assert (tmp_path / "copy" / "readme.txt").read_text(encoding="utf-8") == "first\n"


def test_only_those_with_the_role_push(hub: FakeGitHub, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="403"):
        push(clone(hub, tmp_path / "a", "alice"), "topic", {"x": "y"})
    push(clone(hub, tmp_path / "m", "mia"), "topic", {"x": "y"})
    assert hub.connection().repository.get_branch("topic").commit.sha
    git(tmp_path / "m", "remote", "set-url", "origin", hub.git_url())
    with pytest.raises(RuntimeError, match="could not read Username"):
        push(tmp_path / "m", "topic", {"x": "z"})


def test_a_token_that_is_no_longer_known_reads_nothing(
    hub: FakeGitHub, tmp_path: Path
) -> None:
    # As checkout does it: git sends a token by itself only if it is asked for one.
    token = f"x-access-token:{hub.token('alice')}".encode()
    header = f"Authorization: Basic {base64.b64encode(token).decode()}"
    words = ("-c", f"http.extraHeader={header}", "ls-remote", hub.git_url())
    assert "refs/heads/main" in git(tmp_path, *words)
    hub.revoke_token(hub.token("alice"))
    with pytest.raises(RuntimeError, match=r"Authentication failed|401|Username"):
        git(tmp_path, *words)


def test_a_large_push_arrives_in_chunks(hub: FakeGitHub, fork: Path) -> None:
    noise = "".join(chr(33 + (n * n) % 90) for n in range(3_000_000))
    git(fork, "config", "http.postBuffer", "65536")
    git(fork, "config", "core.compression", "0")
    sha = push(fork, "large", {"noise.txt": noise})
    assert git(hub.bare_of("alice/registry"), "rev-parse", "large") == sha


def test_refs_of_a_pull_request_are_fetched_by_name_and_commit(
    hub: FakeGitHub, fork: Path, tmp_path: Path
) -> None:
    number = proposed(hub, fork)
    head = git(fork, "rev-parse", "change")
    copy = clone(hub, tmp_path / "copy", "bob")
    git(copy, "fetch", "--quiet", "origin", head)
    git(copy, "fetch", "--quiet", "origin", f"refs/pull/{number}/merge")
    parents = git(copy, "rev-parse", "FETCH_HEAD^1", "FETCH_HEAD^2").split()
    assert parents == [git(copy, "rev-parse", "origin/main"), head]
    shown = hub.connection().repository.get_pull(number)
    assert shown.merge_commit_sha == git(copy, "rev-parse", "FETCH_HEAD")


def test_a_push_updates_the_pull_request(hub: FakeGitHub, fork: Path) -> None:
    number = proposed(hub, fork)
    review = hub.review(number, "mia")
    later = push(fork, "change", {"data/c.csv": "5\n"})
    pull = hub.connection("mia").repository.get_pull(number)
    assert pull.head.sha == later
    assert [file.filename for file in pull.get_files()] == ["data/b.csv", "data/c.csv"]
    (kept,) = pull.get_reviews()
    assert kept.id == review
    assert kept.commit_id != later


@pytest.mark.parametrize("method", ["merge", "squash"])
def test_a_merge_is_made_by_git_at_the_time_that_is_given(
    hub: FakeGitHub, fork: Path, method: str
) -> None:
    number = proposed(hub, fork)
    before = git(hub.bare, "rev-parse", "main")
    head = git(fork, "rev-parse", "change")
    sha = hub.merge(number, "mia", method, when=1_800_000_000)
    assert git(hub.bare, "rev-parse", "main") == sha
    said = git(hub.bare, "show", "-s", "--format=%ct %cn %P", sha)
    parents = f"{before} {head}" if method == "merge" else before
    assert said == f"1800000000 GitHub {parents}"
    assert git(hub.bare, "show", f"{sha}:data/b.csv") == "4"
    repository = hub.connection().repository
    pull = repository.get_pull(number)
    assert (pull.merged, pull.state, pull.merged_by.login) == (True, "closed", "mia")
    assert pull.merge_commit_sha == sha
    assert [p.number for p in repository.get_commit(sha).get_pulls()] == [number]
    if method == "merge":
        assert [p.number for p in repository.get_commit(head).get_pulls()] == [number]
    assert f"refs/pull/{number}/merge" not in git(hub.bare, "for-each-ref")
    with pytest.raises(CannotMerge):
        hub.merge(number, "mia")


def test_a_rebase_copies_each_commit(
    hub: FakeGitHub, fork: Path, tmp_path: Path
) -> None:
    number = proposed(hub, fork)
    push(fork, "change", {"data/c.csv": "5\n"})
    main = push(clone(hub, tmp_path / "m", "mia"), "main", {"readme.txt": "second\n"})
    sha = hub.merge(number, "mia", "rebase", when=1_800_000_000)
    said = git(hub.bare, "log", "--format=%s %an %cn", f"{main}..main").split("\n")
    assert said == [
        "Change data/c.csv Someone mia",
        "Change data/b.csv Someone mia",
    ]
    listed = git(hub.bare, "ls-tree", "-r", "--name-only", "main").split()
    assert listed == ["data/a.csv", "data/b.csv", "data/c.csv", "readme.txt"]
    assert git(hub.bare, "show", "main:readme.txt") == "second"
    repository = hub.connection().repository
    for commit in git(hub.bare, "rev-list", f"{main}..{sha}").split():
        (pull,) = repository.get_commit(commit).get_pulls()
        assert pull.number == number


def test_what_conflicts_is_not_merged(
    hub: FakeGitHub, fork: Path, tmp_path: Path
) -> None:
    number = proposed(hub, fork, **{"readme.txt": "alice's\n"})
    push(clone(hub, tmp_path / "m", "mia"), "main", {"readme.txt": "mia's\n"})
    pull = hub.connection().repository.get_pull(number)
    assert (pull.mergeable, pull.mergeable_state) == (False, "dirty")
    with pytest.raises(CannotMerge, match="conflicts"):
        hub.merge(number, "mia")


def test_the_merge_queue_builds_entries_on_each_other(
    hub: FakeGitHub, fork: Path
) -> None:
    first = proposed(hub, fork)
    git(fork, "switch", "--quiet", "main")
    push(fork, "other", {"data/c.csv": "5\n"})
    second = hub.open_pull("alice", "other")
    base = git(hub.bare, "rev-parse", "main")
    one = hub.queue(first, by="mia", when=1_800_000_000)
    two = hub.queue(second, by="mia", after=one)
    assert one.ref == f"refs/heads/gh-readonly-queue/main/pr-{first}-{base}"
    assert git(hub.bare, "rev-parse", one.ref) == one.head_sha
    assert (one.base_sha, two.base_sha) == (base, one.head_sha)
    with pytest.raises(CannotMerge, match="moved"):
        hub.finish_queue(two)
    assert hub.finish_queue(one) == one.head_sha
    assert hub.finish_queue(two) == git(hub.bare, "rev-parse", "main")
    assert "gh-readonly-queue" not in git(hub.bare, "for-each-ref")
    shown = hub.connection().repository.get_pull(first)
    assert shown.merge_commit_sha == one.head_sha
    assert shown.merged_at is not None
    assert int(shown.merged_at.timestamp()) == 1_800_000_000


def test_an_entry_whose_checks_failed_leaves_the_queue(
    hub: FakeGitHub, fork: Path
) -> None:
    number = proposed(hub, fork)
    group = hub.queue(number)
    hub.drop_queue(group)
    assert group.ref not in git(hub.bare, "for-each-ref")
    assert hub.pull(number).open


def test_rules_hold_for_pushes(hub: FakeGitHub, tmp_path: Path) -> None:
    connection = hub.connection("power")
    path = "/repos/power/registry/rulesets"
    tags = {
        "name": "tags",
        "target": "tag",
        "enforcement": "active",
        "conditions": {"ref_name": {"include": ["refs/tags/r-*"], "exclude": []}},
        "rules": [{"type": "deletion"}, {"type": "update"}],
    }
    for ruleset in (WITH_REVIEW, tags):
        connection.api.requester.requestJsonAndCheck("POST", path, input=ruleset)
    folder = clone(hub, tmp_path / "m", "mia")
    with pytest.raises(RuntimeError, match="GH013"):
        push(folder, "main", {"x": "y"})
    push(folder, "topic", {"x": "z"})
    git(folder, "push", "--quiet", "origin", "HEAD:refs/tags/r-1")
    for refused in (":refs/tags/r-1", "+HEAD~1:refs/tags/r-1"):
        with pytest.raises(RuntimeError, match="GH013"):
            git(folder, "push", "--quiet", "origin", refused)
    with pytest.raises(RuntimeError, match="hidden ref"):
        git(folder, "push", "--quiet", "origin", "HEAD:refs/pull/9/head")


def test_a_fork_may_appear_late(hub: FakeGitHub) -> None:
    hub.late_forks = 2
    connection = hub.connection("bob")
    assert connection.repository.create_fork().full_name == "bob/registry"
    url = f"{hub.api}/repos/bob/registry"
    statuses = [requests.get(url, timeout=9).status_code for _ in range(3)]
    assert statuses == [404, 404, 200]
    assert connection.repository.create_fork().full_name == "bob/registry"
    assert sum(known.parent is not None for known in hub.repositories.values()) == 1
