"""The whole way on GitHub: from a newcomer's measurements to Kepler's settings.

The commands are those that people type, the workflows those that ship; GitHub is the
simulated one, over HTTP, with real git behind it.
"""

from __future__ import annotations

import json
import os
import subprocess
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from registry.documents.spec import HardwareSpec, write_spec
from registry.gate.paths import MAINTAINERS
from tests.simulators.actions.prefork import own_command
from tests.simulators.github import FakeGitHub
from tests.simulators.machines import Machine, level_tables
from tests.simulators.mainlines import maintainers_file
from tests.simulators.registry import Simulator
from tests.simulators.runner import Runner
from tests.simulators.source import commit_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.simulators.runner import Run

NORA = 4242
MAINTAINED_BY = (1001, 1002, 1003)
START = 1_785_000_000
PACKET = "Write the review packet, also of what was refused"
CLASS = "Intel Xeon Gold 6338"
SETTINGS = "NODE_TOTAL_LOCAL_REGRESSOR=true"


@dataclass
class World:
    """GitHub, its runners, and Nora's laptop."""

    hub: FakeGitHub
    runner: Runner
    root: Path

    @property
    def clone(self) -> Path:
        """Nora's clone of the registry."""
        return self.root / "clone"

    def run(self, login: str | None, command: str, *words: object) -> str:
        """Run one of our commands as an account; gives what it printed."""
        done = self.tried(login, command, *words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def tried(
        self, login: str | None, command: str, *words: object
    ) -> subprocess.CompletedProcess[str]:
        home = self.root / "home"
        home.mkdir(exist_ok=True)
        keep = {"PATH": os.environ["PATH"], "HOME": str(home), "NO_PROXY": "*"}
        keep["REGISTRY_WRITE_PAUSE"] = "0"
        return subprocess.run(
            [str(own_command(self.root / "bin", command)), *map(str, words)],
            cwd=self.clone if self.clone.exists() else self.root,
            env=keep | self.hub.environment(login),
            capture_output=True,
            text=True,
            check=False,
        )

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(self.clone), *words],
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def key(self, name: str) -> Path:
        """Make a key as people do, and publish it at Nora's account."""
        path = self.root / name
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)]
        subprocess.run(words, check=True)
        self.hub.publish_key("nora", path.with_suffix(".pub").read_text())
        return path

    def pack(self, dataset: str, key: Path, seed: int, *options: str) -> None:
        """Measure, pack and sign a bundle in the clone."""
        machine = Machine(dataset, CLASS, seed=seed)
        tables = self.root / f"tables-{dataset}-{seed}"
        tables.mkdir()
        for name, data in level_tables(machine).items():
            (tables / name).write_bytes(data)
        spec = tables.with_suffix(".yaml")
        spec.write_bytes(write_spec(HardwareSpec.model_validate(machine.spec())))
        days = ("--from", "2026-03-01", "--to", "2026-03-02", "--yes")
        where = ("--dataset", dataset, "--contributor", str(NORA))
        self.run("nora", "powerkit", "pack", tables, "--spec", spec, *where, *days,
                 *options)  # fmt: skip
        self.run("nora", "powerkit", "sign", f"datasets/{dataset}", "--key", key)

    def submit(self, dataset: str) -> int:
        """Open the pull request; gives its number."""
        told = self.run(
            "nora", "powerkit", "submit", f"datasets/{dataset}", "--yes", "--json"
        )
        return int(json.loads(told)["number"])

    def land(self, number: int, approvals: int = 2) -> str:
        """Approve a pull request, and let the queue verify and merge it."""
        for one in MAINTAINED_BY[:approvals]:
            self.hub.review(number, f"maintainer-{one}")
        group = self.hub.queue(number, by=f"maintainer-{MAINTAINED_BY[0]}")
        run = self.runner.merge_group(group)
        assert run.conclusion == "success", run.log
        sha = self.hub.finish_queue(group)
        self.git("fetch", "-q", "origin")
        self.git("reset", "-q", "--hard", "origin/main")
        return sha

    def publish(self, sha: str) -> Run:
        """Let the merged commit be published."""
        run = self.runner.push(sha)
        assert run.conclusion == "success", run.log
        return run

    def index(self) -> dict[str, Any]:
        """The latest release's index, read as a stranger does."""
        address = f"{self.hub.web}/power/registry/releases/latest/download/index.json"
        quiet = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with quiet.open(address, timeout=60) as answer:
            return dict(json.load(answer))

    def datasets(self) -> set[str]:
        return {one["dataset"] for one in self.index()["bundles"]}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    root = tmp_path_factory.mktemp("story")
    with FakeGitHub(root / "hub") as hub:
        simulated = Simulator()
        simulated.enrol(42)
        for name in ("server-a", "server-b"):
            simulated.add_levels(name, 42)
        for number in MAINTAINED_BY:
            hub.add_user(f"maintainer-{number}", number)
            hub.add_maintainer(f"maintainer-{number}")
        hub.add_user("person-42", 42)
        hub.add_user("nora", NORA)
        files = simulated.files | {MAINTAINERS: maintainers_file(*MAINTAINED_BY)}
        commit_files(hub.bare, root / "founding", files, source=True, when=START)
        made = World(hub, Runner(hub, root / "runs"), root)
        subprocess.run(
            ["git", "clone", "-q", hub.git_url(), str(made.clone)], check=True
        )
        made.git("config", "user.name", "Nora")
        made.git("config", "user.email", "nora@example.org")
        yield made
        assert hub.violations == []


