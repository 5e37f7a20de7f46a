"""Keys that end, and who is told of which."""

from __future__ import annotations

from registry.documents.instants import instant
from registry.gate.expiry import expiring
from tests.simulators.people import Person, private_key
from tests.simulators.registry import NOW, Simulator


def listed(*people: Person, now: int = NOW, days: int = 30) -> list[tuple[str, str]]:
    simulated = Simulator()
    for person in people:
        simulated.enrol(person)
    found = expiring(simulated.tree(), now, days)
    assert {one.severity for one in found} <= {"warning"}
    return [(one.code, one.path) for one in found]


def at(day: int) -> dict[str, str]:
    """An end so many days from now."""
    return {"not_after": instant(NOW + day * 86_400)}


def test_only_an_end_without_a_successor_is_told() -> None:
    one, path = Person.new(42), "registry/trust/42.yaml"
    assert listed(one) == []
    assert listed(one.changed(0, at(31))) == []
    assert listed(one.changed(0, at(29))) == [("T047", path)]
    assert listed(one.changed(0, at(29)), days=20) == []
    assert listed(one.changed(0, at(-1))) == [("T048", path)]
    two = one.with_key(private_key("newer"))
    assert listed(two.changed(0, at(-1))) == []
    assert listed(two.changed(0, at(-1)).changed(1, at(5))) == [("T047", path)]
    assert listed(two.changed(0, at(-9)).changed(1, at(-1))) == [("T048", path)] * 2
    assert listed(two.changed(0, at(3)).changed(1, at(5))) == [("T047", path)] * 2


def test_what_was_decided_is_not_told_again() -> None:
    one = Person.new(42).changed(0, at(-1)).revoked(0, "2026-06-01T00:00:00Z")
    assert listed(one) == []
    founding = Person.new(0, "founding").changed(0, at(-1))
    assert listed(founding) == []
    both = Person.new(42).with_key(private_key("newer")).changed(1, at(5))
    assert listed(both.revoked(0, "2026-06-01T00:00:00Z")) == [
        ("T047", "registry/trust/42.yaml")
    ]
