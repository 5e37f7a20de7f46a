"""Who can sign: a private key file, or ssh-keygen on behalf of an agent or a token."""

from __future__ import annotations

import base64
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from registry.documents.findings import RegistryError, Severity, code, finding
from registry.documents.sshkey import blob_fields, fingerprint, parse_public_key
from registry.gate import signing
from registry.gate.sshsig import verify

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FileSigner", "KeygenSigner", "Signer", "open_key", "signed"]

KEYGEN = code(
    "L060",
    Severity.ERROR,
    "ssh-keygen did not sign.",
    "Run `ssh-add -l` to see whether the agent has the key, touch the token when it"
    " blinks, and give the *.pub file of the very key.",
)
OTHER_KEY = code(
    "L061",
    Severity.ERROR,
    "The signature is not by the key that was named.",
    "Give the *.pub file of the key that the agent or token holds.",
)

_BEGIN = b"-----BEGIN OPENSSH PRIVATE KEY-----"
_MAGIC = b"openssh-key-v1\x00"


class Signer(Protocol):
    """Something that holds a private key, or reaches one."""

    @property
    def line(self) -> str:
        """The public key as OpenSSH's one line, without a comment."""
        ...

    def sign(self, data: bytes, namespace: str) -> str:
        """Return an armoured SSHSIG over the data.

        Raises:
            RegistryError: L001, L060.

        """
        ...


@dataclass(frozen=True, slots=True)
class FileSigner:
    """Signs with a private key in memory.

    Attributes:
        key: The key.

    """

    key: signing.PrivateKey

    @property
    def line(self) -> str:
        """The public key."""
        return signing.public_line(self.key)

    def sign(self, data: bytes, namespace: str) -> str:
        """Return an armoured SSHSIG over the data."""
        return signing.sign(self.key, data, namespace)


@dataclass(frozen=True, slots=True)
class KeygenSigner:
    """Has ``ssh-keygen -Y sign`` do it, so that the private key stays where it is.

    Attributes:
        path: The private key's file, or the public one of a key in the agent or on a
            FIDO token.

    """

    path: Path

    @property
    def line(self) -> str:
        """The public key, from the *.pub file."""
        public = self.path
        if public.suffix != ".pub":
            public = public.with_name(public.name + ".pub")
        text = public.read_bytes()[:8192].decode("utf-8", "replace")
        return parse_public_key(text, str(public)).line

    def sign(self, data: bytes, namespace: str) -> str:
        """Return an armoured SSHSIG over the data; the token or agent may ask."""
        command = [
            "ssh-keygen",
            "-q",
            "-Y",
            "sign",
            "-n",
            namespace,
            "-f",
            str(self.path),
        ]
        try:
            done = subprocess.run(
                command, input=data, stdout=subprocess.PIPE, check=False
            )
        except FileNotFoundError:
            what = "there is no program ssh-keygen"
            raise RegistryError(finding(KEYGEN, str(self.path), what)) from None
        if done.returncode != 0 or not done.stdout:
            what = f"it ended with {done.returncode}"
            raise RegistryError(finding(KEYGEN, str(self.path), what))
        return done.stdout.decode("ascii", "replace")


def open_key(
    path: Path, ask: Callable[[str], str], *, with_ssh_keygen: bool = False
) -> Signer:
    """Give the signer for a key.

    Args:
        path: The private key's file; with ssh-keygen also its *.pub file.
        ask: Called with a question for a passphrase, only if the key has one.
        with_ssh_keygen: Leave the signing to ssh-keygen.

    Raises:
        RegistryError: L001.

    """
    if with_ssh_keygen:
        return KeygenSigner(path)
    content = path.read_bytes()
    password = None
    if _encrypted(content):
        password = ask(f"Passphrase of {path}").encode("utf-8")
    return FileSigner(signing.load_private_key(content, password, str(path)))


def signed(signer: Signer, data: bytes, namespace: str, path: str) -> str:
    """Return a signature that the gate's own code has verified.

    Raises:
        RegistryError: L001, L060, L061, S codes.

    """
    text = signer.sign(data, namespace)
    blob = verify(text.encode("ascii", "replace"), data, namespace, path)
    wanted = parse_public_key(signer.line).blob
    if blob != wanted:
        what = f"it is by {fingerprint(blob)}, not {fingerprint(wanted)}"
        raise RegistryError(finding(OTHER_KEY, path, what))
    return text


def _encrypted(content: bytes) -> bool:
    """Tell from its header whether an OpenSSH private key has a passphrase."""
    lines = content.strip().splitlines()
    if len(lines) < 3 or lines[0].strip() != _BEGIN:
        return False  # whatever it is, load_private_key says what is wrong
    try:
        raw = base64.b64decode(b"".join(lines[1:-1]))
        size = int.from_bytes(raw[len(_MAGIC) : len(_MAGIC) + 4], "big")
        cipher = blob_fields(raw[len(_MAGIC) : len(_MAGIC) + 4 + size])
    except ValueError:
        return False
    return raw.startswith(_MAGIC) and cipher != (b"none",)
