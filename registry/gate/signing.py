"""Make SSHSIG signatures with a private key file, as `ssh-keygen -Y sign` would.

Keys on a FIDO token or in an agent never leave it: their owners run
`ssh-keygen -Y sign` themselves, and its result verifies here.
"""

from __future__ import annotations

import base64

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.documents.findings import RegistryError, Severity, code, finding
from registry.gate.ssh_verify import CURVES
from registry.gate.ssh_wire import WireReader, pack_mpint, pack_string
from registry.gate.sshsig_parse import Signature, armour, covered_bytes

__all__ = ["PrivateKey", "load_private_key", "public_blob", "public_line", "sign"]

PrivateKey = Ed25519PrivateKey | ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey
"""A private key that can sign bundles."""

_DIGEST = "sha512"
_RSA_BITS = 2048

PRIVATE_KEY = code(
    "L001",
    Severity.ERROR,
    "The private key cannot be used to sign.",
    "Give the file of an Ed25519, ECDSA or RSA key in OpenSSH's format (the one "
    "without `.pub`) and its passphrase. For a key in an agent or on a token give the "
    "*.pub file and `--with-ssh-keygen`.",
)


def load_private_key(
    content: bytes, password: bytes | None = None, path: str = "private key"
) -> PrivateKey:
    """Read a private key in OpenSSH's format.

    Args:
        content: all bytes of the key file.
        password: its passphrase, or None if it has none.
        path: its name, for findings.

    Raises:
        RegistryError: L001.
    """
    try:
        key = serialization.load_ssh_private_key(content, password)
    except (ValueError, TypeError, UnsupportedAlgorithm) as problem:
        why = str(problem).splitlines()[0] if str(problem) else "unreadable"
        if content.startswith((b"ssh-", b"ecdsa-", b"sk-")):
            why = "this is the public half of a key; the private half signs"
        raise RegistryError((finding(PRIVATE_KEY, path, why),)) from problem
    if not isinstance(key, PrivateKey):
        why = "keys of this kind are not accepted"
        raise RegistryError((finding(PRIVATE_KEY, path, why),))
    if isinstance(key, rsa.RSAPrivateKey) and key.key_size < _RSA_BITS:
        why = f"an RSA key of {key.key_size} bits is too short"
        raise RegistryError((finding(PRIVATE_KEY, path, why),))
    return key


def public_line(key: PrivateKey) -> str:
    """The public key as OpenSSH's one-line text, without a comment."""
    form = serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    return key.public_key().public_bytes(*form).decode("ascii")


def public_blob(key: PrivateKey) -> bytes:
    """The public key in wire form."""
    return base64.b64decode(public_line(key).split()[1])


def sign(
    key: PrivateKey | bytes,
    data: bytes,
    namespace: str,
    password: bytes | None = None,
) -> str:
    """Sign `data` and give the text of the signature file.

    Args:
        key: a private key, or all bytes of an OpenSSH private key file.
        data: the bytes to sign.
        namespace: what the signature is for.
        password: passphrase of the key file, or None if it has none.

    Raises:
        RegistryError: L001, the key cannot be used.
    """
    if isinstance(key, bytes):
        key = load_private_key(key, password)
    blob = public_blob(key)
    raw = _raw_signature(key, blob, covered_bytes(namespace, _DIGEST, data))
    return armour(Signature(blob, namespace, _DIGEST, raw))


def _raw_signature(key: PrivateKey, blob: bytes, covered: bytes) -> bytes:
    kind = WireReader(blob).string()
    if isinstance(key, Ed25519PrivateKey):
        return pack_string(kind) + pack_string(key.sign(covered))
    if isinstance(key, rsa.RSAPrivateKey):
        raw = key.sign(covered, padding.PKCS1v15(), hashes.SHA512())
        return pack_string(b"rsa-sha2-512") + pack_string(raw)
    _, digest = CURVES[kind.decode("ascii").rpartition("-")[2]]
    r, s = utils.decode_dss_signature(key.sign(covered, ec.ECDSA(digest)))
    return pack_string(kind) + pack_string(pack_mpint(r) + pack_mpint(s))
