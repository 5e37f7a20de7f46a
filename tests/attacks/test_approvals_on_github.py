"""Attacks on who decides about trust, over GitHub's API: threat-model.md S7 and S11."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.gate.paths import MAINTAINERS
from registry.gate.signing import public_line
from tests.attacks.hosted_changes import (
    ALICE,
    NEW,
    TRUST,
    rotated,
    small_with_revocation,
)
from tests.simulators.gate import found
from tests.simulators.github import FakeGitHub
from tests.simulators.github.git import Bare
from tests.simulators.hosting import Hosted
from tests.simulators.mainlines import maintainers_file
from tests.simulators.people import private_key
from tests.simulators.registry import run_git, small


def test_s7_a_key_enrolled_and_used_at_once(hosted: Hosted) -> None:
    changed = rotated()
    changed.add_levels("server-d", ALICE)
    changed.sign("server-d", private_key("new"))
    hosted.hub.publish_key("person-42", public_line(private_key("new")))
    number = hosted.propose(changed, ALICE)
    codes = found(hosted.check(number))
    assert ("T021", TRUST) in codes
    assert ("S011", NEW + "manifest.json.sig") in codes
    hosted.merge(number, [2, 3])
    assert ("T021", TRUST) in found(hosted.merged())


def test_s7_maintainers_name_nobody_at_once(hosted: Hosted) -> None:
    """Who is named in a change, or beside one, has no say about it."""
    changed = rotated()
    changed.files[MAINTAINERS] = maintainers_file(2, 3, 4, 5, 6)
    hosted.hub.add_user("puppet-5", 5)
    hosted.hub.add_user("puppet-6", 6)
    number = hosted.propose(changed, ALICE)
    codes = found(hosted.check(number))
    assert ("K036", MAINTAINERS) in codes
    hosted.merge(number, [5, 6])
    codes = found(hosted.merged())
    assert ("K036", MAINTAINERS) in codes
    assert any(code == "S022" for code, _ in codes)


def test_s11_trust_needs_two_maintainers_of_main(hosted: Hosted) -> None:
    number = hosted.propose(rotated(), ALICE)
    report = hosted.check(number)
    assert found(report) == []
    assert found(report, errors=False) == [("S022", TRUST)]
    group = hosted.hub.queue(number)
    assert found(hosted.check_queued(group)) == [("S022", TRUST)]
    for login, id_ in (("puppet", 900), ("poppet", 901)):
        hosted.hub.add_user(login, id_)
        hosted.hub.review(number, login)
    hosted.approve(number, 2)
    assert found(hosted.check_queued(group)) == [("S022", TRUST)]
    hosted.approve(number, 3)
    assert found(hosted.check_queued(group)) == []
    hosted.hub.finish_queue(group)
    assert hosted.merged().findings == ()


def test_s11_a_maintainer_is_no_approver_of_their_own(hosted: Hosted) -> None:
    changed = small()
    changed.files[MAINTAINERS] = maintainers_file(2, 3, 4, 5)
    number = hosted.propose(changed, 2)
    hosted.hub.review(number, "maintainer-2")
    hosted.merge(number, [3])
    assert found(hosted.merged()) == [("S022", MAINTAINERS)]
    hosted.approve(number, 4)
    assert found(hosted.merged()) == []


def test_s11_an_approval_is_of_one_commit(hosted: Hosted) -> None:
    number = hosted.propose(small_with_revocation("lost"), ALICE)
    hosted.approve(number, 2, 3)
    hosted.commit(rotated(), "person-42")
    group = hosted.hub.queue(number)
    assert found(hosted.check_queued(group)) == [("S022", TRUST)]
    hosted.merge(number)
    assert found(hosted.merged()) == [("S022", TRUST)]


@pytest.mark.parametrize("state", ["DISMISSED", "CHANGES_REQUESTED"])
def test_s11_an_approval_taken_back_is_none(state: str, hosted: Hosted) -> None:
    number = hosted.propose(rotated(), ALICE)
    hosted.approve(number, 2, 3)
    hosted.wait(60)
    hosted.approve(number, 3, state="COMMENTED")
    assert found(hosted.check_queued(hosted.hub.queue(number))) == []
    hosted.approve(number, 3, state=state)
    hosted.merge(number)
    assert found(hosted.merged()) == [("S022", TRUST)]


@pytest.mark.parametrize("method", ["merge", "squash"])
def test_s11_what_is_merged_is_what_was_approved(method: str, hosted: Hosted) -> None:
    """A merge commit can hold what no reviewer saw."""
    number = hosted.propose(small_with_revocation("lost"), ALICE)
    hosted.approve(number, 2, 3)
    hosted.wait()
    base, head = hosted.tip(), hosted.hub.pull(number).head_sha
    evil = hosted.whole(small_with_revocation("left"))
    evil.record(hosted.hub.bare, "evil", "main", when=hosted.now())
    bare = Bare(hosted.hub.bare)
    tree = bare.git("rev-parse", "evil^{tree}")
    parents = [base, head] if method == "merge" else [base]
    author = ("Mallory", "m@example.org")
    sha = bare.commit(tree, parents, "Merge\n", author=author, when=hosted.now())
    pull = hosted.hub.pull(number)
    bare.set_ref("refs/heads/main", sha)
    pull.merged_sha, pull.merged_at = sha, hosted.hub.stamp()
    pull.issue.state = "closed"
    assert found(hosted.merged()) == [("S023", TRUST)]


def test_s11_one_rogue_changes_the_maintainers(hosted: Hosted) -> None:
    """Not by a push, not with puppets, and not for the time of one other change."""
    for one in (5, 6):
        hosted.hub.add_user(f"puppet-{one}", one)
    good = hosted.state.files[MAINTAINERS]
    evil = small()
    evil.files[MAINTAINERS] = maintainers_file(5, 6)
    hosted.push(evil)
    assert found(hosted.merged())[0] == ("N013", MAINTAINERS)
    changed = rotated()
    hosted.merge(hosted.propose(changed, ALICE, "trust"), [5, 6])
    assert ("S022", TRUST) in found(hosted.merged())
    changed.files[MAINTAINERS] = good
    hosted.push(changed)
    report = hosted.merged()
    assert found(report) == [("S022", TRUST)]
    assert any(one.code == "S025" for one in report.findings)


def test_s11_maintainers_are_never_all_taken_away(hosted: Hosted) -> None:
    changed = small()
    changed.files[MAINTAINERS] = maintainers_file()
    number = hosted.propose(changed, 2)
    assert found(hosted.check(number)) == [("K035", MAINTAINERS)]
    hosted.merge(number, [3, 4])
    assert found(hosted.merged()) == [("K035", MAINTAINERS)]


def test_s11_nobody_named_means_that_nobody_approves(tmp_path: Path) -> None:
    with FakeGitHub(tmp_path / "github") as hub:
        hosted = Hosted.found(hub, small())
        run_git(hub.bare, "update-ref", "refs/heads/main", "main^")
        hosted.state.files[MAINTAINERS] = maintainers_file()
        hosted.push(hosted.state)
        number = hosted.propose(rotated(), ALICE)
        hosted.approve(number, 2, 3)
        report = hosted.check(number)
        assert found(report) == [("S021", MAINTAINERS)]
        assert "push that commit to main" in report.findings[-1].fix
        assert found(hosted.merged()) == [("S021", MAINTAINERS)]
