"""Pull requests that hold exactly what was meant, whatever happened before."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from registry.documents.findings import RegistryError
from registry.gate.drafting import branch_for
from registry.gate.github.forks import Account
from registry.gate.github.proposals import Proposed, author_of, propose
from registry.gate.github.remote import remote
from tests.simulators.github import FakeGitHub
from tests.simulators.registry import run_git, small

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from registry.gate.tree import Tree

NEW = {"datasets/server-n/manifest.json": b"{}\n", "specs/server-n.yaml": b"a: b\n"}
BRANCH = "data/server-n-v1"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("template") / "checkout"
    small().commit(root)
    shutil.rmtree(root / ".git" / "hooks", ignore_errors=True)
    return root


@pytest.fixture
def checkout(template: Path, tmp_path: Path) -> Path:
    """A checkout of the registry's main branch with a work tree of its own."""
    return Path(shutil.copytree(template, tmp_path / "checkout"))


@pytest.fixture
def hub(tmp_path: Path, checkout: Path) -> Iterator[FakeGitHub]:
    with FakeGitHub(tmp_path / "hub") as fake:
        fake.add_user("alice", 4242)
        run_git(checkout, "push", "-q", fake.git_url("power"), "main")
        fake.requests.clear()
        yield fake
        assert fake.violations == []


def sent(
    hub: FakeGitHub,
    root: Path,
    files: Mapping[str, bytes | None] | Callable[[Tree], Any] = NEW,
    login: str = "alice",
    **options: Any,
) -> Proposed:
    usual = {"title": "Add server-n", "body": "Hello", "message": "Add server-n"}
    usual |= {"branch": BRANCH, "fork": True}
    return propose(hub.connection(login), root, files, **usual | options)


def content(hub: FakeGitHub, number: int) -> dict[str, bytes | None]:
    """The files that a pull request changes, as its last commit has them."""
    pull, bare = hub.pull(number), hub.bare
    base = run_git(bare, "merge-base", f"refs/heads/{pull.base}", pull.head_sha).strip()
    names = run_git(bare, "diff", "--name-only", base, pull.head_sha).split()
    return {name: blob(bare, pull.head_sha, name) for name in names}


