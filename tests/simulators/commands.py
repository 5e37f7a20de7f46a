"""The commands in the process of a test, as a shell would leave them.

done = run_command("registry", "withdraw", "server-a", monkeypatch=…, capsys=…)
assert (done.code, done.err) == (0, "")
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.simulators.github import FakeGitHub
from tests.simulators.github.hub import QUICK
from tests.simulators.registry import run_git

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

__all__ = ["Done", "alone", "run_command", "served"]


@dataclass(frozen=True, slots=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str


def run_command(
    program: str,
    *arguments: object,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Done:
    """Run `registry` or `powerkit` in this process."""
    from registry import cli as registry
    from tools import cli as powerkit

    main = {"registry": registry.main, "powerkit": powerkit.main}[program]
    monkeypatch.setattr(sys, "argv", [program, *map(str, arguments)])
    with pytest.raises(SystemExit) as left:
        main()
    out, err = capsys.readouterr()
    code = left.value.code
    return Done(code if isinstance(code, int) else 0, out, err)


def alone(monkeypatch: pytest.MonkeyPatch, programs: Path, *names: str) -> None:
    """No token, no waiting, and of all programs only those named, so no `gh`.

    Args:
        monkeypatch: undoes it.
        programs: a new folder, which becomes all of PATH.
        names: the programs that are there.
    """
    for name in ("GH_TOKEN", "GITHUB_TOKEN", "GITHUB_REPOSITORY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("registry.gate.github.connection.PATIENT", QUICK)
    programs.mkdir()
    for name in names:
        found = shutil.which(name)
        assert found is not None
        (programs / name).symlink_to(found)
    monkeypatch.setenv("PATH", os.fsdecode(programs))


@contextmanager
def served(
    folder: Path, checkout: Path, users: Mapping[str, tuple[int, list[str]]]
) -> Iterator[FakeGitHub]:
    """GitHub with a checkout's main branch; nothing of it may break GitHub's document.

    Args:
        folder: a new folder for the fake.
        checkout: the checkout that is pushed.
        users: accounts by login, each with its id and the keys it publishes.
    """
    with FakeGitHub(folder) as hub:
        for login, (id_, keys) in users.items():
            hub.add_user(login, id_, keys)
        run_git(checkout, "push", "-q", hub.git_url("power"), "main")
        hub.requests.clear()
        yield hub
        assert hub.violations == []
