"""The bundle that alice submits, and what of it is in her pull request."""

from __future__ import annotations

import subprocess

from tests.simulators.github import FakeGitHub
from tests.simulators.people import Person
from tests.simulators.registry import Simulator, run_git, small

__all__ = ["ALICE", "DATA", "FIRST", "FOLDER", "bundle", "files", "same", "writes"]

ALICE = Person.new(4242, "alice")
FOLDER = "datasets/server-n"
DATA = {
    f"{FOLDER}/{name}"
    for name in ("levels.csv", "manifest.json", "manifest.json.sig", "runs.csv")
}
FIRST = {*DATA, "specs/server-n.yaml", ALICE.path}


def bundle() -> Simulator:
    """The registry with alice's first bundle."""
    simulated = small()
    simulated.enrol(ALICE)
    simulated.add_levels("server-n", 4242)
    return simulated


def files(hub: FakeGitHub, number: int = 1) -> set[str]:
    """What a pull request changes."""
    head = hub.pull(number).head_sha
    shown = run_git(hub.bare, "diff", "--name-only", f"main...{head}")
    return set(shown.split())


def writes(hub: FakeGitHub) -> int:
    """How often something was to be changed on GitHub."""
    return hub.count("POST", "receive-pack|^/repos") + hub.count("PATCH", ".")


def same(hub: FakeGitHub, simulated: Simulator, number: int = 1) -> bool:
    """Whether a pull request holds these very bytes."""
    head = hub.pull(number).head_sha
    command = ["git", "-C", str(hub.bare), "cat-file", "blob"]
    return all(
        subprocess.check_output([*command, f"{head}:{path}"]) == simulated.files[path]
        for path in files(hub, number)
    )
