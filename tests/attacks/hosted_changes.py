"""Changes of a small registry that attackers and their victims propose on GitHub."""

from __future__ import annotations

from registry.gate.withdrawal import Withdrawal, withdrawal_bytes
from tests.simulators.people import Person, private_key
from tests.simulators.registry import Simulator, small

__all__ = [
    "ALICE",
    "MALLORY",
    "NEW",
    "TRUST",
    "rotated",
    "small_with_revocation",
    "with_bundle",
    "with_newcomer",
    "withdrawn",
]

NEW = "datasets/server-d/"
ALICE, MALLORY = 42, 666
TRUST = f"registry/trust/{ALICE}.yaml"


def with_bundle(contributor: int = ALICE, name: str = "server-d") -> Simulator:
    changed = small()
    changed.add_levels(name, contributor)
    return changed


def with_newcomer(id: int = 99, login: str = "newcomer") -> tuple[Simulator, Person]:  # noqa: A002
    changed = small()
    person = changed.enrol(Person.new(id, login))
    changed.add_levels("server-d", id)
    return changed, person


def rotated() -> Simulator:
    changed = small()
    changed.enrol(changed.people[ALICE].with_key(private_key("new")))
    return changed


def withdrawn() -> bytes:
    value = {"schema": "withdrawn/1", "day": "2026-05-20", "reason": "request"}
    return withdrawal_bytes(Withdrawal.model_validate(value))


def small_with_revocation(reason: str) -> Simulator:
    changed = small()
    alice = changed.people[ALICE]
    changed.enrol(alice.revoked(0, "2026-05-20T00:00:00Z", reason))
    return changed
