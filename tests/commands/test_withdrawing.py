"""registry withdraw: one file in one pull request, and what happens next."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from registry.gate.withdrawal import read_withdrawal
from tests.commands.proposed import accepted, files, open_pulls
from tests.simulators.commands import Done
from tests.simulators.github import FakeGitHub
from tests.simulators.registry import run_git

if TYPE_CHECKING:
    from collections.abc import Callable

ENDED = "datasets/server-a/WITHDRAWN.yaml"
WITHDRAW = ("withdraw", "server-a", "--reason", "measurement-error")


def test_a_maintainer_withdraws_a_dataset(
    by: Callable[..., Done], hub: FakeGitHub
) -> None:
    done = by(*WITHDRAW, "--day", "2026-01-15")
    assert done.code == 0, done
    content = files(hub)
    assert set(content) == {ENDED}
    read = read_withdrawal(content[ENDED], ENDED)
    assert (read.reason, read.day) == ("measurement-error", "2026-01-15")
    pull = hub.pull(1)
    assert pull.issue.title == "Withdraw server-a: measurement-error"
    assert (pull.head, pull.head_repository) == ("withdraw/server-a", hub.main.id)
    assert "T032" in done.out  # somebody else than its contributor
    assert f"{hub.web}/power/registry/pull/1" in done.out
    assert "next: once it is merged, the next release leaves the bundle out" in done.out
    assert accepted(hub, 7)


def test_its_contributor_withdraws_it_from_a_fork(
    by: Callable[..., Done], hub: FakeGitHub
) -> None:
    done = by(*WITHDRAW, "--json", login="person-42")
    document = json.loads(done.out)
    assert (done.code, document["head"]) == (0, "person-42:withdraw/server-a")
    assert (document["proposed"], document["files"]) == (True, [ENDED])
    assert set(files(hub)) == {ENDED}


def test_to_withdraw_again_is_harmless_on_any_day(
    by: Callable[..., Done], hub: FakeGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    by(*WITHDRAW)
    before = files(hub)
    real = sys.modules["registry.commands.withdrawing"]
    monkeypatch.setattr(real, "_today", lambda: "2026-01-15")
    assert "as it was" in by(*WITHDRAW).out
    assert files(hub) == before
    other = by("withdraw", "server-a", "--reason", "privacy")
    assert "updated" in other.out
    assert read_withdrawal(files(hub)[ENDED], ENDED).reason == "privacy"
    said = hub.pull(1).issue
    assert (said.title, "`privacy`" in said.body) == (
        "Withdraw server-a: privacy",
        True,
    )
    assert open_pulls(hub) == [1]
    hub.merge(1, "power")
    again = by(*WITHDRAW)
    assert (again.code, "T044" in again.out) == (1, True), again
    assert open_pulls(hub) == []


def test_what_is_not_there_or_withdrawn_is_not_withdrawn(
    run: Callable[..., Done], checkout: Path
) -> None:
    for name in ("no-such", "../server-a", "server-a/../server-b", ""):
        done = run("withdraw", name, "--reason", "request")
        assert (done.code, "T043" in done.out) == (1, True), done
    assert run("withdraw", "server-a", "--reason", "boredom").code == 2
    done = run(*WITHDRAW, "--day", "yesterday")
    assert (done.code, "M032" in done.out) == (1, True), done
    assert run(*WITHDRAW, "--day", "2999-01-01").code == 2
    (checkout / ENDED).write_bytes(
        b'schema: withdrawn/1\nday: "2026-06-01"\nreason: request\n'
    )
    run_git(checkout, "add", "-A")
    run_git(checkout, "commit", "-q", "-m", "withdrawn")
    done = run(*WITHDRAW)
    assert (done.code, "T044" in done.out) == (1, True), done


def test_without_a_token_file_and_commands_are_printed_and_work(
    run: Callable[..., Done], hub: FakeGitHub, checkout: Path
) -> None:
    done = run(*WITHDRAW, "--day", "2026-09-01")
    assert (done.code, "L082" in done.out) == (1, True), done
    assert hub.requests == []
    told = json.loads(run(*WITHDRAW, "--day", "2026-09-01", "--json").out)
    assert told["proposed"] is False
    compare = "/power/registry/compare/main...YOUR-LOGIN:withdraw/server-a?quick_pull=1"
    assert compare in told["url"]
    run_git(checkout, "remote", "add", "origin", hub.git_url("power"))
    run_git(checkout, "config", "user.name", "power")
    run_git(checkout, "config", "user.email", "power@example.org")
    for command in told["commands"]:
        subprocess.run(["sh", "-c", command], check=True, cwd=checkout)
    hub.open_pull("power", "withdraw/server-a")
    assert {name: data.decode() for name, data in files(hub).items()} == told["files"]


def test_a_dry_run_changes_nothing(by: Callable[..., Done], hub: FakeGitHub) -> None:
    done = by(*WITHDRAW, "--dry-run")
    assert (done.code, "reason: measurement-error" in done.out) == (0, True), done
    assert hub.main.pulls == []
    assert hub.count("POST", "receive-pack|^/repos") == 0


def test_github_down_leaves_nothing_half_done(
    by: Callable[..., Done], hub: FakeGitHub
) -> None:
    hub.fail("POST", "/pulls", 503, times=100)
    done = by(*WITHDRAW)
    assert (done.code, "N001" in done.out) == (1, True), done
    hub.behave()
    assert "opened" in by(*WITHDRAW).out
    assert set(files(hub)) == {ENDED}
    assert hub.count("POST", "receive-pack") == 1


def test_no_connection_and_a_wrong_token_are_said_in_words(
    by: Callable[..., Done], hub: FakeGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.token("mia")
    monkeypatch.setenv("GH_TOKEN", "unknown")
    monkeypatch.setattr(hub, "token", lambda _: "unknown")
    refused = by(*WITHDRAW)
    assert (refused.code, "N002" in refused.out) == (1, True), refused
    assert "that is valid" in refused.out
    monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:9")
    gone = by(*WITHDRAW)
    assert (gone.code, "N001" in gone.out) == (1, True), gone
    assert "no connection" in gone.out
    assert "Error" not in gone.out  # no name of an exception


def test_what_github_refuses_reaches_the_terminal_as_findings_only(
    hub: FakeGitHub,
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "registry", "github", "audit-settings"],
        env=dict(os.environ) | hub.environment("alice"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "N041" in done.stdout) == (1, True), done
    assert done.stderr == ""
