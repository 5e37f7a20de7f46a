"""Lists of published keys: from GitHub as they come, from a file line by line."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from registry.documents.findings import RegistryError
from registry.documents.names import NAMESPACE_BUNDLE
from registry.gate import sshsig
from registry.gate.enrolment import published_blobs, read_published_keys
from registry.gate.signing import public_line
from tests.simulators.people import private_key

if TYPE_CHECKING:
    from pathlib import Path

KEY, OTHER = (public_line(private_key(name)) for name in ("one", "two"))
DSS = "ssh-dss AAAAB3NzaC1kc3MAAAAA"
CERTIFICATE = "ssh-ed25519-cert-v01@openssh.com AAAAIHNzaC1lZDI1NTE5"


def test_a_file_of_keys_is_read_line_by_line() -> None:
    text = f"# of octo-me\n\n{KEY} laptop\r\n  \n{OTHER}\n"
    assert read_published_keys(text.encode(), "keys") == (KEY, OTHER)
    assert read_published_keys(b"", "keys") == ()


@pytest.mark.parametrize(
    "line",
    ["octo-me", DSS, CERTIFICATE, KEY[:-4], "{", '"' + KEY + '"', "<html>", "\x00"],
)
def test_a_line_that_is_no_key_is_not_passed_over(line: str) -> None:
    text = f"{KEY}\n{line}\n\n{line}\n".encode()
    with pytest.raises(RegistryError) as caught:
        read_published_keys(text, "keys")
    where = [(one.code, one.path, one.line) for one in caught.value.findings]
    assert where == [("K040", "keys", 2), ("K040", "keys", 4)]


def test_a_binary_file_is_refused_without_a_trace() -> None:
    with pytest.raises(RegistryError, match="K040"):
        read_published_keys(b"\xff\xfe\x00binary", "keys")
    with pytest.raises(RegistryError) as caught:
        read_published_keys(b"x\n" * 100_000, "keys")
    assert len(caught.value.findings) == 100


def test_what_github_lists_of_other_kinds_is_passed_over() -> None:
    blobs = published_blobs((DSS, KEY, CERTIFICATE, "ssh-rsa AAAA"))
    assert blobs is not None
    assert len(blobs) == 1


@pytest.mark.parametrize(
    "text",
    [
        b"-----BEGIN PGP SIGNATURE-----\n\niHUEABYKAB0=\n-----END PGP SIGNATURE-----\n",
        b"-----BEGIN PGP MESSAGE-----\n",
        b"-----BEGIN PGP SIGNATURE-----" + b"x" * 20_000,
        b"\x88\x75\x04\x00\x16",
        b"\x89\x01\x33\x04\x00",
        b"\xc2\x75\x04\x00",
    ],
)
def test_s1_a_gpg_signature_is_called_one(text: bytes) -> None:
    with pytest.raises(RegistryError) as caught:
        sshsig.verify(text, b"data", NAMESPACE_BUNDLE, "manifest.json.sig")
    (one,) = caught.value.findings
    assert one.code == "S020"
    assert "powerkit sign" in one.fix


def test_the_real_gpg_makes_such_a_signature(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    common = ["gpg", "--homedir", str(home), "--batch", "--passphrase", ""]
    try:
        made = [*common, "--quick-generate-key", "a@example.org", "ed25519"]
        subprocess.run(made, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("there is no gpg that makes keys here")
    (tmp_path / "data").write_bytes(b"data")
    for armour in (("--armor",), ()):
        command = [*common, *armour, "-o", "-", "--detach-sign", "data"]
        done = subprocess.run(
            command, check=True, capture_output=True, cwd=tmp_path
        ).stdout
        with pytest.raises(RegistryError, match="S020"):
            sshsig.verify(done, b"data", NAMESPACE_BUNDLE, "manifest.json.sig")
