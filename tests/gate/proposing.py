"""A proposal of alice, and what a pull request holds."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from registry.gate.github.proposals import Proposed, propose
from tests.simulators.github import FakeGitHub
from tests.simulators.registry import run_git

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from registry.gate.tree import Tree

__all__ = ["BRANCH", "NEW", "blob", "content", "moved", "opened", "sent"]

NEW = {"datasets/server-n/manifest.json": b"{}\n", "specs/server-n.yaml": b"a: b\n"}
BRANCH = "data/server-n-v1"


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
