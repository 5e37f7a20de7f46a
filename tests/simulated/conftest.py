"""A fake GitHub with one commit, two contributors and a maintainer."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.simulators.github import FakeGitHub
from tests.simulators.github.objects import tree_with

Git = Callable[..., str]


def git(folder: Path, *words: str) -> str:
    """Run git in a folder, apart from this machine's configuration."""
    done = subprocess.run(
        ["git", "-C", str(folder), *words],
        capture_output=True,
        text=True,
        check=False,
        env={
            **{k: v for k, v in os.environ.items() if not k.startswith("GIT_")},
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_AUTHOR_NAME": "Someone",
            "GIT_AUTHOR_EMAIL": "someone@example.org",
            "GIT_COMMITTER_NAME": "Someone",
            "GIT_COMMITTER_EMAIL": "someone@example.org",
        },
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout.strip()


def clone(hub: FakeGitHub, folder: Path, login: str, name: str | None = None) -> Path:
    """Clone a repository with an account's token."""
    folder.mkdir()
    git(folder, "clone", "--quiet", hub.git_url(login, name), ".")
    return folder


def push(folder: Path, branch: str, files: dict[str, str | None]) -> str:
    """Commit files on a branch, new if need be, and push it; gives the commit."""
    known = git(folder, "branch", "--list", branch)
    words = [] if known else ["-b" if git(folder, "branch", "-a") else "-B"]
    git(folder, "switch" if known else "checkout", "--quiet", *words, branch)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            path.unlink()
        else:
            path.write_text(text, encoding="utf-8")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", f"Change {', '.join(files)}")
    git(folder, "push", "--quiet", "origin", branch)
    return git(folder, "rev-parse", "HEAD")


def found(hub: FakeGitHub, files: dict[str, bytes]) -> None:
    """Make the first commit of main, without a clone."""
    bare = hub.git(hub.main)
    entries: list[tuple[str, str, str | None]] = [
        ("100644", path, bare.git("hash-object", "-w", "--stdin", data=data))
        for path, data in files.items()
    ]
    someone = ("Someone", "someone@example.org")
    tree = tree_with(bare, None, entries)
    commit = bare.commit(tree, [], "First\n", author=someone, when=1_700_000_000)
    bare.set_ref("refs/heads/main", commit)


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[FakeGitHub]:
    """The fake; what it answers must be as GitHub's document says."""
    with FakeGitHub(tmp_path / "hub") as made:
        made.add_user("alice", 42, keys=["ssh-ed25519 AAAAalice alice@home"])
        made.add_user("bob", 43)
        made.add_user("mia", 7)
        made.add_maintainer("mia")
        found(made, {"readme.txt": b"first\n", "data/a.csv": b"1\n2\n3\n"})
        yield made
        assert made.violations == []


@pytest.fixture
def fork(hub: FakeGitHub, tmp_path: Path) -> Path:
    """Alice's clone of her fork."""
    return clone(hub, tmp_path / "fork", "alice", hub.fork("alice"))
