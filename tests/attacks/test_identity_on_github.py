"""Attacks on who somebody is, over GitHub's API: threat-model.md S5 to S13, W10."""

from __future__ import annotations

import pytest

from registry.gate.signing import public_line
from tests.attacks.hosted_changes import (
    ALICE,
    MALLORY,
    NEW,
    with_bundle,
    with_newcomer,
    withdrawn,
)
from tests.simulators.gate import found
from tests.simulators.github import CannotMerge
from tests.simulators.github.git import Bare
from tests.simulators.hosting import Hosted
from tests.simulators.mainlines import DAY
from tests.simulators.people import Person, private_key
from tests.simulators.registry import ARRIVED, run_git, small

BOB = 43


def test_a_contributor_proposes_and_it_is_released(hosted: Hosted) -> None:
    number = hosted.propose(with_bundle(), ALICE)
    assert hosted.check(number).findings == ()
    group = hosted.hub.queue(number, when=hosted.now())
    assert hosted.check_queued(group).findings == ()
    hosted.hub.finish_queue(group)
    assert hosted.merged().findings == ()
    # Keys on main are enough: GitHub's list was never asked for.
    assert hosted.hub.count("GET", "signing_keys") == 0


def test_s5_a_signed_bundle_of_another(hosted: Hosted) -> None:
    number = hosted.propose(with_bundle(), MALLORY)
    path = NEW + "manifest.json"
    assert found(hosted.check(number)) == [("S015", path)]
    assert found(hosted.check_queued(hosted.hub.queue(number))) == [("S015", path)]
    hosted.merge(number)
    assert found(hosted.merged()) == [("S015", path)]


def test_s5_the_same_commits_in_two_pull_requests(hosted: Hosted) -> None:
    """Whoever copies a pull request can neither help nor harm it."""
    alices = hosted.propose(with_bundle(), ALICE, "one")
    copy = Bare(hosted.hub.bare_of(hosted.hub.fork("mallory")))
    head = hosted.hub.pull(alices).head_sha
    copy.take(Bare(hosted.hub.bare), head)
    copy.set_ref("refs/heads/copy", head)
    mallorys = hosted.hub.open_pull("mallory", "copy")
    assert found(hosted.check(mallorys)) == [("S015", NEW + "manifest.json")]
    merged = hosted.merge(alices)
    pulls = [hosted.hub.pull(one) for one in (alices, mallorys)]
    assert [one.merged_sha for one in pulls] == [merged, merged]
    assert hosted.merged().findings == ()


def test_s5_the_same_commits_first_in_mallorys(hosted: Hosted) -> None:
    head = hosted.commit(with_bundle(), "person-42", "one")
    copy = Bare(hosted.hub.bare_of(hosted.hub.fork("mallory")))
    copy.take(Bare(hosted.hub.bare_of(hosted.hub.fork("person-42"))), head)
    copy.set_ref("refs/heads/copy", head)
    mallorys = hosted.hub.open_pull("mallory", "copy")
    hosted.hub.open_pull("person-42", "one")
    hosted.merge(mallorys)
    assert hosted.merged().findings == ()


def test_s8_the_same_login_of_another_account(hosted: Hosted) -> None:
    hosted.hub.rename("person-42", "alice-elsewhere")
    hosted.hub.add_user("person-42", 777)
    number = hosted.propose(with_bundle(), 777)
    assert found(hosted.check(number)) == [("S015", NEW + "manifest.json")]
    assert found(hosted.check(hosted.propose(with_bundle(), ALICE, "own"))) == []


def test_s8_keys_of_who_took_the_login_are_not_the_owners(hosted: Hosted) -> None:
    """The login is asked for by id each time, so a squatter's keys are never read."""
    changed, person = with_newcomer()
    hosted.hub.add_user("newcomer", 99)
    number = hosted.propose(changed, 99)
    hosted.hub.rename("newcomer", "renamed")
    hosted.hub.add_user("newcomer", 777, [public_line(person.key)])
    assert ("K024", person.path) in found(hosted.check(number))
    hosted.hub.publish_key("renamed", public_line(person.key))
    assert found(hosted.check(number)) == []


