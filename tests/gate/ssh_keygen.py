"""OpenSSH's own program, as a second opinion on keys and signatures."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

KINDS = {
    "ed25519": ("-t", "ed25519"),
    "p256": ("-t", "ecdsa", "-b", "256"),
    "p384": ("-t", "ecdsa", "-b", "384"),
    "p521": ("-t", "ecdsa", "-b", "521"),
    "rsa": ("-t", "rsa", "-b", "2048"),
}


def make_key(folder: Path, kind: str, password: str = "") -> tuple[bytes, str]:
    """A new private key file's bytes and its public line without comment."""
    path = folder / f"key-{kind}-{len(password)}"
    command = ["ssh-keygen", "-q", *KINDS[kind], "-N", password, "-C", "", "-f"]
    subprocess.run([*command, str(path)], check=True, capture_output=True)
    public = path.with_suffix(".pub").read_text("ascii").split()
    return path.read_bytes(), " ".join(public[:2])


def sign(folder: Path, key: bytes, data: bytes, namespace: str) -> bytes:
    """The signature file that `ssh-keygen -Y sign` writes."""
    key_path, data_path = folder / "signer", folder / "data"
    key_path.write_bytes(key)
    key_path.chmod(0o600)
    data_path.write_bytes(data)
    signature = folder / "data.sig"
    signature.unlink(missing_ok=True)
    command = ["ssh-keygen", "-q", "-Y", "sign", "-n", namespace, "-f", str(key_path)]
    subprocess.run([*command, str(data_path)], check=True, capture_output=True)
    return signature.read_bytes()


def accepts(
    folder: Path,
    allowed: str,
    signature: bytes,
    data: bytes,
    namespace: str,
    principal: str = "42",
    when: str = "20260601000000Z",
) -> bool:
    """Whether `ssh-keygen -Y verify` accepts a signature."""
    (folder / "allowed").write_text(allowed, "ascii")
    (folder / "sig").write_bytes(signature)
    command = ["ssh-keygen", "-Y", "verify", "-n", namespace, "-I", principal]
    files = ["-f", str(folder / "allowed"), "-s", str(folder / "sig")]
    done = subprocess.run(
        [*command, *files, "-O", f"verify-time={when}"],
        input=data,
        capture_output=True,
        check=False,
    )
    return done.returncode == 0
