"""Read and write the text of a detached OpenSSH signature (PROTOCOL.sshsig).

Only the one canonical text of a signature is read, as ssh-keygen writes it, so that
every flipped byte is refused.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from registry.documents import limits
from registry.documents.findings import RegistryError, Severity, code, finding
from registry.gate.ssh_wire import WireError, WireReader, pack_string, pack_uint32

if TYPE_CHECKING:
    from typing import NoReturn

    from registry.documents.findings import Code

__all__ = [
    "Signature",
    "armour",
    "covered_bytes",
    "parse",
    "refuse",
]

_MAGIC = b"SSHSIG"
_VERSION = 1
_BEGIN = "-----BEGIN SSH SIGNATURE-----"
_END = "-----END SSH SIGNATURE-----"
_COLUMNS = 70
_DIGESTS = {"sha256": hashlib.sha256, "sha512": hashlib.sha512}

RESIGN = "Sign the manifest again with `powerkit sign` or `ssh-keygen -Y sign`."

ARMOUR = code(
    "S001",
    Severity.ERROR,
    "The signature file is not the exact text that ssh-keygen writes.",
    RESIGN,
    "S1",
)
MALFORMED = code(
    "S002",
    Severity.ERROR,
    "The signature's fields are malformed.",
    RESIGN,
    "S1",
)
UNACCEPTED = code(
    "S005",
    Severity.ERROR,
    "The signature's key or algorithm is not accepted.",
    "Sign with an Ed25519, FIDO, ECDSA or RSA (2048 bits and more, SHA-2) key.",
    "S1",
)


PGP = code(
    "S020",
    Severity.ERROR,
    "The signature was made with GPG; the registry takes SSH signatures only.",
    "Sign with an SSH key: `ssh-keygen -t ed25519` makes one, GitHub's settings list "
    "it as a signing key, `powerkit enrol` and `powerkit sign` use it.",
    "S1",
)


@dataclass(frozen=True, slots=True)
class Signature:
    """The fields of an SSHSIG blob.

    Attributes:
        key: the signer's public key blob.
        namespace: what the signature is for.
        digest: name of the message digest, sha256 or sha512.
        signature: algorithm name and raw signature in SSH wire form.
    """

    key: bytes
    namespace: str
    digest: str
    signature: bytes

    def blob(self) -> bytes:
        """The signature in wire form."""
        return b"".join(
            (
                _MAGIC,
                pack_uint32(_VERSION),
                pack_string(self.key),
                pack_string(self.namespace.encode("ascii")),
                pack_string(b""),
                pack_string(self.digest.encode("ascii")),
                pack_string(self.signature),
            )
        )


def covered_bytes(namespace: str, digest: str, data: bytes) -> bytes:
    """The bytes that the key itself signs, for a message and its namespace."""
    return b"".join(
        (
            _MAGIC,
            pack_string(namespace.encode("ascii")),
            pack_string(b""),
            pack_string(digest.encode("ascii")),
            pack_string(_DIGESTS[digest](data).digest()),
        )
    )


def armour(signature: Signature) -> str:
    """The one text form of a signature: 70 columns of base64 between two marks."""
    text = base64.b64encode(signature.blob()).decode("ascii")
    lines = (text[at : at + _COLUMNS] for at in range(0, len(text), _COLUMNS))
    return "\n".join((_BEGIN, *lines, _END, ""))


def parse(text: bytes, path: str) -> Signature:
    """Read a signature file.

    Args:
        text: all bytes of the file.
        path: its name, for findings.

    Raises:
        RegistryError: S001 or S002.
    """
    if _is_pgp(text):
        refuse(PGP, path, "it is an OpenPGP signature")
    if len(text) > limits.SIGNATURE_BYTES:
        refuse(ARMOUR, path, f"{len(text)} bytes are too many for a signature")
    blob = _unarmour(text, path)
    reader = WireReader(blob)
    try:
        if reader.take(len(_MAGIC)) != _MAGIC:
            refuse(MALFORMED, path, "it does not begin with SSHSIG")
        version = reader.uint32()
        if version != _VERSION:
            refuse(MALFORMED, path, f"its version is {version}, not {_VERSION}")
        key, namespace, reserved = reader.string(), reader.text(), reader.string()
        digest, raw = reader.text(), reader.string()
        reader.end()
    except WireError as problem:
        refuse(MALFORMED, path, str(problem))
    if reserved:
        refuse(MALFORMED, path, "its reserved field is not empty")
    if digest not in _DIGESTS:
        refuse(UNACCEPTED, path, "its message digest is neither sha256 nor sha512")
    found = Signature(key, namespace, digest, raw)
    if armour(found).encode("ascii") != text:
        refuse(ARMOUR, path, "it is not written in the one canonical way")
    return found


def _is_pgp(text: bytes) -> bool:
    """Whether this is an OpenPGP signature, in armour or as a packet (RFC 9580)."""
    packet = text[:1] in (b"\x88", b"\x89", b"\x8a", b"\xc2")
    return text.startswith(b"-----BEGIN PGP ") or packet


def _unarmour(text: bytes, path: str) -> bytes:
    lines = text.split(b"\n")
    if lines[0] != _BEGIN.encode() or lines[-2:] != [_END.encode(), b""]:
        refuse(ARMOUR, path, "its first or last line is not the mark of a signature")
    try:
        return base64.b64decode(b"".join(lines[1:-2]), validate=True)
    except binascii.Error:
        refuse(ARMOUR, path, "it is not base64 between its marks")


def refuse(what: Code, path: str, why: str) -> NoReturn:
    """Raise one finding about the signature file at `path`."""
    raise RegistryError((finding(what, path, why),))