def test_s8_look_alike_logins_are_other_accounts(hosted: Hosted) -> None:
    hosted.hub.add_user("persom-42", 778)
    number = hosted.propose(with_bundle(), 778)
    assert found(hosted.check(number)) == [("S015", NEW + "manifest.json")]


def test_s9_a_first_key_must_be_published_by_that_account(hosted: Hosted) -> None:
    changed, person = with_newcomer()
    hosted.hub.add_user("newcomer", 99, [public_line(private_key("unrelated"))])
    hosted.hub.publish_key("mallory", public_line(person.key))
    number = hosted.propose(changed, 99)
    assert ("K024", person.path) in found(hosted.check(number))
    hosted.hub.publish_key("newcomer", public_line(person.key))
    assert found(hosted.check(number)) == []


def test_s9_a_key_beyond_the_first_page_is_found(hosted: Hosted) -> None:
    changed, person = with_newcomer()
    others = [public_line(private_key(f"other-{number}")) for number in range(130)]
    keys = [*others, "ssh-dss AAAAB3NzaC1kc3M=", public_line(person.key)]
    hosted.hub.add_user("newcomer", 99, keys)
    number = hosted.propose(changed, 99)
    assert found(hosted.check(number)) == []
    assert hosted.hub.count("GET", r"newcomer/ssh_signing_keys") == 2


def test_s9_a_key_that_is_not_published_any_more(hosted: Hosted) -> None:
    changed, person = with_newcomer()
    hosted.hub.add_user("newcomer", 99, [public_line(person.key)])
    number = hosted.propose(changed, 99)
    assert found(hosted.check(number)) == []
    hosted.merge(number, [2, 3])
    assert hosted.merged().findings == ()
    hosted.hub.drop_key("newcomer", public_line(person.key))
    assert ("K024", person.path) in found(hosted.merged())
    ended = changed.copy()
    ended.enrol(person.revoked(0, "2026-02-01T00:00:00Z"))
    hosted.merge(hosted.propose(ended, 2, "revoke"), [3, 4])
    ended.files[NEW + "WITHDRAWN.yaml"] = withdrawn()
    hosted.merge(hosted.propose(ended, 2, "withdraw"))
    assert found(hosted.merged()) == []


def test_s9_the_owner_is_asked_and_not_who_brings_the_key(hosted: Hosted) -> None:
    """Mallory publishes a key and enrols it for an account that does not."""
    changed = small()
    victim = changed.enrol(Person.new(99, "victim"))
    hosted.hub.add_user("victim", 99)
    hosted.hub.publish_key("mallory", public_line(victim.key))
    number = hosted.propose(changed, MALLORY)
    wrong = [("K026", victim.path), ("K024", victim.path)]
    assert sorted(found(hosted.check(number))) == sorted(wrong)
    hosted.merge(number, [2, 3])
    assert sorted(found(hosted.merged())) == sorted(wrong)
    hosted.hub.publish_key("victim", public_line(victim.key))
    report = hosted.merged()
    assert found(report) == []
    assert [one.code for one in report.findings] == ["K029"]


def test_s9_login_keys_and_other_kinds_are_no_signing_keys(hosted: Hosted) -> None:
    changed, person = with_newcomer()
    hosted.hub.add_user("newcomer", 99)
    account = hosted.hub.person("newcomer")
    hosted.hub.publish_key("newcomer", public_line(person.key))
    account.login_keys, account.signing_keys = account.signing_keys, []
    number = hosted.propose(changed, 99)
    assert ("K024", person.path) in found(hosted.check(number))


