"""powerkit submit: whose token it takes, what it does without, and who is refused."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest

from registry.gate.signing import public_line
from tests.simulators.commands import Done
from tests.simulators.github import FakeGitHub
from tests.simulators.people import private_key
from tests.simulators.registry import run_git
from tests.tools.submitting import ALICE, FIRST, bundle, files, same, writes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_a_key_that_the_account_does_not_publish_is_told(
    submit: Callable[..., Done], hub: FakeGitHub, checkout: Path
) -> None:
    bundle().write(checkout)
    hub.drop_key("alice", public_line(ALICE.key))
    done = submit("--yes")
    assert (done.code, "K024" in done.out) == (1, True), done
    hub.publish_key("alice", public_line(private_key("other")))
    assert submit("--yes").code == 1
    assert hub.main.pulls == []
    hub.publish_key("alice", public_line(ALICE.key) + " laptop")
    assert submit("--yes").code == 0


def test_the_token_of_another_account_is_refused(
    submit: Callable[..., Done], hub: FakeGitHub, checkout: Path
) -> None:
    hub.add_user("bob", 77)
    bundle().write(checkout)
    done = submit("--yes", login="bob")
    assert (done.code, "L080" in done.out) == (1, True), done
    assert "of bob (77), the bundle of contributor 4242" in done.out
    assert writes(hub) == 0


def test_a_renamed_account_is_still_the_same(
    submit: Callable[..., Done], hub: FakeGitHub, checkout: Path
) -> None:
    hub.fork("alice")
    hub.rename("alice", "alicia")
    bundle().write(checkout)
    done = submit("--yes", login="alicia")
    assert done.code == 0, done
    assert "from alicia:data/server-n-v1" in done.out
    assert "calls you alice, GitHub alicia; to mend it" in done.out
    assert files(hub) == FIRST


def test_a_token_without_rights_is_told(
    powerkit: Callable[..., Done],
    hub: FakeGitHub,
    checkout: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bundle().write(checkout)
    for token in (hub.job_token({"contents": "read"}), "ghp_unknown"):
        monkeypatch.setenv("GH_TOKEN", token)
        done = powerkit("submit", "server-n", "--registry", checkout, "--yes")
        assert (done.code, "N002" in done.out) == (1, True), done
        assert token not in done.out + done.err
    assert hub.main.pulls == []


def test_without_a_token_the_commands_are_printed_and_work(
    submit: Callable[..., Done], hub: FakeGitHub, checkout: Path
) -> None:
    simulated = bundle()
    simulated.write(checkout)
    (checkout / "notes.txt").write_text("mine")
    done = submit("--yes", login=None)
    assert (done.code, "L082" in done.out) == (1, True), done
    assert "GitHub was not asked whether you are account 4242" in done.out
    assert "nor whether that account publishes the signing key" in done.out
    assert hub.requests == []
    told = json.loads(submit("--json", login=None).out)
    assert told["submitted"] is False
    url = urlsplit(told["url"])
    base = "/power/registry/compare/main...alice:data/server-n-v1"
    assert url.path == base
    query = parse_qs(url.query)
    assert (query["quick_pull"], query["title"]) == (["1"], ["Add server-n"])
    assert "server-n" in query["body"][0]
    # What is printed is typed as it stands.
    hub.fork("alice")
    remote = hub.git_url("alice", "alice/registry")
    run_git(checkout, "remote", "add", "origin", remote)
    run_git(checkout, "config", "user.name", "alice")
    run_git(checkout, "config", "user.email", "alice@example.org")
    for command in told["commands"]:
        subprocess.run(["sh", "-c", command], check=True, cwd=checkout)
    hub.open_pull("alice", "data/server-n-v1")
    assert (files(hub), same(hub, simulated)) == (FIRST, True)
    # And whoever has a token later goes on from there.
    later = json.loads(submit("--yes", "--json").out)
    assert (later["number"], later["new"], later["pushed"]) == (1, False, False)


def test_the_token_of_gh_is_used_and_named_only_by_its_source(
    submit: Callable[..., Done], hub: FakeGitHub, checkout: Path, tmp_path: Path
) -> None:
    bundle().write(checkout)
    program = tmp_path / "programs" / "gh"
    host = urlsplit(hub.web).netloc
    program.write_text(
        f'#!/bin/sh\n[ "$*" = "auth token --hostname {host}" ] || exit 9\n'
        f"echo {hub.token('alice')}\n"
    )
    program.chmod(0o755)
    done = submit("--yes", login=None)
    assert (done.code, "by the token from gh" in done.out) == (0, True), done
    assert files(hub) == FIRST
    program.write_text("#!/bin/sh\necho no oauth token >&2\nexit 1\n")
    assert "L082" in submit("--yes", login=None).out