def test_the_whole_story(world: World) -> None:
    """One test, since each part begins where the one before ended."""
    hub = world.hub
    first_contribution(world)
    first_release(world)
    operator(world)
    second_version(world)
    new_key(world)
    revocation(world)
    withdrawal(world)
    assert [one.draft for one in hub.releases] == [False] * len(hub.releases)
    watched = world.runner.schedule("watch")
    assert watched.jobs["check"].steps, watched.log


def first_contribution(world: World) -> None:
    """A new contributor with a new key."""
    key = world.key("first")
    world.pack("nora-box", key, 5)
    account = ("--contributor", NORA, "--login", "nora")
    world.run("nora", "powerkit", "enrol", "--key", key, *account)
    number = world.submit("nora-box")
    assert world.submit("nora-box") == number  # again is harmless
    files = {one["filename"] for one in asked(world, f"/pulls/{number}/files")}
    assert files == {
        "datasets/nora-box/levels.csv",
        "datasets/nora-box/manifest.json",
        "datasets/nora-box/manifest.json.sig",
        "datasets/nora-box/runs.csv",
        f"registry/trust/{NORA}.yaml",
        "specs/nora-box.yaml",
    }
    run = world.runner.pull_request(number)
    assert run.conclusion == "success", run.log
    assert "nora-box" in run.summary
    world.runner.leave_out = {PACKET}
    # Without approvals the merge queue refuses what brings trust.
    group = world.hub.queue(number)
    early = world.runner.merge_group(group)
    assert early.conclusion == "failure", early.log
    assert "S022" in {one.title for one in early.annotations}
    world.hub.drop_queue(group)
    world.publish(world.land(number))


def asked(world: World, path: str) -> Any:
    """What GitHub answers to anybody."""
    return world.hub.connection().read_all(f"/repos/power/registry{path}")


def first_release(world: World) -> None:
    (release,) = world.hub.releases
    assert not release.draft
    assert world.datasets() == {"server-a", "server-b", "nora-box"}
    again = world.runner.dispatch("publish")
    assert again.conclusion == "success", again.log
    assert len(world.hub.releases) == 1
    attested = {name for name, _ in again.attested}
    assert {"index.json", "SHA256SUMS"} <= attested
    assert again.pages is not None
    assert (again.pages / "models" / "std_v0.7.11").is_dir()


