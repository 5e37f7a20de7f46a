"""Sign and verify detached OpenSSH signatures (SSHSIG), strictly.

    text = sign(private_key, manifest, NAMESPACE_BUNDLE)
    blob = verify(text.encode(), manifest, NAMESPACE_BUNDLE, "manifest.json.sig")

`ssh-keygen -Y sign` writes what `verify` accepts, and `ssh-keygen -Y verify` accepts
what `sign` writes.
"""

from __future__ import annotations

from cryptography.exceptions import InvalidSignature

from registry.documents.findings import Severity, code
from registry.gate.signing import sign
from registry.gate.ssh_verify import check_signature
from registry.gate.ssh_wire import WireError
from registry.gate.sshsig_parse import (
    UNACCEPTED,
    covered_bytes,
    parse,
    refuse,
)

__all__ = ["sign", "verify"]

NAMESPACE = code(
    "S003",
    Severity.ERROR,
    "The signature was made for another purpose.",
    "Sign with the namespace that the message names (`ssh-keygen -Y sign -n`).",
    "S2",
)
MISMATCH = code(
    "S004",
    Severity.ERROR,
    "The signature does not match the signed bytes.",
    "The file was changed after it was signed, or another file was signed: restore it, "
    "or sign again.",
    "S1",
    "S12",
)


def verify(text: bytes, data: bytes, namespace: str, path: str) -> bytes:
    """Check a signature file over `data` and say which key made it.

    The caller must still ask whose key that is: a signature by a stranger verifies too.

    Args:
        text: all bytes of the signature file.
        data: the signed bytes.
        namespace: what the signature must be for.
        path: the signature file's name, for findings.

    Returns:
        The signer's public key blob.

    Raises:
        RegistryError: S001 to S005.
    """
    found = parse(text, path)
    if found.namespace != namespace:
        refuse(NAMESPACE, path, f"it is for {found.namespace!r}, not {namespace!r}")
    covered = covered_bytes(namespace, found.digest, data)
    try:
        check_signature(found.key, found.signature, covered)
    except WireError as problem:
        refuse(UNACCEPTED, path, str(problem))
    except InvalidSignature:
        refuse(MISMATCH, path, "the key in the signature did not sign these bytes")
    return found.key
