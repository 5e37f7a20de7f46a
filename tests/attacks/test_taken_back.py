"""Attacks on what was accepted: taken back by a push, or dated before its time.

threat-model.md S4, S9 to S12, W12: one rogue maintainer pushes to main, or merges what
nobody approved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from registry.gate.git_tree import arrivals
from registry.gate.paths import MAINTAINERS
from registry.gate.signing import public_line
from registry.gate.withdrawal import Withdrawal, withdrawal_bytes
from tests.simulators.gate import found
from tests.simulators.mainlines import DAY, Mainline, maintainers_file
from tests.simulators.people import Person
from tests.simulators.registry import ARRIVED, Simulator, run_git, small

if TYPE_CHECKING:
    from pathlib import Path

TRUST = "registry/trust/42.yaml"
END = "datasets/server-a/WITHDRAWN.yaml"


@pytest.fixture
def line(tmp_path: Path) -> Mainline:
    return Mainline(tmp_path / "repo", small())


def revoked() -> Simulator:
    changed = small()
    changed.enrol(changed.people[42].revoked(0, "2026-02-01T00:00:00Z"))
    return changed


def with_bundle() -> Simulator:
    changed = small()
    changed.add_levels("server-d", 42)
    return changed


def test_s10_a_revocation_is_not_taken_back_by_a_push(line: Mainline) -> None:
    """It came after the release, whose state is not the right one any more."""
    line.merge(revoked(), 1, approved=[2, 3])
    assert found(line.verify()) == []
    line.push(small())
    assert ("N013", TRUST) in found(line.verify())
    line.push(revoked())
    assert found(line.verify()) == []


def test_s11_a_maintainer_who_was_removed_does_not_come_back(line: Mainline) -> None:
    changed = small()
    changed.files[MAINTAINERS] = maintainers_file(2, 3, 4)
    line.merge(changed, 2, approved=[1, 3])
    assert found(line.verify()) == []
    changed.files[MAINTAINERS] = maintainers_file(1, 2, 3)
    line.push(changed)
    assert found(line.verify()) == [("N013", MAINTAINERS)]


def test_w12_a_withdrawal_is_not_taken_back_by_a_push(line: Mainline) -> None:
    value = {"schema": "withdrawn/1", "day": "2026-05-20", "reason": "privacy"}
    changed = small()
    changed.files[END] = withdrawal_bytes(Withdrawal.model_validate(value))
    line.merge(changed)
    assert found(line.verify()) == []
    line.push(small())
    assert ("N013", END) in found(line.verify())


def test_s4_a_new_version_is_not_rolled_back_by_a_push(line: Mainline) -> None:
    changed = small()
    changed.bump("server-a")
    changed.sign("server-a")
    line.merge(changed)
    line.push(small())
    assert ("N013", "datasets/server-a/manifest.json") in found(line.verify())


def test_s9_keys_of_one_account_do_not_vouch_for_another(line: Mainline) -> None:
    """Two new trust files: GitHub is asked about the author, not about the victim."""
    changed = small()
    victim, mallory = Person.new(99, "victim"), Person.new(666, "mallory")
    changed.enrol(victim)
    changed.enrol(mallory)
    line.record.account(99, "victim")
    both = [public_line(one.key) for one in (victim, mallory)]
    line.record.account(666, "mallory", *both)
    line.merge(changed, 666, approved=[1, 2])
    codes = found(line.verify())
    assert codes == [("K026", victim.path)]
    line.record.account(99, "victim", *both)
    assert found(line.verify()) == codes


def test_s5_a_pull_request_of_a_fork_is_none_of_ours(line: Mainline) -> None:
    """Forks share our commits, and have pull requests and numbers of their own."""
    number = line.merge(with_bundle())
    base = line.record.pulls[number]["base"]
    base["repo"] = {"full_name": "Power/Registry"}
    assert line.verify().findings == ()
    for elsewhere in ({"full_name": "mallory/registry"}, None):
        base["repo"] = elsewhere
        assert found(line.verify()) == [("N013", "datasets/server-d/levels.csv")]


def test_s10_no_key_ends_before_now(line: Mainline) -> None:
    """Else whoever ends it makes merged bundles errors that nothing could mend."""
    changed = small()
    changed.enrol(changed.people[42].changed(0, {"not_after": "2026-01-02T00:00:00Z"}))
    line.merge(changed, approved=[1, 2])
    report = line.verify()
    assert found(report) == [("K022", TRUST)]
    assert "revoke it" in report.findings[0].what


def test_s10_no_commit_of_a_merge_says_when_its_bundle_arrived(line: Mainline) -> None:
    """Pushed to main as they were: the date of the one before the last is Mallory's."""
    line.when += 100 * DAY
    number = line.merge(with_bundle(), steps=[with_bundle()], method="rebase")
    assert found(line.verify()) == []
    forged, start, early = line.repo, "main~2", ARRIVED + 2 * DAY
    for state, when in (("main~1", early), ("main", line.when)):
        tree = f"{state}^{{tree}}"
        command = ("commit-tree", tree, "-p", start, "-m", "x")
        start = run_git(forged, *command, when=when).strip()
        line.record.commits[start] = [number]
    run_git(forged, "update-ref", "refs/heads/main", start)
    line.record.pulls[number]["merge_commit_sha"] = start
    assert arrivals(forged, "main")["server-d"] == early
    assert ("S024", "datasets/server-d/levels.csv") in found(line.verify())
