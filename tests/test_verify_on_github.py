"""`registry verify` with GitHub: its options, its exit codes, what it prints."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from registry import cli
from registry.commands import verifying
from registry.gate import terminal
from registry.gate.signing import public_line
from registry.publish.index import index_bytes
from registry.publish.integrity import open_folder
from registry.publish.release import build_release
from tests.simulators.github import FakeGitHub
from tests.simulators.hosting import READER, Hosted
from tests.simulators.people import private_key
from tests.simulators.registry import Simulator, run_git, small

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Command = Callable[..., tuple[int, str]]

ALICE, MALLORY = 42, 666


@pytest.fixture
def hosted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hosted]:
    with FakeGitHub(tmp_path / "github") as hub:
        hub.add_user("mallory", MALLORY)
        found = Hosted.found(hub, small())
        for name in ("GH_TOKEN", "GITHUB_TOKEN", "GITHUB_ACTIONS"):
            monkeypatch.delenv(name, raising=False)
        for name, value in hub.environment().items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("GH_TOKEN", hub.job_token(READER))
        yield found
        assert hub.violations == []


@pytest.fixture
def command(
    hosted: Hosted, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Command:
    """Run `registry verify` in the fake's own repository, at the fake's time."""
    monkeypatch.setattr(verifying, "time", SimpleNamespace(time=hosted.now))

    def run(*arguments: str) -> tuple[int, str]:
        words = ["verify", "--root", str(hosted.hub.bare), *arguments]

        def call() -> None:
            cli.app(words)

        code = terminal.run(call, json_output=terminal.wants_json(words))
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    return run


def with_bundle() -> Simulator:
    changed = small()
    changed.add_levels("server-d", ALICE)
    return changed


@pytest.mark.parametrize(
    "words",
    [
        ("--pull", "1"),
        ("--queue-ref", "refs/heads/gh-readonly-queue/main/pr-1-" + "a" * 40),
        ("--base", "main", "--pull", "1", "--author", "42"),
        ("--base", "main", "--pull", "0"),
        ("--base", "main", "--pull", "1", "--queue-ref", "x"),
        ("--base", "main", "--queue-ref", "refs/heads/main"),
        ("--base", "main", "--merged"),
        ("--since", "main"),
        ("--base", "main", "--since", "main"),
        ("--repository", "a/b"),
        ("--base", "main", "--repository", "a/b"),
        ("--base", "main", "--rev", "main"),
    ],
)
def test_options_that_exclude_each_other(
    words: tuple[str, ...], command: Command
) -> None:
    code, printed = command(*words)
    assert code == 2
    assert "--" in printed


def test_a_pull_request_by_its_number(hosted: Hosted, command: Command) -> None:
    number = hosted.propose(with_bundle(), ALICE)
    head = f"refs/pull/{number}/merge"
    code, printed = command("--base", "main", "--head", head, "--pull", str(number))
    assert (code, printed.count("\n")) == (0, 1)
    assert "1 bundle verified" in printed
    foreign = hosted.propose(with_bundle(), MALLORY, "copy")
    words = ("--base", "main", "--head", head, "--pull", str(foreign))
    code, printed = command(*words, "--json")
    assert code == 1
    assert [one["code"] for one in json.loads(printed)["findings"]] == ["S015"]


def test_an_entry_of_the_merge_queue(hosted: Hosted, command: Command) -> None:
    number = hosted.propose(with_bundle(), ALICE)
    group = hosted.hub.queue(number, when=hosted.now())
    base, head = f"{group.head_sha}^1", group.head_sha
    words = ("--base", base, "--head", head, "--queue-ref", group.ref)
    assert command(*words)[0] == 0


def test_the_whole_and_what_was_merged(hosted: Hosted, command: Command) -> None:
    hosted.merge(hosted.propose(with_bundle(), ALICE))
    code, printed = command("--merged")
    assert code == 0, printed
    assert "4 bundles verified" in printed
    pushed = with_bundle()
    pushed.add_levels("server-e", ALICE)
    sha = hosted.push(pushed)
    code, printed = command("--rev", sha, "--merged")
    assert code == 1
    assert "error N013 datasets/server-e/levels.csv" in printed
    assert command("--merged", "--since", sha)[0] == 0
    assert command("--merged", "--since", "nobody")[0] == 1
    assert command("--merged", "--since", "founding")[0] == 1


def test_a_release_folder_says_since_when(
    hosted: Hosted, command: Command, tmp_path: Path
) -> None:
    pushed = with_bundle()
    sha = hosted.push(pushed)
    release = tmp_path / "release"
    build_release(hosted.hub.bare, release, rev=sha)
    assert command("--merged", "--since", str(release))[0] == 0
    index, _ = open_folder(release)
    unnamed = index.model_copy(update={"commit": None})
    (release / "index.json").write_bytes(index_bytes(unnamed))
    code, printed = command("--merged", "--since", str(release))
    assert (code, "was built from no commit" in printed) == (2, True)
    (release / "index.json").unlink()
    code, printed = command("--merged", "--since", str(release))
    assert (code, "R012" in printed) == (1, True)


def test_without_github_the_rest_is_still_said(
    hosted: Hosted, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = with_bundle()
    broken.files["datasets/server-d/runs.csv"] += b"x"
    hosted.push(broken)
    hosted.hub.fail("GET", "/", "limit", times=1000, seconds=7200.0)
    code, printed = command("--merged")
    assert code == 1
    assert "N003 github" in printed
    assert "M023 datasets/server-d/runs.csv" in printed
    monkeypatch.delenv("GITHUB_REPOSITORY")
    code, printed = command("--merged")
    assert code == 1
    assert "N006 github" in printed
    assert "M023 datasets/server-d/runs.csv" in printed


def test_a_list_of_keys_by_hand(
    hosted: Hosted, command: Command, tmp_path: Path
) -> None:
    changed = hosted.whole(small())
    changed.enrol(99)
    changed.record(hosted.hub.bare, "change", "main")
    key = public_line(changed.people[99].key)
    words = ("--base", "main", "--head", "change", "--author", "99")
    for text, code in (
        (f"{key} laptop\n", 0),
        (f"# mine\n\n{public_line(private_key('x'))}\n", 1),
        (f"{key}\nnot a key\n", 1),
    ):
        (tmp_path / "keys").write_text(text)
        found = command(*words, "--published-keys", str(tmp_path / "keys"))
        assert found[0] == code, found[1]
    assert "K040" in found[1]
    assert f"{tmp_path / 'keys'}:2" in found[1]
    run_git(hosted.hub.bare, "branch", "-D", "change")
