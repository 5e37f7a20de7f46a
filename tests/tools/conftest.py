"""A registry's checkout, a contributor's key and the command, as contributors have."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cryptography.hazmat.primitives import serialization

from registry.documents.spec import HardwareSpec, write_spec
from tests.simulators.commands import Done, run_command
from tests.simulators.machines import Machine, level_tables
from tests.simulators.people import private_key

if TYPE_CHECKING:
    from collections.abc import Callable

PASSPHRASE = b"correct horse"


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    """A private key without a passphrase, and its *.pub file."""
    return write_key(tmp_path / "id_ed25519", "newcomer")


@pytest.fixture
def powerkit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Done]:
    """Run the command in this process."""
    return functools.partial(
        run_command, "powerkit", monkeypatch=monkeypatch, capsys=capsys
    )


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