def test_s10_the_time_of_a_merge_is_githubs(hosted: Hosted) -> None:
    """A key that was revoked in May signs nothing in June, whatever a commit says."""
    changed = small()
    changed.enrol(changed.people[ALICE].revoked(0, "2026-05-29T00:00:00Z"))
    hosted.merge(hosted.propose(changed, ALICE, "revoke"), [2, 3])
    changed.add_levels("server-d", ALICE)
    number = hosted.propose(changed, ALICE, "data")
    hosted.wait(30 * DAY)
    assert ("S014", NEW + "manifest.json.sig") in found(hosted.check(number))
    sha = hosted.hub.merge(number, "maintainer-2", when=ARRIVED - DAY)
    hosted.hub.pull(number).merged_at = hosted.hub.stamp()
    assert run_git(hosted.hub.bare, "log", "-1", "--format=%ct", sha).strip() == str(
        ARRIVED - DAY
    )
    assert ("S024", NEW + "levels.csv") in found(hosted.merged())


def test_s13_names_in_commits_are_no_identity(hosted: Hosted) -> None:
    """Mallory's commit says that Alice made it, and signed it off."""
    changed = hosted.whole(with_bundle(ALICE))
    changed.record(hosted.hub.bare, "x", "main", when=hosted.now())
    bare = Bare(hosted.hub.bare)
    alice = ("person-42", "42+person-42@users.noreply.github.com")
    message = "Add server-d\n\nSigned-off-by: person-42 <42@example.org>\n"
    tree = bare.git("rev-parse", "x^{tree}")
    options = {"author": alice, "committer": alice, "when": hosted.now()}
    sha = bare.commit(tree, [hosted.tip()], message, **options)
    fork = Bare(hosted.hub.bare_of(hosted.hub.fork("mallory")))
    fork.take(bare, sha)
    fork.set_ref("refs/heads/forged", sha)
    number = hosted.hub.open_pull("mallory", "forged", body=message)
    assert found(hosted.check(number)) == [("S015", NEW + "manifest.json")]
    hosted.merge(number)
    assert found(hosted.merged()) == [("S015", NEW + "manifest.json")]


def test_s13_a_push_is_nobodys_proposal(hosted: Hosted) -> None:
    hosted.push(with_bundle())
    assert found(hosted.merged()) == [("N013", NEW + "levels.csv")]
    hosted.push(small())
    assert found(hosted.merged()) == []


def test_w10_closed_or_merged_elsewhere_is_not_merged(hosted: Hosted) -> None:
    bare = Bare(hosted.hub.bare)
    bare.set_ref("refs/heads/side", hosted.tip())
    side = hosted.propose(with_bundle(), ALICE, "one", base="side")
    assert ("N012", "github") in found(hosted.check(side))
    closed = hosted.propose(with_bundle(), ALICE, "two")
    hosted.hub.set_state(hosted.hub.pull(closed).issue, "closed")
    sha = hosted.merge(side)
    bare.set_ref("refs/heads/main", sha)
    assert found(hosted.merged()) == [("N013", NEW + "levels.csv")]


def test_w10_two_race_for_one_version(hosted: Hosted) -> None:
    numbers = []
    for day in ("2026-03-03", "2026-03-04"):
        changed = small()
        changed.bump("server-a")
        days = {"from": "2026-03-01", "to": day}
        changed.edit("server-a", lambda value, d=days: value.update(measured=d))
        numbers.append(hosted.propose(changed, ALICE, f"until-{day}"))
    for number in numbers:
        assert found(hosted.check(number)) == []
    hosted.merge(numbers[0])
    with pytest.raises(CannotMerge):
        hosted.hub.queue(numbers[1])
    path = "datasets/server-a/manifest.json"
    head = hosted.hub.pull(numbers[1]).head_sha
    assert ("S016", path) in found(hosted.check(numbers[1], head=head))


def test_w12_a_withdrawal_by_another_is_told_of(hosted: Hosted) -> None:
    changed = small()
    changed.files["datasets/server-a/WITHDRAWN.yaml"] = withdrawn()
    number = hosted.propose(changed, BOB)
    report = hosted.check(number)
    assert found(report) == []
    assert [one.code for one in report.findings] == ["T032"]
    hosted.merge(number)
    assert [one.code for one in hosted.merged().findings] == ["T032"]
