"""Attacks on enrolment and trust files: threat-model.md S9 and S10."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from registry.gate.signing import public_line
from tests.simulators.gate import Proposals, found, verified
from tests.simulators.people import Person, private_key
from tests.simulators.registry import small

if TYPE_CHECKING:
    from pathlib import Path

REVOKED = "2026-07-01T00:00:00Z"
"""After the usual arrival (28 May 2026), before the usual present."""


@pytest.fixture
def proposals(tmp_path: Path) -> Proposals:
    return Proposals(tmp_path / "repo", small())


def test_s9_a_key_belongs_to_one_contributor_for_ever(proposals: Proposals) -> None:
    changed = small()
    thief = Person(99, "thief").with_key(changed.people[42].key)
    changed.enrol(thief)
    published = [public_line(thief.key)]
    report = proposals.check(changed, author=99, published_keys=published)
    assert found(report) == [("K021", thief.path)]
    assert ("K021", thief.path) in found(verified(changed))
    revoked = small()
    revoked.enrol(revoked.people[42].revoked(0, REVOKED))
    proposals.merge(revoked)
    revoked.enrol(thief)
    report = proposals.check(revoked, author=99, published_keys=published)
    assert found(report) == [("K021", thief.path)]


def test_s9_enrolment_needs_the_private_key(proposals: Proposals) -> None:
    changed = small()
    foreign = Person.new(99)
    stolen = public_line(private_key("victim"))
    changed.enrol(foreign.changed(0, {"ssh": stolen}))
    report = proposals.check(changed, author=99, published_keys=[stolen])
    assert found(report) == [("K020", foreign.path)]
    assert found(verified(changed)) == [("K020", foreign.path)]


def test_s9_enrolment_for_another_id_or_day(proposals: Proposals) -> None:
    published = [public_line(Person.new(99).key)]
    for fields in ({"id": 98}, {"added": "2026-02-01T00:00:00Z"}):
        changed = small()
        person = Person.new(99)
        if "id" in fields:
            person = Person(98, person.login, person.keys, person.entries)
        else:
            person = person.changed(0, fields)
        changed.enrol(person)
        report = proposals.check(changed, author=person.id, published_keys=published)
        assert found(report) == [("K020", person.path)]


def test_s9_rotation_is_endorsed_by_the_old_key(proposals: Proposals) -> None:
    changed = small()
    alice = changed.people[42]
    path = alice.path
    good = alice.with_key(private_key("new"))
    changed.enrol(good)
    assert found(proposals.check(changed), errors=False) == []
    changed.enrol(good.changed(1, {"endorsement": None}))
    assert found(proposals.check(changed)) == [("K023", path)]
    mallory = changed.people[43]
    forged = Person(42, alice.login, (mallory.key,), alice.entries)
    changed.enrol(forged.with_key(private_key("new")))
    assert found(proposals.check(changed)) == [("K020", path), ("K023", path)]
    changed.enrol(good.changed(1, {"endorsement": None}))
    assert ("K026", path) in found(proposals.check(changed, author=43))


def test_s9_others_bring_only_what_the_owner_vouched_for(proposals: Proposals) -> None:
    """Maintainers carry trust files; a look at who asks is all that is left to do."""
    changed = small()
    good = changed.people[42].with_key(private_key("new"))
    changed.enrol(good)
    report = proposals.check(changed, author=43)
    assert found(report, errors=False) == [("K029", good.path)]
    changed = small()
    bob = changed.enrol(77)
    published = [public_line(bob.key)]
    report = proposals.check(changed, author=43, published_keys=published)
    assert found(report, errors=False) == [("K029", bob.path)]
    report = proposals.check(changed, author=43, published_keys=[])
    assert found(report) == [("K024", bob.path), ("K026", bob.path)]
    changed.add_levels("server-new", 43)
    report = proposals.check(changed, author=43, published_keys=published)
    assert ("K026", bob.path) in found(report)


def test_s9_an_expired_or_revoked_key_endorses_nothing(tmp_path: Path) -> None:
    for number, change in enumerate(
        ({"not_after": REVOKED}, {"revoked": {"at": REVOKED, "reason": "lost"}})
    ):
        merged = small()
        alice = merged.people[42]
        old = (
            alice.revoked(0, REVOKED, "lost")
            if "revoked" in change
            else alice.changed(0, change)
        )
        merged.enrol(old)
        proposals = Proposals(tmp_path / str(number), merged)
        changed = merged.copy()
        person = changed.enrol(old.with_key(private_key("new")))
        assert found(proposals.check(changed)) == [("K023", old.path)]
        vouched = [public_line(person.key)]
        report = proposals.check(changed, published_keys=vouched)
        assert found(report) == []
        assert found(report, errors=False) == [("K023", old.path)]


def test_s9_nobody_joins_the_founding_contributor(proposals: Proposals) -> None:
    changed = small()
    founder = changed.enrol(0)
    assert found(proposals.check(changed, author=None)) == [("K027", founder.path)]
    proposals.merge(changed)
    more = changed.copy()
    more.enrol(founder.with_key(private_key("more")))
    assert found(proposals.check(more, author=None)) == [("K027", founder.path)]


def test_s10_a_revocation_is_never_undone(proposals: Proposals) -> None:
    revoked = small()
    alice = revoked.people[42]
    revoked.enrol(alice.revoked(0, REVOKED))
    assert found(proposals.check(revoked, author=None)) == []
    proposals.merge(revoked)
    for person in (alice, alice.revoked(0, REVOKED, "lost")):
        changed = revoked.copy()
        changed.enrol(person)
        assert found(proposals.check(changed)) == [("K022", alice.path)]


def test_s10_trust_only_shrinks(proposals: Proposals) -> None:
    limited = small()
    alice = limited.people[42].changed(0, {"not_after": "2027-01-01T00:00:00Z"})
    limited.enrol(alice)
    proposals.merge(limited)
    path = alice.path
    longer: list[dict[str, Any]] = [
        {"not_after": None},
        {"not_after": "2028-01-01T00:00:00Z"},
        {"added": "2025-01-01T00:00:00Z"},
        {"ssh": public_line(private_key("other"))},
    ]
    for fields in longer:
        changed = limited.copy()
        changed.enrol(alice.changed(0, fields))
        assert ("K022", path) in found(proposals.check(changed)), fields
    shorter = limited.copy()
    shorter.enrol(alice.changed(0, {"not_after": "2026-12-01T00:00:00Z"}))
    assert found(proposals.check(shorter)) == []
    future = limited.copy()
    future.enrol(alice.revoked(0, "2026-12-01T00:00:00Z"))
    assert found(proposals.check(future)) == [("K022", path)]


def test_s10_keys_are_not_taken_away(proposals: Proposals) -> None:
    two = small()
    alice = two.people[42].with_key(private_key("second"))
    two.enrol(alice)
    proposals.merge(two)
    for entries in (alice.entries[:1], alice.entries[::-1]):
        changed = two.copy()
        changed.enrol(Person(42, alice.login, alice.keys, entries))
        assert ("K022", alice.path) in found(proposals.check(changed))


def test_s10_keys_of_the_future_are_not_enrolled(proposals: Proposals) -> None:
    changed = small()
    person = Person.new(99, added="2026-12-24T00:00:00Z")
    changed.enrol(person)
    published = [public_line(person.key)]
    report = proposals.check(changed, author=99, published_keys=published)
    assert found(report) == [("K025", person.path)]
