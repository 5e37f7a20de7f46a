"""Signing and enrolling with key files, passphrases, agents and ssh-keygen."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from registry.documents.findings import RegistryError
from registry.documents.instants import instant
from registry.documents.names import NAMESPACE_BUNDLE
from registry.documents.sshkey import fingerprint, parse_public_key
from registry.documents.trust import read_trust
from registry.gate.allowed_signers import allowed_signers
from registry.gate.directory_tree import directory_tree
from registry.gate.enrolment import check_proofs
from registry.gate.identity import read_keyring
from tests.gate.ssh_keygen import accepts, make_key
from tests.tools.drafts import draft
from tools.bundles.draft import files
from tools.bundles.enrol import enrol
from tools.bundles.founding import found
from tools.bundles.pack import place
from tools.bundles.sign import sign_bundle
from tools.bundles.signers import KeygenSigner, Signer, open_key, signed

NOW = 1_780_000_000
STAMP = "20260529000000Z"


def no_passphrase(_: str) -> str:
    pytest.fail("a passphrase was asked for")


def new_key(folder: Path, kind: str = "ed25519", password: str = "") -> Path:
    content, public = make_key(folder, kind, password)
    path = folder / f"{kind}-{len(password)}"
    path.write_bytes(content)
    path.chmod(0o600)
    path.with_name(path.name + ".pub").write_text(public + " ann@laptop\n")
    return path


def codes(caught: pytest.ExceptionInfo[RegistryError]) -> list[str]:
    return [one.code for one in caught.value.findings]


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A packed bundle in a registry of its own."""
    return place(files(draft()), tmp_path / "registry")


@pytest.mark.parametrize("with_ssh_keygen", [False, True])
@pytest.mark.parametrize("kind", ["ed25519", "p256", "rsa"])
def test_openssh_accepts_what_is_signed(
    bundle: Path, tmp_path: Path, kind: str, with_ssh_keygen: bool
) -> None:
    path = new_key(tmp_path, kind)
    signer = open_key(path, no_passphrase, with_ssh_keygen=with_ssh_keygen)
    root = bundle.parent.parent
    enrol(root, 42, "ann", signer, NOW)
    name = sign_bundle(bundle, signer)
    public = path.with_name(path.name + ".pub").read_text()
    assert name == fingerprint(parse_public_key(public).blob)
    data = (bundle / "manifest.json").read_bytes()
    signature = (bundle / "manifest.json.sig").read_bytes()
    allowed = allowed_signers(directory_tree(root))
    assert accepts(
        tmp_path, allowed, signature, data, NAMESPACE_BUNDLE, "42", when=STAMP
    )
    assert sorted(entry.name for entry in bundle.iterdir()) == [
        "levels.csv",
        "manifest.json",
        "manifest.json.sig",
        "runs.csv",
    ]


