"""Trust files: canonical, sealed by a digest, refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from registry.documents import canonical, trust
from registry.documents.findings import RegistryError
from registry.documents.trust import Contributor, read_trust, trust_bytes
from registry.documents.yaml_writer import write_yaml

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGtra2tra2tra2tra2tra2tra2tra2tra2tra2tra2tr"
OTHER = KEY[:-4] + "a2tz"
PROOF = "-----BEGIN SSH SIGNATURE-----\nU1NIU0lHAAAAAQ==\n-----END SSH SIGNATURE-----\n"
PATH = "registry/trust/4242.yaml"


@pytest.fixture
def value() -> dict[str, Any]:
    return {
        "id": 4242,
        "login": "octo-cat",
        "keys": [
            {
                "ssh": KEY,
                "added": "2026-01-01T00:00:00Z",
                "not_after": "2028-01-01T00:00:00Z",
                "revoked": {"at": "2027-01-01T00:00:00Z", "reason": "lost"},
                "proof": PROOF,
            },
            {"ssh": OTHER, "added": "2027-01-01T00:00:00Z", "proof": PROOF},
        ],
    }


def sealed(value: dict[str, Any]) -> bytes:
    body = write_yaml(value)
    return body + f'digest: "{canonical.sha256(body)}"\n'.encode()


def test_a_trust_file_survives_writing_and_reading(value: dict[str, Any]) -> None:
    contributor = Contributor.model_validate(value)
    data = trust_bytes(contributor)
    assert data == sealed(value)
    assert read_trust(data, PATH) == contributor
    first, second = contributor.keys
    assert contributor.key(second.public_key.blob) == second
    assert contributor.key(b"") is None
    assert first.fingerprint.startswith("SHA256:")


def test_any_changed_byte_is_found(value: dict[str, Any]) -> None:
    data = sealed(value)
    for place in range(len(data)):
        for bit in (0x01, 0x20, 0x80):
            flipped = bytearray(data)
            flipped[place] ^= bit
            with pytest.raises(RegistryError):
                read_trust(bytes(flipped), PATH)
        with pytest.raises(RegistryError):
            read_trust(data[:place], PATH)


@pytest.mark.parametrize(
    ("place", "new", "code", "what"),
    [
        (("id",), 4243, "K004", "belongs into registry/trust/4243.yaml"),
        (("id",), "04242", "K003", "id"),
        (("login",), "-cat", "K003", "login"),
        (("login",), "a" * 40, "K003", "login"),
        (("admin",), "yes", "K001", "admin: no such field"),
        (("keys", 0, "added"), None, "K002", "keys[0].added"),
        (("keys", 0, "added"), "2026-01-01T00:00:00", "K003", "keys[0].added"),
        (("keys", 0, "added"), "2026-02-30T00:00:00Z", "K003", "keys[0].added"),
        (("keys", 0, "not_after"), "2025-01-01T00:00:00Z", "K004", "ends before"),
        (("keys", 0, "revoked", "at"), "2025-01-01T00:00:00Z", "K004", "revoked"),
        (("keys", 0, "revoked", "reason"), "bored", "K003", "reason"),
        (("keys", 0, "ssh"), KEY + " me@host", "K003", "has a comment"),
        (("keys", 0, "ssh"), "ssh-dss AAAA", "K003", "kind of key is not accepted"),
        (("keys", 1, "ssh"), KEY, "K004", "the same key stands in the file twice"),
        (("keys", 1, "proof"), "sig", "K003", "not an SSH signature"),
        (("keys",), [], "K003", "keys"),
    ],
)
def test_what_is_wrong_is_named(
    value: dict[str, Any],
    place: tuple[str | int, ...],
    new: object,
    code: str,
    what: str,
) -> None:
    inner: Any = value
    for key in place[:-1]:
        inner = inner[key]
    if new is None:
        del inner[place[-1]]
    else:
        inner[place[-1]] = new
    with pytest.raises(RegistryError) as caught:
        read_trust(sealed(value), PATH)
    found = caught.value.findings[0]
    assert found.code == code
    assert what in found.what
    assert found.line


def test_another_spelling_of_the_same_content_is_refused(value: dict[str, Any]) -> None:
    body = write_yaml(value).replace(b"login: octo-cat", b'login: "octo-cat"')
    data = body + f'digest: "{canonical.sha256(body)}"\n'.encode()
    with pytest.raises(RegistryError) as caught:
        read_trust(data, PATH)
    (found,) = caught.value.findings
    assert (found.code, found.line) == ("K005", 2)


def test_a_missing_digest_is_named() -> None:
    for data in (b"", b"id: 1\n", b"digest: x\n"):
        with pytest.raises(RegistryError, match="K006"):
            read_trust(data, PATH)


def test_the_enrolment_statement_is_canonical() -> None:
    statement = trust.enrolment_statement(7, "SHA256:abc", "2026-01-01T00:00:00Z")
    assert statement == (
        b'{"added":"2026-01-01T00:00:00Z","fingerprint":"SHA256:abc","id":7,'
        b'"registry":"power-dataset-registry"}\n'
    )


def test_instants_are_utc() -> None:
    assert trust.epoch("1970-01-02T00:00:00Z") == 86400
    for bad in ("1970-01-02T00:00:00", "1970-01-02T00:00:00+01:00", "soonZ"):
        with pytest.raises(ValueError, match=r"."):
            trust.epoch(bad)
