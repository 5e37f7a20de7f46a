"""A registry with a release, published on a GitHub on loopback, and what watches it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from registry.publish import web
from registry.publish.channels import publish
from registry.publish.integrity import open_folder
from registry.publish.release import build_release
from registry.upkeep.situation import Situation
from registry.upkeep.watching import watch
from tests.simulators.github.hub import QUICK, FakeGitHub
from tests.simulators.machines import Machine
from tests.simulators.registry import ARRIVED, Simulator, run_git

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.publish.index import Index
    from registry.upkeep.outcomes import Outcome, Outcomes
    from tests.simulators.github.state import Asset

HOUR = 3600


@dataclass
class World:
    """A published release and its surroundings.

    Attributes:
        hub: The GitHub.
        root: A clone of main.
        release: The release folder as it was built.
    """

    hub: FakeGitHub
    root: Path
    release: Path

    @property
    def index(self) -> Index:
        return open_folder(self.release)[0]

    def situation(self, **changes: Any) -> Situation:
        """What the nightly job sees, an hour after the bundle came to main."""
        seen = Situation(
            place="github:power/registry",
            root=self.root,
            connection=self.hub.connection(),
            now=ARRIVED + HOUR,
        )
        return dataclasses.replace(seen, **changes)

    def watch(self, **changes: Any) -> Outcomes:
        """Run all checks."""
        return watch(self.situation(**changes))

    def asset(self, name: str) -> Asset:
        """A file of the published release."""
        (release,) = self.hub.releases
        return next(one for one in release.assets if one.name == name)

    def drop(self, name: str) -> None:
        """Take a file from the published release."""
        self.hub.releases[0].assets.remove(self.asset(name))

    def publish(self, release: Path) -> None:
        """Publish a folder as the owner."""
        environment = self.hub.environment("power")
        publish(release, "github:", environment=environment, patience=QUICK)

    def change(self, name: str = "server-b", when: int = ARRIVED + HOUR) -> str:
        """Put one more dataset's folder on main; what is in it does not matter."""
        path = self.root / "datasets" / name / "manifest.json"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"{}\n")
        run_git(self.root, "add", "datasets")
        run_git(self.root, "commit", "-q", "-m", f"Add {name}", when=when)
        return run_git(self.root, "rev-parse", "HEAD").strip()


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of one server in ``repo``, and the release of its commit."""
    simulated = Simulator()
    simulated.enrol(42)
    simulated.add_levels("server-a", 42, Machine("server-a", seed=1))
    folder = tmp_path_factory.mktemp("watched")
    simulated.commit(folder / "repo")
    build_release(folder / "repo", folder / "release")
    return folder


@pytest.fixture
def world(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[World]:
    """The release on GitHub, and a fresh clone of main."""
    monkeypatch.setattr(web, "PAUSES", (0.0, 0.0))
    monkeypatch.setenv("REGISTRY_STATE", str(tmp_path / "seen.json"))
    root = tmp_path / "root"
    run_git(tmp_path, "clone", "-q", str(built / "repo"), str(root))
    with FakeGitHub(tmp_path / "hub") as hub:
        monkeypatch.setenv("GITHUB_SERVER_URL", hub.web)
        run_git(root, "push", "-q", str(hub.bare), "main")
        made = World(hub, root, built / "release")
        made.publish(made.release)
        yield made
        assert hub.violations == []


def of(outcomes: Outcomes, check: str) -> Outcome:
    """The outcome of one check."""
    return next(one for one in outcomes.checks if one.id == check)


def statuses(outcomes: Outcomes) -> dict[str, str]:
    """Status by check, without those that passed or had nothing to do."""
    return {one.id: one.status for one in outcomes.checks if one.status == "failed"}


def codes(outcome: Outcome) -> set[str]:
    """The codes that a check found."""
    return {one.code for one in outcome.findings}