def test_a_passphrase_is_asked_for_only_where_there_is_one(
    bundle: Path, tmp_path: Path
) -> None:
    path = new_key(tmp_path, password="sesame")
    asked: list[str] = []

    def ask(question: str) -> str:
        asked.append(question)
        return "sesame"

    sign_bundle(bundle, open_key(path, ask))
    assert asked == [f"Passphrase of {path}"]
    with pytest.raises(RegistryError) as caught:
        open_key(path, lambda _: "open barley")
    assert codes(caught) == ["L001"]
    assert "sesame" not in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"ssh-ed25519 AAAA\n",
        b"-----BEGIN OPENSSH PRIVATE KEY-----\n\n-----END OPENSSH PRIVATE KEY-----\n",
        b"-----BEGIN OPENSSH PRIVATE KEY-----\n!!\n-----END OPENSSH PRIVATE KEY-----\n",
    ],
)
def test_what_is_no_private_key_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "key"
    path.write_bytes(content)
    with pytest.raises(RegistryError) as caught:
        open_key(path, no_passphrase)
    assert codes(caught) == ["L001"]


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The public key of a key that only an agent holds."""
    path = new_key(tmp_path)
    socket = tmp_path / "agent.sock"
    with subprocess.Popen(
        ["ssh-agent", "-D", "-a", str(socket)], stdout=subprocess.DEVNULL
    ) as running:
        monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
        add = ["ssh-add", "-q", str(path)]
        while subprocess.run(add, capture_output=True, check=False).returncode == 2:
            assert running.poll() is None
        path.unlink()
        yield path.with_name(path.name + ".pub")
        running.terminate()


def test_an_agent_signs_with_a_key_that_never_leaves_it(
    bundle: Path, agent: Path
) -> None:
    assert os.environ["SSH_AUTH_SOCK"]
    signer = open_key(agent, no_passphrase, with_ssh_keygen=True)
    name = sign_bundle(bundle, signer)
    assert name == fingerprint(parse_public_key(agent.read_text()).blob)


def test_a_key_that_ssh_keygen_cannot_reach_is_a_finding(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    path = new_key(tmp_path)
    path.unlink()
    signer = KeygenSigner(path.with_name(path.name + ".pub"))
    with pytest.raises(RegistryError) as caught:
        sign_bundle(bundle, signer)
    assert codes(caught) == ["L060"]
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(RegistryError) as caught:
        sign_bundle(bundle, signer)
    assert codes(caught) == ["L060"]
    assert not (bundle / "manifest.json.sig").exists()


@dataclass(frozen=True)
class Mislabelled:
    """A signer whose public key is said to be another one."""

    real: Signer
    line: str

    def sign(self, data: bytes, namespace: str) -> str:
        return self.real.sign(data, namespace)


def test_a_signature_by_another_key_than_named_is_refused(tmp_path: Path) -> None:
    real = open_key(new_key(tmp_path), no_passphrase)
    other = open_key(new_key(tmp_path, "p256"), no_passphrase)
    with pytest.raises(RegistryError) as caught:
        signed(Mislabelled(real, other.line), b"data", NAMESPACE_BUNDLE, "file.sig")
    assert codes(caught) == ["L061"]


def test_files_that_are_not_in_the_manifest_are_not_signed(
    bundle: Path, tmp_path: Path
) -> None:
    signer = open_key(new_key(tmp_path), no_passphrase)
    runs = bundle / "runs.csv"
    runs.write_bytes(runs.read_bytes().replace(b"ssj2008", b"int"))
    (bundle / "notes.csv").write_bytes(b"a\n1\n")
    with pytest.raises(RegistryError) as caught:
        sign_bundle(bundle, signer)
    assert set(codes(caught)) == {"M021", "M023"}
    assert not (bundle / "manifest.json.sig").exists()


def test_enrolment_is_proven_and_rotation_endorsed(tmp_path: Path) -> None:
    old = open_key(new_key(tmp_path), no_passphrase)
    new = open_key(new_key(tmp_path, "p384"), no_passphrase)
    path = enrol(tmp_path, 42, "ann", old, NOW)
    enrol(tmp_path, 42, "renamed", new, NOW + 60, old)
    contributor = read_trust(path.read_bytes(), "registry/trust/42.yaml")
    assert contributor.login == "ann"
    assert [key.added for key in contributor.keys] == [instant(NOW), instant(NOW + 60)]
    assert instant(NOW) == "2026-05-28T20:26:40Z"
    assert contributor.keys[1].endorsement is not None
    keyring, problems = read_keyring(directory_tree(tmp_path))
    assert problems == ()
    assert check_proofs(keyring) == []


def test_a_further_key_needs_an_old_one(tmp_path: Path) -> None:
    old = open_key(new_key(tmp_path), no_passphrase)
    new = open_key(new_key(tmp_path, "p384"), no_passphrase)
    path = enrol(tmp_path, 42, "ann", old, NOW)
    before = path.read_bytes()
    for signer, endorser, code in (
        (new, None, "L063"),
        (new, new, "L063"),
        (old, old, "L062"),
    ):
        with pytest.raises(RegistryError) as caught:
            enrol(tmp_path, 42, "ann", signer, NOW, endorser)
        assert codes(caught) == [code]
    assert path.read_bytes() == before


def test_a_login_that_github_cannot_have_is_refused(tmp_path: Path) -> None:
    signer = open_key(new_key(tmp_path), no_passphrase)
    with pytest.raises(RegistryError) as caught:
        enrol(tmp_path, 42, "-ann", signer, NOW)
    assert codes(caught) == ["K003"]
    assert not (tmp_path / "registry").exists()


def test_a_registry_is_founded_once(tmp_path: Path) -> None:
    drafts = [draft("server-a", 0), draft("server-b", 0)]
    seen: list[str] = []
    name = found(drafts, tmp_path, NOW, seen.append)
    assert seen == ["server-a", "server-b"]
    keyring, problems = read_keyring(directory_tree(tmp_path))
    assert problems == ()
    assert check_proofs(keyring) == []
    (key,) = keyring.contributors[0].keys
    assert key.fingerprint == name
    assert (tmp_path / "datasets" / "server-b" / "manifest.json.sig").is_file()
    with pytest.raises(RegistryError) as caught:
        found([draft("server-c", 0)], tmp_path, NOW)
    assert codes(caught) == ["L064"]
    assert not (tmp_path / "datasets" / "server-c").exists()
