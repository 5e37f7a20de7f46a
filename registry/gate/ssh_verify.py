"""Check one raw SSH signature of any accepted key kind against the bytes it covers.

The kinds are those that GitHub accepts for signing: Ed25519, Ed25519 and P-256 on a
FIDO token, ECDSA on the three NIST curves, and RSA of 2048 bits and more with SHA-2.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from registry.gate.ssh_wire import WireError, WireReader, pack_uint32

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["CURVES", "check_signature"]

CURVES: dict[str, tuple[ec.EllipticCurve, hashes.HashAlgorithm]] = {
    "nistp256": (ec.SECP256R1(), hashes.SHA256()),
    "nistp384": (ec.SECP384R1(), hashes.SHA384()),
    "nistp521": (ec.SECP521R1(), hashes.SHA512()),
}
"""Curve name in a key to the curve and the digest that SSH fixes for it (RFC 5656)."""

_RSA_DIGESTS: dict[str, hashes.HashAlgorithm] = {
    "rsa-sha2-256": hashes.SHA256(),
    "rsa-sha2-512": hashes.SHA512(),
}
_RSA_BITS = range(2048, 16385)
_USER_PRESENT = 0x01
_P256_POINT = 65


def check_signature(key: bytes, signature: bytes, covered: bytes) -> None:
    """Check that `signature` over `covered` was made by the owner of `key`.

    Args:
        key: a public key blob, as in the second field of a public key line.
        signature: algorithm name and raw signature in SSH wire form.
        covered: the bytes that were signed.

    Raises:
        WireError: the key or signature is malformed, too weak or of a kind that is not
            accepted.
        cryptography.exceptions.InvalidSignature: both are well formed, but the key did
            not sign these bytes.
    """
    key_reader = WireReader(key)
    kind = key_reader.text()
    check = _CHECKS.get(kind)
    if check is None:
        message = f"keys of kind {kind} are not accepted"
        raise WireError(message)
    signature_reader = WireReader(signature)
    check(kind, key_reader, signature_reader, covered)


def _expect_algorithm(found: str, *accepted: str) -> None:
    if found not in accepted:
        message = f"algorithm {found} is not accepted with this key"
        raise WireError(message)


def _ed25519_key(content: bytes) -> Ed25519PublicKey:
    try:
        return Ed25519PublicKey.from_public_bytes(content)
    except ValueError as problem:
        message = "the Ed25519 key is not a point"
        raise WireError(message) from problem


def _curve_key(curve: ec.EllipticCurve, point: bytes) -> ec.EllipticCurvePublicKey:
    if point[:1] != b"\x04":
        message = "the ECDSA key is not an uncompressed point"
        raise WireError(message)
    try:
        return ec.EllipticCurvePublicKey.from_encoded_point(curve, point)
    except ValueError as problem:
        message = "the ECDSA key is not on its curve"
        raise WireError(message) from problem


def _ed25519(kind: str, key: WireReader, signature: WireReader, covered: bytes) -> None:
    public = _ed25519_key(key.string())
    key.end()
    _expect_algorithm(signature.text(), kind)
    raw = signature.string()
    signature.end()
    public.verify(raw, covered)


def _ecdsa_raw(content: bytes) -> bytes:
    numbers = WireReader(content)
    r, s = numbers.mpint(), numbers.mpint()
    numbers.end()
    return utils.encode_dss_signature(r, s)


def _ecdsa(kind: str, key: WireReader, signature: WireReader, covered: bytes) -> None:
    curve = key.text()
    if kind != f"ecdsa-sha2-{curve}":
        message = f"a key of kind {kind} says that its curve is {curve}"
        raise WireError(message)
    parameters, digest = CURVES[curve]
    public = _curve_key(parameters, key.string())
    key.end()
    _expect_algorithm(signature.text(), kind)
    raw = _ecdsa_raw(signature.string())
    signature.end()
    public.verify(raw, covered, ec.ECDSA(digest))


def _rsa(kind: str, key: WireReader, signature: WireReader, covered: bytes) -> None:
    del kind
    exponent, modulus = key.mpint(), key.mpint()
    key.end()
    if modulus.bit_length() not in _RSA_BITS:
        message = f"an RSA key of {modulus.bit_length()} bits is not accepted"
        raise WireError(message)
    algorithm = signature.text()
    _expect_algorithm(algorithm, *_RSA_DIGESTS)
    raw = signature.string()
    signature.end()
    try:
        public = rsa.RSAPublicNumbers(exponent, modulus).public_key()
    except ValueError as problem:
        message = "the RSA key is not usable"
        raise WireError(message) from problem
    public.verify(raw, covered, padding.PKCS1v15(), _RSA_DIGESTS[algorithm])


def _token_bytes(
    kind: str, application: str, signature: WireReader, covered: bytes
) -> tuple[bytes, bytes]:
    """The raw signature of a FIDO token and the bytes that the token signed."""
    if not application.startswith("ssh:"):
        message = "the token key is not for SSH"
        raise WireError(message)
    _expect_algorithm(signature.text(), kind)
    raw = signature.string()
    flags, counter = signature.byte(), signature.uint32()
    signature.end()
    # ssh-keygen leaves this to sshd; a key that signs unattended is not what we trust.
    if not flags & _USER_PRESENT:
        message = "the token does not say that its user was present"
        raise WireError(message)
    return raw, (
        hashlib.sha256(application.encode("ascii")).digest()
        + bytes([flags])
        + pack_uint32(counter)
        + hashlib.sha256(covered).digest()
    )


def _token_ed25519(
    kind: str, key: WireReader, signature: WireReader, covered: bytes
) -> None:
    public = _ed25519_key(key.string())
    application = key.text()
    key.end()
    raw, signed = _token_bytes(kind, application, signature, covered)
    public.verify(raw, signed)


def _token_ecdsa(
    kind: str, key: WireReader, signature: WireReader, covered: bytes
) -> None:
    _expect_algorithm(key.text(), "nistp256")
    point = key.string()
    if len(point) != _P256_POINT:
        message = "the token key is not a P-256 point"
        raise WireError(message)
    parameters, digest = CURVES["nistp256"]
    public = _curve_key(parameters, point)
    application = key.text()
    key.end()
    raw, signed = _token_bytes(kind, application, signature, covered)
    public.verify(_ecdsa_raw(raw), signed, ec.ECDSA(digest))


_CHECKS: dict[str, Callable[[str, WireReader, WireReader, bytes], None]] = {
    "ssh-ed25519": _ed25519,
    "sk-ssh-ed25519@openssh.com": _token_ed25519,
    "sk-ecdsa-sha2-nistp256@openssh.com": _token_ecdsa,
    "ecdsa-sha2-nistp256": _ecdsa,
    "ecdsa-sha2-nistp384": _ecdsa,
    "ecdsa-sha2-nistp521": _ecdsa,
    "ssh-rsa": _rsa,
}
