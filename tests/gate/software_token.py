"""A FIDO token in software: it signs as a hardware key would, rightly or wrongly."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.gate.ssh_wire import pack_mpint, pack_string, pack_uint32
from registry.gate.sshsig_parse import Signature, armour, covered_bytes

ED25519 = "sk-ssh-ed25519@openssh.com"
P256 = "sk-ecdsa-sha2-nistp256@openssh.com"


@dataclass(frozen=True)
class SoftwareToken:
    """A token with one key.

    Attributes:
        kind: the key's kind.
        application: what the key is for; `ssh:` for OpenSSH.
        flags: bit 0 says that the user touched the token.
        counter: signatures made so far.
    """

    kind: str = ED25519
    application: str = "ssh:"
    flags: int = 1
    counter: int = 7
    secret: Ed25519PrivateKey | ec.EllipticCurvePrivateKey = field(
        default_factory=Ed25519PrivateKey.generate
    )

    @property
    def blob(self) -> bytes:
        """The public key."""
        parts = [self.kind.encode()]
        public = self.secret.public_key()
        if isinstance(public, ec.EllipticCurvePublicKey):
            point = serialization.PublicFormat.UncompressedPoint
            parts.append(b"nistp256")
            parts.append(public.public_bytes(serialization.Encoding.X962, point))
        else:
            parts.append(public.public_bytes_raw())
        parts.append(self.application.encode())
        return b"".join(map(pack_string, parts))

    @property
    def line(self) -> str:
        """The public key as OpenSSH's one-line text."""
        return f"{self.kind} {base64.b64encode(self.blob).decode()}"

    def sign(self, data: bytes, namespace: str) -> bytes:
        """A signature file, as `ssh-keygen -Y sign` makes it with such a token."""
        covered = covered_bytes(namespace, "sha512", data)
        state = bytes([self.flags]) + pack_uint32(self.counter)
        signed = (
            hashlib.sha256(self.application.encode()).digest()
            + state
            + hashlib.sha256(covered).digest()
        )
        raw = pack_string(self.kind.encode()) + pack_string(self._raw(signed)) + state
        return armour(Signature(self.blob, namespace, "sha512", raw)).encode()

    def _raw(self, signed: bytes) -> bytes:
        if isinstance(self.secret, Ed25519PrivateKey):
            return self.secret.sign(signed)
        der = self.secret.sign(signed, ec.ECDSA(hashes.SHA256()))
        return b"".join(map(pack_mpint, utils.decode_dss_signature(der)))