def blob(repo: Path, commit: str, name: str) -> bytes | None:
    command = ["git", "-C", str(repo), "cat-file", "blob", f"{commit}:{name}"]
    done = subprocess.run(command, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


def opened(hub: FakeGitHub) -> list[int]:
    return [pull.number for pull in hub.main.pulls if pull.open]


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


def test_an_existing_fork_is_used_under_any_name(
    hub: FakeGitHub, checkout: Path
) -> None:
    hub.fork("alice")
    hub.named("alice/registry").name = "power-data"
    done = sent(hub, checkout)
    assert content(hub, done.number) == NEW
    assert hub.count("POST", "/forks") == 0
    assert run_git(hub.bare_of("alice/power-data"), "branch", "--list", BRANCH)


def test_another_repository_of_that_name_is_no_fork(
    hub: FakeGitHub, checkout: Path
) -> None:
    hub.make_repository(hub.person("alice"), "registry")
    hub.fork("alice")
    hub.repositories[max(hub.repositories)].name = "registry-1"
    done = sent(hub, checkout)
    assert content(hub, done.number) == NEW
    assert not run_git(hub.bare_of("alice/registry"), "branch", "--list")


def test_a_new_fork_is_waited_for(hub: FakeGitHub, checkout: Path) -> None:
    hub.late_forks = 5
    assert content(hub, sent(hub, checkout).number) == NEW


def test_a_fork_that_never_comes_is_told(hub: FakeGitHub, checkout: Path) -> None:
    hub.late_forks = 1000
    with pytest.raises(RegistryError, match="L085"):
        sent(hub, checkout)
    hub.late_forks = 0
    assert content(hub, sent(hub, checkout).number) == NEW
    assert len([one for one in hub.repositories.values() if one.parent]) == 1


def test_fork_and_checkout_may_be_behind(hub: FakeGitHub, checkout: Path) -> None:
    hub.fork("alice")
    other = small()
    other.files["README.md"] = b"newer\n"
    elsewhere = checkout.parent / "elsewhere"
    run_git(checkout.parent, "clone", "-q", hub.git_url("power"), str(elsewhere))
    other.commit(elsewhere)
    run_git(elsewhere, "push", "-q", hub.git_url("power"), "HEAD:main")
    done = sent(hub, checkout)
    assert content(hub, done.number) == NEW
    head = hub.pull(done.number).head_sha
    newest = run_git(hub.bare, "rev-parse", "main").strip()
    assert run_git(hub.bare, "rev-parse", f"{head}^").strip() == newest


def moved(hub: FakeGitHub, checkout: Path, files: dict[str, bytes]) -> None:
    """Let main move on."""
    other = propose(
        hub.connection("power"),
        checkout,
        files,
        branch="other",
        title="Other",
        body="",
        message="Other",
        fork=False,
    )
    hub.merge(other.number, "power")


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


def test_maintainers_push_to_the_registry_itself(
    hub: FakeGitHub, checkout: Path
) -> None:
    hub.add_user("mia", 7)
    hub.add_maintainer("mia")
    done = sent(hub, checkout, login="mia", fork=None)
    assert done.head == f"power:{BRANCH}"
    assert content(hub, done.number) == NEW
    assert hub.count("POST", "/forks") == 0
    owner = sent(hub, checkout, login="power", branch="data/other", fork=True)
    assert owner.head == "power:data/other"
    assert hub.count("POST", "/forks") == 0


def test_whoever_may_not_push_gets_a_fork(hub: FakeGitHub, checkout: Path) -> None:
    assert sent(hub, checkout, fork=None).head == f"alice:{BRANCH}"
    with pytest.raises(RegistryError, match="T041"):
        sent(hub, checkout, fork=False)


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


def test_without_a_token_nothing_is_asked(hub: FakeGitHub, checkout: Path) -> None:
    with pytest.raises(RegistryError, match="L082"):
        propose(
            hub.connection(),
            checkout,
            NEW,
            branch=BRANCH,
            title="",
            body="",
            message="",
            fork=True,
        )
    assert hub.requests == []


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


def test_a_token_that_ended_is_told(hub: FakeGitHub, checkout: Path) -> None:
    connection = hub.connection("alice")
    hub.revoke_token(hub.token("alice"))
    with pytest.raises(RegistryError, match="N002"):
        propose(
            connection,
            checkout,
            NEW,
            branch=BRANCH,
            title="",
            body="",
            message="",
            fork=True,
        )


def test_a_fork_without_the_workflows_of_main_is_explained(
    hub: FakeGitHub, checkout: Path
) -> None:
    fork = hub.bare_of(hub.fork("alice"))
    hook = fork / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(
        "#!/bin/sh\necho 'refusing to allow an OAuth App to create or update workflow"
        " `.github/workflows/ci.yml` without `workflow` scope' >&2\nexit 1\n"
    )
    hook.chmod(0o755)
    with pytest.raises(RegistryError, match="L084") as caught:
        sent(hub, checkout)
    assert "Sync fork" in caught.value.findings[0].fix


def test_two_that_push_at_once_both_end_well(
    hub: FakeGitHub, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from registry.gate.github import proposals

    real, raced = proposals.wait_for, []

    def while_waiting(*arguments: Any) -> None:
        real(*arguments)
        if not raced:
            raced.append(1)
            raced.append(sent(hub, checkout))

    monkeypatch.setattr(proposals, "wait_for", while_waiting)
    done = sent(hub, checkout)
    assert opened(hub) == [done.number]
    assert content(hub, done.number) == NEW


def test_who_is_always_slower_gives_up(
    hub: FakeGitHub, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from registry.gate.github.remote import Remote

    hub.fork("alice")
    monkeypatch.setattr(Remote, "tip", lambda *_: "0" * 39 + "1")
    monkeypatch.setattr(Remote, "fetch", lambda *_: None)
    monkeypatch.setattr("registry.gate.github.proposals.commit_of", lambda *_: "x")
    monkeypatch.setattr(
        "registry.gate.github.candidate.Candidate.begin", lambda *_: None
    )
    with pytest.raises(RegistryError, match="L086"):
        sent(hub, checkout)


def test_the_token_is_in_no_text_and_on_no_command_line(
    hub: FakeGitHub,
    checkout: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True)
    log = tmp_path / "commands"
    wrapper = tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    wrapper.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$*" >> {log}\nexec {real.stdout.strip()} "$@"\n'
    )
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("GIT_TRACE_CURL", "1")
    token = hub.token("alice")
    sent(hub, checkout)
    commands = log.read_text()
    assert " push " in commands
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    there = remote(hub.connection("alice"), "alice/registry")
    for secret in (token, there._basic().removeprefix("Basic ")):
        assert secret not in commands
        assert secret not in repr(there)
        assert not [path for path in kept if secret.encode() in path.read_bytes()]


def test_what_git_complains_of_never_shows_the_token(
    hub: FakeGitHub, checkout: Path
) -> None:
    token = hub.token("alice")
    there = remote(hub.connection("alice"), "alice/registry")
    for verb in ("push", "fetch"):
        with pytest.raises(Exception, match="git") as caught:
            there._judge(verb, f"fatal: cannot use {token} {there._basic()}")
        assert token not in str(caught.value)
        assert there._basic()[6:] not in str(caught.value)


def test_settings_of_the_user_lead_nowhere_else(
    hub: FakeGitHub, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    (home / "hooks").mkdir(parents=True)
    hook = home / "hooks" / "pre-push"
    hook.write_text(f"#!/bin/sh\ntouch {home}/ran\nexit 1\n")
    hook.chmod(0o755)
    (home / ".gitconfig").write_text(
        f'[url "http://127.0.0.1:9/"]\n\tinsteadOf = {hub.web}/\n'
        f'[url "http://127.0.0.1:9/x"]\n\tpushInsteadOf = {hub.web}/alice\n'
        f"[core]\n\thooksPath = {home}/hooks\n"
        f'[http "{hub.web}/"]\n\textraHeader = "Authorization: Basic eDp5"\n'
        f'[credential]\n\thelper = "!touch {home}/asked; false"\n'
    )
    monkeypatch.setenv("HOME", str(home))
    assert content(hub, sent(hub, checkout).number) == NEW
    assert not (home / "ran").exists()
    bad = hub.connection("alice")
    hub.revoke_token(hub.token("alice"))
    with pytest.raises(RegistryError, match="T041"):
        remote(bad, "alice/registry").push(checkout, "HEAD", "x", None)
    assert not (home / "asked").exists()
