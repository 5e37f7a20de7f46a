"""Many pull requests at once: what main becomes does not depend on their order."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from registry.gate.github.verify_pull import verify_pull
from registry.gate.paths import MAINTAINERS
from registry.publish.release import build_release
from tests.simulators.gate import found
from tests.simulators.github import FakeGitHub
from tests.simulators.github.merging import CannotMerge
from tests.simulators.machines import Machine
from tests.simulators.mainlines import maintainers_file
from tests.simulators.registry import NOW, Simulator, run_git, small

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from registry.gate.outcome import Report
    from tests.simulators.github.state import MergeGroup

CONTRIBUTORS = range(100, 105)
PROPOSED = 20


@dataclass
class Hosted:
    """A registry on the fake GitHub."""

    hub: FakeGitHub
    merged: Simulator

    def propose(self, changed: Simulator, contributor: int, name: str) -> int:
        """Open a pull request from the contributor's fork, which left main now."""
        login = f"person-{contributor}"
        fork = self.hub.bare_of(self.hub.fork(login))
        run_git(fork, "fetch", "-q", str(self.hub.bare), "main:upstream")
        changed.record(fork, name, "upstream", when=NOW - 60)
        return self.hub.open_pull(login, name, title=name)

    def judge(self, group: MergeGroup) -> Report:
        """Verify an entry of the merge queue as the workflow does."""
        return verify_pull(
            self.hub.bare,
            f"{group.head_sha}^1",
            group.head_sha,
            group.number,
            self.hub.connection(),
            now=NOW,
            queued=True,
            expectations=False,
        )

    def merge(self, number: int, when: int) -> Report:
        """Let a pull request through the queue if the gate lets it."""
        group = self.hub.queue(number, when=when)
        report = self.judge(group)
        if found(report):
            self.hub.drop_queue(group)
        else:
            self.hub.finish_queue(group)
        return report


@pytest.fixture
def hosted(tmp_path: Path) -> Iterator[Hosted]:
    with FakeGitHub(tmp_path / "hub") as hub:
        yield founded(hub)
        assert hub.violations == []


def founded(hub: FakeGitHub) -> Hosted:
    """A registry of three bundles, whose later contributors are enrolled."""
    simulated = small()
    for number in (42, 43, *CONTRIBUTORS):
        person = simulated.enrol(number)
        hub.add_user(person.login, number)
    simulated.files[MAINTAINERS] = maintainers_file(1, 2, 3)
    simulated.record(hub.bare, "main", when=NOW - 86_400)
    return Hosted(hub, simulated)


def merged_in_order(root: Path, seed: int) -> tuple[str, tuple[object, ...]]:
    """Propose twenty bundles at once and merge them in some order.

    Returns:
        The tree of main, and what a release of it says of models and classes.
    """
    with FakeGitHub(root / "hub") as hub:
        hosted = founded(hub)
        numbers = []
        for at in range(PROPOSED):
            contributor, name = CONTRIBUTORS[at % len(CONTRIBUTORS)], f"box-{at:02}"
            changed = hosted.merged.copy()
            machine = Machine(name, f"Intel Xeon Gold {6200 + at % 4}R", seed=at)
            changed.add_levels(name, contributor, machine)
            numbers.append(hosted.propose(changed, contributor, name))
        random.Random(seed).shuffle(numbers)
        for step, number in enumerate(numbers):
            assert found(hosted.merge(number, NOW - 3600 + step)) == []
        assert hub.violations == []
        built = build_release(hub.bare, root / "release", rev="main")
        models = tuple(
            model.model_dump(mode="json", exclude={"input_digest"})
            for model in built.index.models
        )
        tree = run_git(hub.bare, "rev-parse", "main^{tree}").strip()
    assert len(built.index.bundles) == PROPOSED + 3
    return tree, (models, built.index.classes)


def test_twenty_pull_requests_in_any_order(tmp_path: Path) -> None:
    first, second = (merged_in_order(tmp_path / str(seed), seed) for seed in (1, 2))
    assert first == second


def second_version(hosted: Hosted, watts: bytes) -> Simulator:
    """The next version of server-a, with another reading."""
    changed = hosted.merged.copy()
    path = "datasets/server-a/levels.csv"
    lines = changed.files[path].split(b"\n")
    lines[1] = lines[1].rpartition(b",")[0] + b"," + watts
    changed.files[path] = b"\n".join(lines)
    changed.bump("server-a")
    changed.reseal("server-a")
    return changed


def test_w10_of_two_that_claim_one_version_the_second_is_refused(
    hosted: Hosted,
) -> None:
    """GitHub sees the conflict of content; rebuilt on main, the gate sees the claim."""
    one, other = (second_version(hosted, watts) for watts in (b"401.5", b"402.5"))
    first = hosted.propose(one, 42, "first")
    second = hosted.propose(other, 42, "second")
    assert found(hosted.judge(hosted.hub.queue(first))) == []
    assert found(hosted.merge(first, NOW - 60)) == []
    with pytest.raises(CannotMerge):
        hosted.hub.queue(second)
    again = hosted.propose(other, 42, "second-again")
    path = "datasets/server-a/manifest.json"
    assert ("S016", path) in found(hosted.merge(again, NOW - 30))
    assert hosted.hub.pull(again).open


def test_w10_an_entry_is_built_again_when_main_moves(hosted: Hosted) -> None:
    """An entry cannot land on what it was not tried on."""
    numbers = []
    for name, contributor in (("box-a", 100), ("box-b", 101)):
        changed = hosted.merged.copy()
        changed.add_levels(name, contributor)
        numbers.append(hosted.propose(changed, contributor, name))
    groups = [hosted.hub.queue(number) for number in numbers]
    assert [found(hosted.judge(group)) for group in groups] == [[], []]
    hosted.hub.finish_queue(groups[0])
    with pytest.raises(CannotMerge):
        hosted.hub.finish_queue(groups[1])
    hosted.hub.drop_queue(groups[1])
    assert found(hosted.merge(numbers[1], NOW - 60)) == []


def test_w10_the_same_measurements_race_under_two_names(hosted: Hosted) -> None:
    """Each is right by itself; whoever comes second brings what is there."""
    machine = Machine("twin", seed=7)
    numbers = []
    for name, contributor in (("box-a", 100), ("box-b", 101)):
        changed = hosted.merged.copy()
        changed.add_levels(name, contributor, machine)
        numbers.append(hosted.propose(changed, contributor, name))
    assert found(hosted.merge(numbers[0], NOW - 60)) == []
    assert {code for code, _ in found(hosted.merge(numbers[1], NOW - 30))} == {"D001"}
