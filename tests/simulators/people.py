"""Imagined contributors with keys that are the same in every run."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.documents.names import NAMESPACE_ENROL
from registry.documents.sshkey import fingerprint
from registry.documents.trust import (
    Contributor,
    Revocation,
    TrustedKey,
    enrolment_statement,
    trust_bytes,
)
from registry.gate.signing import PrivateKey, public_blob, public_line, sign

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ENROLLED", "Person", "private_key"]

ENROLLED = "2026-01-01T00:00:00Z"


def private_key(name: str) -> Ed25519PrivateKey:
    """The Ed25519 key of a name; never use such a key outside tests."""
    return Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name.encode()).digest())


@dataclass(frozen=True, slots=True)
class Person:
    """A contributor and the private halves of its keys.

    Attributes:
        id: numeric account id.
        login: account name.
        keys: private keys; the newest signs.
        entries: the trusted keys as the trust file lists them.
    """

    id: int
    login: str
    keys: tuple[PrivateKey, ...] = ()
    entries: tuple[TrustedKey, ...] = field(default=())

    @classmethod
    def new(cls, id: int, login: str | None = None, added: str = ENROLLED) -> Person:  # noqa: A002
        """A person with one Ed25519 key."""
        name = login or f"person-{id}"
        return cls(id, name).with_key(private_key(f"{id}/{name}"), added=added)

    @property
    def key(self) -> PrivateKey:
        """The key that signs."""
        return self.keys[-1]

    @property
    def path(self) -> str:
        """The trust file's path."""
        return f"registry/trust/{self.id}.yaml"

    def with_key(self, key: PrivateKey, *, added: str = ENROLLED) -> Person:
        """The person with one more key, proven and endorsed by the one before."""
        statement = enrolment_statement(self.id, fingerprint(public_blob(key)), added)
        fields = {
            "ssh": public_line(key),
            "added": added,
            "proof": sign(key, statement, NAMESPACE_ENROL),
        }
        if self.keys:
            fields["endorsement"] = sign(self.key, statement, NAMESPACE_ENROL)
        entry = TrustedKey.model_validate(fields)
        return replace(self, keys=(*self.keys, key), entries=(*self.entries, entry))

    def changed(self, number: int, changes: Mapping[str, object]) -> Person:
        """The person with fields of one trusted key changed, unchecked."""
        entries = list(self.entries)
        entries[number] = entries[number].model_copy(update=dict(changes))
        return replace(self, entries=tuple(entries))

    def revoked(self, number: int, at: str, reason: str = "compromised") -> Person:
        """The person with one key revoked."""
        revocation = Revocation.model_validate({"at": at, "reason": reason})
        return self.changed(number, {"revoked": revocation})

    def trust_file(self) -> bytes:
        """The canonical trust file."""
        return trust_bytes(
            Contributor.model_construct(id=self.id, login=self.login, keys=self.entries)
        )
