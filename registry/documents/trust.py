"""Trust files: who may contribute, with which keys, from when until when.

``registry/trust/<id>.yaml`` is one contributor. The file is canonical and ends with a
digest of what stands above it, so that no byte can change unnoticed even without git.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Annotated, Final, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, StrictInt, model_validator

from registry.documents import canonical, limits, sshkey, strict_yaml
from registry.documents.findings import RegistryError, Severity, code, finding
from registry.documents.names import REGISTRY
from registry.documents.validation import (
    Document,
    DocumentCodes,
    contradictions,
    validate,
)
from registry.documents.yaml_writer import write_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.documents.strict_yaml import Location

__all__ = [
    "FOUNDING",
    "Contributor",
    "Login",
    "Revocation",
    "TrustedKey",
    "Whole",
    "enrolment_statement",
    "epoch",
    "read_trust",
    "trust_bytes",
    "trust_path",
]

FOUNDING: Final = 0
"""The contributor id of the founding key, which no GitHub account has."""

CODES = DocumentCodes(
    unknown=code(
        "K001",
        Severity.ERROR,
        "A trust file holds a key that no trust file has.",
        "Remove the key, or write the file with `powerkit enrol`.",
        "S7",
    ),
    missing=code(
        "K002",
        Severity.ERROR,
        "A trust file lacks a key.",
        "Write the file with `powerkit enrol`.",
        "S7",
    ),
    value=code(
        "K003",
        Severity.ERROR,
        "A value in a trust file is not allowed.",
        "Mend the value; times are UTC and end with Z.",
        "S8",
        "S9",
        "S10",
    ),
    contradiction=code(
        "K004",
        Severity.ERROR,
        "Values of a trust file contradict each other.",
        "Mend the named values.",
        "S9",
        "S10",
    ),
)
NOT_CANONICAL = code(
    "K005",
    Severity.ERROR,
    "A trust file is not in canonical form.",
    "Write the file with `powerkit enrol` or `powerkit revoke`, not by hand.",
    "S7",
)
DIGEST = code(
    "K006",
    Severity.ERROR,
    "A trust file does not match the digest in its last line.",
    "Restore the file from main; `powerkit enrol` and `powerkit revoke` change it.",
    "S7",
)

_ARMOUR: Final = re.compile(
    r"-----BEGIN SSH SIGNATURE-----\n"
    r"(?:[A-Za-z0-9+/=]{1,76}\n){1,120}"
    r"-----END SSH SIGNATURE-----\n"
)
_DIGEST_LINE: Final = re.compile(rb'digest: "?([0-9a-f]{64})"?\n')


def _integer(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(r"(?:0|[1-9][0-9]{0,15})", value):
        return int(value)
    return value


def _instant(text: str) -> str:
    epoch(text)
    return text


def _key_line(text: str) -> str:
    try:
        key = sshkey.parse_public_key(text)
    except RegistryError as error:
        raise ValueError(error.findings[0].what) from None
    if text != key.line:
        message = "the key has a comment or odd spaces"
        raise ValueError(message)
    return text


def _armour(text: str) -> str:
    if _ARMOUR.fullmatch(text) is None:
        message = "not an SSH signature in armour"
        raise ValueError(message)
    return text


Instant = Annotated[
    str,
    Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"),
    AfterValidator(_instant),
]
Armour = Annotated[
    str, Field(max_length=limits.SIGNATURE_BYTES), AfterValidator(_armour)
]
Whole: Final = BeforeValidator(_integer)
"""Takes a whole number, which a YAML reader gives as text."""
Login = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9](?:-?[A-Za-z0-9]){0,38}$", max_length=39)
]


class Revocation(Document):
    """When and why a key stopped being trusted; never undone."""

    at: Instant
    reason: Literal["compromised", "lost", "superseded", "left", "unspecified"]


class TrustedKey(Document):
    """One key of a contributor.

    Attributes:
        ssh: The public key line, kind and base64, without comment.
        added: From when it is trusted, a UTC instant that ends with Z.
        not_after: Until when it is trusted.
        revoked: Set once, never removed.
        proof: The key's own signature of its enrolment statement, armoured.
        endorsement: The same statement signed by a key that the contributor had
            before; every key but the first needs it, unless the others are lost.

    """

    ssh: Annotated[
        str,
        Field(max_length=limits.KEY_LINE_CHARACTERS),
        AfterValidator(_key_line),
    ]
    added: Instant
    not_after: Instant | None = None
    revoked: Revocation | None = None
    proof: Armour
    endorsement: Armour | None = None

    @property
    def public_key(self) -> sshkey.PublicKey:
        """The parsed key."""
        return sshkey.parse_public_key(self.ssh)

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the key, as OpenSSH prints it."""
        return sshkey.fingerprint(self.public_key.blob)


