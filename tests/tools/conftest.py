"""A registry's checkout, a contributor's key and `powerkit submit`."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cryptography.hazmat.primitives import serialization

from registry.documents.spec import HardwareSpec, write_spec
from registry.gate.signing import public_line
from tests.simulators.commands import Done, alone, served
from tests.simulators.machines import Machine, level_tables
from tests.simulators.people import private_key
from tests.tools.submitting import ALICE
from tools.bundles import check
from tools.submission import steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.simulators.github import FakeGitHub

PASSPHRASE = b"correct horse"


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    """A private key without a passphrase, and its *.pub file."""
    return write_key(tmp_path / "id_ed25519", "newcomer")


@pytest.fixture
def hub(
    tmp_path: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[FakeGitHub]:
    """GitHub with the registry, where alice publishes her key; git, but no gh.

    Expectations are left out, which are tested elsewhere, and so is all waiting.
    """
    for module in (check, steps):
        quick = functools.partial(module.verify_change, expectations=False)
        monkeypatch.setattr(module, "verify_change", quick)
    alone(monkeypatch, tmp_path / "programs", "git", "sh")
    users = {ALICE.login: (ALICE.id, [public_line(ALICE.key)])}
    with served(tmp_path / "hub", checkout, users) as fake:
        for name, value in fake.environment().items():
            monkeypatch.setenv(name, value)
        yield fake


@pytest.fixture
def submit(
    powerkit: Callable[..., Done],
    hub: FakeGitHub,
    checkout: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., Done]:
    """Run `powerkit submit` as alice."""

    def run(*options: object, login: str | None = "alice") -> Done:
        monkeypatch.delenv("GH_TOKEN", raising=False)
        if login is not None:
            monkeypatch.setenv("GH_TOKEN", hub.token(login))
        done = powerkit("submit", "server-n", "--registry", checkout, *options)
        tokens = [one.value for one in hub.tokens.values()]
        assert not [one for one in tokens if one in done.out + done.err]
        return done

    return run


def write_key(path: Path, name: str, passphrase: bytes | None = None) -> Path:
    """Write the key of a name as OpenSSH does."""
    key = private_key(name)
    hidden: Any = serialization.NoEncryption()
    if passphrase is not None:
        hidden = serialization.BestAvailableEncryption(passphrase)
    form = serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH
    path.write_bytes(key.private_bytes(*form, hidden))
    path.chmod(0o600)
    public = key.public_key().public_bytes(
        serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    )
    path.with_name(path.name + ".pub").write_bytes(public + b" me@host\n")
    return path


def write_machine(path: Path, machine: Machine | None = None, **changes: Any) -> Path:
    """Write a machine's spec."""
    value = (machine or Machine("blade-7")).spec() | changes
    value = {name: part for name, part in value.items() if part is not None}
    path.write_bytes(write_spec(HardwareSpec.model_validate(value)))
    return path


def write_levels(folder: Path, machine: Machine | None = None) -> Path:
    """Write the tables of a load-levels recording."""
    folder.mkdir()
    for name, data in level_tables(machine or Machine("blade-7", seed=99)).items():
        (folder / name).write_bytes(data)
    return folder
