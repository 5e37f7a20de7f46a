"""OpenSSH public keys: the accepted kinds, parsing a line, fingerprints."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import struct
from dataclasses import dataclass
from typing import Final

from registry.documents import limits
from registry.documents.findings import RegistryError, Severity, code, finding, shown

__all__ = ["KINDS", "PublicKey", "blob_fields", "fingerprint", "parse_public_key"]

BAD_KEY = code(
    "K010",
    Severity.ERROR,
    "A public key cannot be read or is of a kind that is not accepted.",
    "Give one line of a *.pub file: ssh-ed25519, sk-ssh-ed25519, ECDSA on a NIST curve,"
    " or RSA of at least 2048 bits.",
    "S1",
    "S9",
)

KINDS: Final = {
    "ssh-ed25519": 2,
    "sk-ssh-ed25519@openssh.com": 3,
    "ecdsa-sha2-nistp256": 3,
    "ecdsa-sha2-nistp384": 3,
    "ecdsa-sha2-nistp521": 3,
    "sk-ecdsa-sha2-nistp256@openssh.com": 4,
    "ssh-rsa": 3,
}
"""Accepted kinds and the number of fields of their blobs, the kind included."""

_RSA_BITS: Final = range(2048, 16384 + 1)
_ED25519_BYTES: Final = 32
_POINT_BYTES: Final = {"nistp256": 65, "nistp384": 97, "nistp521": 133}
_FIELD: Final = 2**255 - 19
_ORDER_8: Final = int.from_bytes(
    bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
    "little",
)
_SMALL_ORDER: Final = frozenset(
    {0, 1, _FIELD - 1, _FIELD, _FIELD + 1, _ORDER_8, _FIELD - _ORDER_8}
)
"""The y of Ed25519 points of small order, for which anyone can forge signatures: a key
of that kind could be enrolled by someone who holds no private key."""
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_APPLICATION: Final = re.compile(rb"ssh:[A-Za-z0-9._-]{0,64}")


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A public key of an accepted kind.

    Attributes:
        kind: OpenSSH's name of the kind.
        blob: The key in SSH's wire format.
        line: ``kind`` and the blob in base64, without a comment: comments name people
            and hosts.

    """

    kind: str
    blob: bytes
    line: str


def parse_public_key(line: str, path: str = "key") -> PublicKey:
    """Parse one line of a ``*.pub`` file; a comment is dropped.

    Args:
        line: The line; options before the kind are not accepted.
        path: The file's name in findings.

    Raises:
        RegistryError: K010.

    """
    try:
        return _parsed(line)
    except ValueError as error:
        what = f'{error}: "{shown(line)}"'
        raise RegistryError(finding(BAD_KEY, path, what)) from None


def fingerprint(blob: bytes) -> str:
    """Return OpenSSH's fingerprint of a key blob, ``SHA256:`` and 43 characters."""
    digest = hashlib.sha256(blob).digest()
    return "SHA256:" + base64.b64encode(digest).decode("ascii").rstrip("=")


def blob_fields(blob: bytes) -> tuple[bytes, ...]:
    """Split SSH's wire format into its length-prefixed fields.

    Raises:
        ValueError: Bytes are missing or left over.

    """
    fields: list[bytes] = []
    rest = blob
    while rest:
        if len(rest) < 4 or len(rest) - 4 < (size := struct.unpack(">I", rest[:4])[0]):
            message = "the key is cut short"
            raise ValueError(message)
        fields.append(rest[4 : 4 + size])
        rest = rest[4 + size :]
    return tuple(fields)


def _parsed(line: str) -> PublicKey:
    if len(line) > limits.KEY_LINE_CHARACTERS:
        message = "the line is too long"
        raise ValueError(message)
    words = line.strip(" \t\r\n").split(" ")
    if "\n" in line.strip("\r\n") or len(words) < 2:
        message = "not one line of kind and key"
        raise ValueError(message)
    kind, text = words[0], words[1]
    if kind not in KINDS:
        message = "the kind of key is not accepted"
        raise ValueError(message)
    if _BASE64.fullmatch(text) is None:
        message = "the key is not base64"
        raise ValueError(message)
    try:
        blob = base64.b64decode(text, validate=True)
    except binascii.Error:
        message = "the key is not base64"
        raise ValueError(message) from None
    canonical = base64.b64encode(blob).decode("ascii")
    if canonical != text:
        message = "the base64 of the key is not canonical"
        raise ValueError(message)
    _check_blob(kind, blob_fields(blob))
    return PublicKey(kind, blob, f"{kind} {canonical}")


def _check_blob(kind: str, fields: tuple[bytes, ...]) -> None:
    if len(fields) != KINDS[kind] or fields[0] != kind.encode("ascii"):
        message = "the key does not hold what its kind says"
        raise ValueError(message)
    if kind.startswith("sk-") and _APPLICATION.fullmatch(fields[-1]) is None:
        message = "the security key's application does not begin with ssh:"
        raise ValueError(message)
    if "ed25519" in kind:
        y = int.from_bytes(fields[1], "little") % 2**255
        good = len(fields[1]) == _ED25519_BYTES and y not in _SMALL_ORDER
    elif "ecdsa" in kind:
        curve = fields[1].decode("ascii", "replace")
        point = fields[2]
        good = (
            f"-{curve}" in kind
            and len(point) == _POINT_BYTES.get(curve)
            and point[0] == 4  # an uncompressed point
        )
    else:
        good = _good_integer(fields[1]) and _good_rsa(fields[2])
    if not good:
        message = "the key is malformed, or too short for its kind"
        raise ValueError(message)


def _good_integer(field: bytes) -> bool:
    """Tell whether a field is a positive integer in its one shortest form."""
    return (
        bool(field)
        and field[0] < 0x80  # the sign bit
        and field != b"\x00"
        and not (len(field) > 1 and field[0] == 0 and field[1] < 0x80)
    )


def _good_rsa(modulus: bytes) -> bool:
    return _good_integer(modulus) and (
        int.from_bytes(modulus, "big").bit_length() in _RSA_BITS
    )