class Contributor(Document):
    """One contributor.

    Attributes:
        id: The numeric id of the GitHub account, or 0 for the founding key. Logins can
            be renamed and registered again, ids cannot.
        login: The account's name when it enrolled: shown, never trusted.
        keys: All keys that the contributor ever had.

    """

    id: Annotated[StrictInt, Field(ge=0, le=limits.INTEGER), Whole]
    login: Login
    keys: Annotated[tuple[TrustedKey, ...], Field(min_length=1, max_length=limits.KEYS)]

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        problems = list(_problems(self))
        if problems:
            raise contradictions(problems)
        return self

    def key(self, blob: bytes) -> TrustedKey | None:
        """Return the key with a given blob, or None."""
        return next((k for k in self.keys if k.public_key.blob == blob), None)


def _problems(contributor: Contributor) -> Iterator[tuple[Location, str]]:
    seen: set[str] = set()
    for number, key in enumerate(contributor.keys):
        here = ("keys", number)
        if key.ssh in seen:
            yield (*here, "ssh"), "the same key stands in the file twice"
        seen.add(key.ssh)
        if key.not_after is not None and key.not_after <= key.added:
            yield (*here, "not_after"), "the key ends before it begins"
        if key.revoked is not None and key.revoked.at < key.added:
            yield (*here, "revoked"), "the key is revoked before it begins"


def epoch(instant: str) -> int:
    """Return the seconds since 1970 of a UTC instant like ``2026-01-31T00:00:00Z``.

    Raises:
        ValueError: It is no such instant.

    """
    if not instant.endswith("Z"):
        message = "the time is not UTC with a Z"
        raise ValueError(message)
    return int(dt.datetime.strptime(instant, "%Y-%m-%dT%H:%M:%S%z").timestamp())


def enrolment_statement(id: int, fingerprint: str, added: str) -> bytes:  # noqa: A002
    """Return what a new key signs to prove that its owner enrols it.

    The namespace of that signature is ``names.NAMESPACE_ENROL``.
    """
    return canonical.encode(
        {
            "added": added,
            "fingerprint": fingerprint,
            "id": id,
            "registry": REGISTRY,
        }
    )


def trust_path(id: int) -> str:  # noqa: A002
    """Return the path of a contributor's trust file in a registry."""
    return f"registry/trust/{id}.yaml"


def read_trust(data: bytes, path: str) -> Contributor:
    """Read a trust file; its bytes must be exactly the canonical ones.

    The proofs are only read here; the gate verifies them.

    Raises:
        RegistryError: Y codes of ``read_yaml``, K001 to K006, K010.

    """
    _check_digest(data, path)
    document = strict_yaml.read_yaml(data, path)
    value = {key: item for key, item in document.value.items() if key != "digest"}
    contributor = validate(Contributor, value, path, CODES, document.lines)
    wanted = trust_bytes(contributor)
    if data != wanted:
        line = _first_difference(data, wanted)
        what = "the bytes differ from the canonical ones of the same content"
        raise RegistryError(finding(NOT_CANONICAL, path, what, line=line))
    if path.startswith("registry/trust/") and path != (
        wanted_path := trust_path(contributor.id)
    ):
        what = f"contributor {contributor.id} belongs into {wanted_path}"
        at = document.lines.get(("id",))
        raise RegistryError(finding(CODES.contradiction, path, what, line=at))
    return contributor


def trust_bytes(contributor: Contributor) -> bytes:
    """Return the canonical bytes of a trust file, the digest line included."""
    body = write_yaml(contributor.model_dump(mode="json", exclude_none=True))
    return body + f'digest: "{canonical.sha256(body)}"\n'.encode("ascii")


def _check_digest(data: bytes, path: str) -> None:
    at = data.rfind(b"digest: ")
    match = _DIGEST_LINE.fullmatch(data, at) if at > 0 else None
    if match is None:
        what = "the last line is not the digest of the lines above it"
        raise RegistryError(finding(DIGEST, path, what))
    if canonical.sha256(data[:at]) != match.group(1).decode("ascii"):
        what = "the content was changed without its digest"
        line = data.count(b"\n", 0, at) + 1
        raise RegistryError(finding(DIGEST, path, what, line=line))


def _first_difference(data: bytes, wanted: bytes) -> int:
    same = next(
        (n for n, (a, b) in enumerate(zip(data, wanted, strict=False)) if a != b),
        min(len(data), len(wanted)),
    )
    return data.count(b"\n", 0, same) + 1
