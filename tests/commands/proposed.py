"""What a command proposed, and whether the gate takes it."""

from __future__ import annotations

import subprocess
from typing import Any

from registry.gate.verify import verify_change
from tests.simulators.github import FakeGitHub
from tests.simulators.registry import NOW, run_git

__all__ = ["accepted", "files", "open_pulls"]


def files(hub: FakeGitHub, number: int = 1) -> dict[str, bytes]:
    head = hub.pull(number).head_sha
    names = run_git(hub.bare, "diff", "--name-only", f"main...{head}").split()
    command = ["git", "-C", str(hub.bare), "cat-file", "blob"]
    return {
        name: subprocess.check_output([*command, f"{head}:{name}"]) for name in names
    }


def open_pulls(hub: FakeGitHub) -> list[int]:
    return [pull.number for pull in hub.main.pulls if pull.open]


def accepted(hub: FakeGitHub, author: int, keys: Any = None, number: int = 1) -> bool:
    """Whether the gate takes the pull request."""
    head = hub.pull(number).head_sha
    report = verify_change(
        hub.bare, "main", head, author=author, published_keys=keys, now=NOW * 2
    )
    return not report.refused
