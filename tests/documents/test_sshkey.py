"""OpenSSH public keys: accepted kinds, fingerprints, malformed keys."""

from __future__ import annotations

import base64
import contextlib
import struct
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.documents import sshkey
from registry.documents.findings import RegistryError


def field(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


def line_of(key: object) -> str:
    public = key.public_key()  # type: ignore[attr-defined]
    return str(
        public.public_bytes(
            serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
        ).decode()
    )


def made(*fields: bytes) -> str:
    blob = b"".join(map(field, fields))
    return f"{fields[0].decode()} {base64.b64encode(blob).decode()}"


LINES = {
    "ssh-ed25519": line_of(ed25519.Ed25519PrivateKey.from_private_bytes(b"1" * 32)),
    "ecdsa-sha2-nistp256": line_of(ec.derive_private_key(7, ec.SECP256R1())),
    "ecdsa-sha2-nistp384": line_of(ec.derive_private_key(7, ec.SECP384R1())),
    "ecdsa-sha2-nistp521": line_of(ec.derive_private_key(7, ec.SECP521R1())),
    "ssh-rsa": line_of(rsa.generate_private_key(65537, 2048)),
    "sk-ssh-ed25519@openssh.com": made(
        b"sk-ssh-ed25519@openssh.com", b"k" * 32, b"ssh:"
    ),
    "sk-ecdsa-sha2-nistp256@openssh.com": made(
        b"sk-ecdsa-sha2-nistp256@openssh.com",
        b"nistp256",
        b"\x04" + b"p" * 64,
        b"ssh:x",
    ),
}


@pytest.mark.parametrize("kind", sshkey.KINDS)
def test_accepted_kinds(kind: str) -> None:
    line = LINES[kind]
    key = sshkey.parse_public_key(f"{line} me@host.example\n")
    assert (key.kind, key.line) == (kind, line)


@pytest.mark.parametrize("kind", [k for k in LINES if not k.startswith("sk-")])
def test_fingerprints_are_those_of_openssh(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "key.pub"
    file.write_text(LINES[kind] + "\n")
    told = subprocess.run(
        ["ssh-keygen", "-l", "-f", str(file)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    key = sshkey.parse_public_key(LINES[kind])
    assert sshkey.fingerprint(key.blob) in told.split()


ED = LINES["ssh-ed25519"]
BAD = {
    "empty": "",
    "kind only": "ssh-ed25519",
    "two lines": f"{ED}\n{ED}",
    "options": f'command="x" {ED}',
    "dsa": made(b"ssh-dss", b"a", b"b", b"c", b"d"),
    "certificate": made(b"ssh-ed25519-cert-v01@openssh.com", b"x"),
    "no base64": "ssh-ed25519 !!!!",
    "odd base64": ED + "A",
    "cut": "ssh-ed25519 " + base64.b64encode(field(b"ssh-ed25519")[:-1]).decode(),
    "other kind inside": ED.replace("ssh-ed25519", "ssh-rsa", 1),
    "short key": made(b"ssh-ed25519", b"k" * 31),
    "extra field": made(b"ssh-ed25519", b"k" * 32, b""),
    "foreign application": made(b"sk-ssh-ed25519@openssh.com", b"k" * 32, b"web:x"),
    "wrong curve": made(b"ecdsa-sha2-nistp256", b"nistp384", b"\x04" + b"p" * 96),
    "unknown curve": made(b"ecdsa-sha2-nistp256", b"\xff", b"\x04" + b"p" * 64),
    "compressed point": made(b"ecdsa-sha2-nistp256", b"nistp256", b"\x02" + b"p" * 64),
    "small rsa": made(b"ssh-rsa", b"\x03", b"n" * 128),
    "negative rsa": made(b"ssh-rsa", b"\x03", b"\xff" + b"n" * 256),
    "padded rsa": made(b"ssh-rsa", b"\x03", b"\x00\x00" + b"n" * 256),
    "no exponent": made(b"ssh-rsa", b"", b"n" * 256),
    "long": "ssh-rsa " + "A" * 5000,
}


@pytest.mark.parametrize("name", BAD)
def test_malformed_keys_are_refused(name: str) -> None:
    with pytest.raises(RegistryError) as caught:
        sshkey.parse_public_key(BAD[name], "registry/trust/1.yaml")
    (found,) = caught.value.findings
    assert (found.code, found.path) == ("K010", "registry/trust/1.yaml")


def test_slack_in_base64_is_no_second_spelling() -> None:
    kind, text = LINES["ecdsa-sha2-nistp256"].split(" ")
    assert text.endswith("=")
    stem = text.rstrip("=")
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    other = alphabet[alphabet.index(stem[-1]) | 1]
    slack = stem[:-1] + other + "=" * (len(text) - len(stem))
    assert base64.b64decode(slack) == base64.b64decode(text)
    with pytest.raises(RegistryError, match="not canonical"):
        sshkey.parse_public_key(f"{kind} {slack}")


@settings(deadline=None)
@given(
    st.text(max_size=80)
    | st.binary(max_size=60).map(
        lambda blob: "ssh-ed25519 " + base64.b64encode(blob).decode()
    )
)
def test_nothing_else_is_raised(line: str) -> None:
    with contextlib.suppress(RegistryError):
        sshkey.parse_public_key(line)
