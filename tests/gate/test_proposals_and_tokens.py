"""What a proposal does with a token: it needs one, and shows it to nobody."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest

from registry.documents.findings import RegistryError
from registry.gate.github.proposals import propose
from registry.gate.github.remote import remote
from tests.gate.proposing import BRANCH, NEW, content, sent
from tests.simulators.github import FakeGitHub


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