def operator(world: World) -> None:
    """Kepler's operator has no token, and follows redirects to another host."""
    spec = world.clone / "specs" / "nora-box.yaml"
    for place in (
        "github:power/registry",
        f"{world.hub.web}/power/registry/releases/latest/download",
    ):
        told = world.run(None, "registry", "fetch", "--from", place, "--spec", spec)
        assert SETTINGS in told, told
        assert "/releases/download/r-" in told
    (address,) = {
        word.partition("=")[2]
        for word in told.split()
        if word.startswith("NODE_TOTAL_MODEL_CONFIG") or "_INIT_URL=" in word
    }
    quiet = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with quiet.open(address, timeout=60) as answer:  # as Kepler itself would
        assert answer.url.startswith(world.hub.blobs)
        weights = json.load(answer)
    assert weights["model_name"].startswith("SGDRegressorTrainer_")


def second_version(world: World) -> None:
    world.pack("nora-box", world.root / "first", 6, "--new-version")
    world.land(world.submit("nora-box"), approvals=1)


def new_key(world: World) -> None:
    """Rotation: the old key endorses the new one, and the new one signs."""
    fresh = world.key("second")
    account = ("--contributor", NORA, "--login", "nora")
    old = ("--endorse-with", world.root / "first")
    world.run("nora", "powerkit", "enrol", "--key", fresh, *account, *old)
    file = world.root / "rotated.yaml"
    file.write_bytes((world.clone / f"registry/trust/{NORA}.yaml").read_bytes())
    world.git("checkout", "-q", "--", ".")
    lead = f"maintainer-{MAINTAINED_BY[2]}"
    told = world.run(lead, "registry", "trust", "rotate", file, "--json")
    number = int(json.loads(told)["number"])
    run = world.runner.pull_request(number)  # Nora vouches: her old key endorsed it
    assert "K029" in {one.title for one in run.annotations}, run.log
    world.land(number)
    world.pack("nora-box-2", fresh, 8)
    run = world.publish(world.land(world.submit("nora-box-2"), approvals=1))
    bundles = {one["dataset"]: one["version"] for one in world.index()["bundles"]}
    assert bundles == {"server-a": 1, "server-b": 1, "nora-box": 2, "nora-box-2": 1}
    assert "taken over" in run.log
    assert len(world.hub.releases) == 2


def revocation(world: World) -> None:
    """The second key was stolen before it signed: its bundle leaves the models."""
    public = (world.root / "second.pub").read_text()
    shown = subprocess.run(
        ["ssh-keygen", "-lf", "-"],
        input=public,
        capture_output=True,
        text=True,
        check=True,
    )
    name = shown.stdout.split()[1]
    trust = world.git("show", f"origin/main:registry/trust/{NORA}.yaml")
    added = [line for line in trust.splitlines() if "added:" in line][-1]
    since = added.partition(":")[2].strip().strip('"')
    lead = f"maintainer-{MAINTAINED_BY[2]}"
    told = world.run(
        *(lead, "registry", "trust", "revoke", "--contributor", NORA),
        *("--fingerprint", name, "--reason", "compromised"),
        *("--since", since, "--json"),
    )
    world.publish(world.land(int(json.loads(told)["number"])))
    index = world.index()
    assert world.datasets() == {"server-a", "server-b", "nora-box"}
    assert [(one["dataset"], one["reason"]) for one in index["withdrawn"]] == [
        ("nora-box-2", "key-revoked")
    ]
    assert all("nora-box-2" not in model["bundles"] for model in index["models"])


def withdrawal(world: World) -> None:
    lead = f"maintainer-{MAINTAINED_BY[0]}"
    told = world.run(
        *(lead, "registry", "withdraw", "nora-box", "--reason", "measurement-error"),
        "--json",
    )
    number = int(json.loads(told)["number"])
    run = world.runner.pull_request(number)
    assert "T032" in {one.title for one in run.annotations}, run.log
    world.publish(world.land(number, approvals=1))
    assert world.datasets() == {"server-a", "server-b"}
    gone = {one["dataset"] for one in world.index()["withdrawn"]}
    assert gone == {"nora-box", "nora-box-2"}
    assert "nora-box" in world.hub.releases[-1].body
