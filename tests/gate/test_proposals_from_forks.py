"""Proposals go through a fork of whoever may not push, whatever state it is in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from registry.documents.findings import RegistryError
from tests.gate.proposing import BRANCH, NEW, content, opened, sent
from tests.simulators.github import FakeGitHub
from tests.simulators.registry import run_git, small


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
