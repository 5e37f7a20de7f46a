"""The powerkit command with keys: sign a bundle, enrol a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.documents.names import NAMESPACE_BUNDLE
from registry.documents.trust import read_trust
from registry.gate.sshsig import verify
from tests.simulators.commands import Done
from tests.tools.conftest import PASSPHRASE, write_key

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest


def test_a_passphrase_is_asked_for_only_where_there_is_one(
    powerkit: Callable[..., Done],
    checkout: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def answer(question: str, **_: object) -> str:
        asked.append(question)
        return PASSPHRASE.decode()

    monkeypatch.setattr("typer.prompt", answer)
    folder = checkout / "datasets" / "server-a"
    data = (folder / "manifest.json").read_bytes()
    key = write_key(tmp_path / "locked", "42/person-42", PASSPHRASE)
    assert powerkit("sign", folder, "--key", key).code == 0
    assert len(asked) == 1
    text = (folder / "manifest.json.sig").read_bytes()
    verify(text, data, NAMESPACE_BUNDLE, "sig")

    monkeypatch.setattr("typer.prompt", lambda *_, **__: "wrong")
    wrong = powerkit("sign", folder, "--key", key)
    assert (wrong.code, "L001" in wrong.out) == (1, True)
    assert (folder / "manifest.json.sig").read_bytes() == text


def test_a_public_key_signs_nothing(
    powerkit: Callable[..., Done], checkout: Path, key_file: Path
) -> None:
    folder = checkout / "datasets" / "server-a"
    done = powerkit("sign", folder, "--key", f"{key_file}.pub")
    assert (done.code, "L001" in done.out) == (1, True)
    assert "this is the public half" in done.out


def test_what_was_changed_after_packing_is_not_signed(
    powerkit: Callable[..., Done], checkout: Path, key_file: Path
) -> None:
    folder = checkout / "datasets" / "server-a"
    before = (folder / "manifest.json.sig").read_bytes()
    table = folder / "levels.csv"
    table.write_bytes(table.read_bytes().replace(b"1", b"2", 1))
    done = powerkit("sign", folder, "--key", key_file)
    assert (done.code, "M02" in done.out) == (1, True), done
    assert (folder / "manifest.json.sig").read_bytes() == before


def test_a_second_key_is_endorsed_by_the_first(
    powerkit: Callable[..., Done], checkout: Path, tmp_path: Path, key_file: Path
) -> None:
    who = ("--contributor", 42, "--login", "person-42", "--registry", checkout)
    alone = powerkit("enrol", "--key", key_file, *who)
    assert (alone.code, "L063" in alone.out) == (1, True), alone
    first = write_key(tmp_path / "first", "42/person-42")
    again = powerkit("enrol", "--key", first, *who, "--endorse-with", first)
    assert (again.code, "L062" in again.out) == (1, True), again
    assert "is in it, as a key of" in again.out
    done = powerkit("enrol", "--key", key_file, *who, "--endorse-with", first)
    assert done.code == 0, done


def test_a_key_is_revoked_once_and_signs_no_more(
    powerkit: Callable[..., Done], checkout: Path, tmp_path: Path
) -> None:
    first = write_key(tmp_path / "first", "42/person-42")
    path = checkout / "registry" / "trust" / "42.yaml"
    before = read_trust(path.read_bytes(), "registry/trust/42.yaml")
    name = before.keys[0].fingerprint
    options = ("--reason", "compromised", "--registry", checkout)
    for wrong in (("--contributor", 42, "--fingerprint", "SHA256:none"),
                  ("--contributor", 4242, "--fingerprint", name)):  # fmt: skip
        done = powerkit("revoke", *wrong, *options)
        assert (done.code, "L067" in done.out) == (1, True), done
    known = ("--contributor", 42, "--fingerprint", name)
    for since in ("2999-01-01", "yesterday", "2026-13-01", "2026-03-01T00:00:00"):
        done = powerkit("revoke", *known, *options, "--since", since)
        assert (done.code, "--since" in done.err) == (2, True), done
    done = powerkit("revoke", *known, *options, "--since", "2020-01-01")
    assert (done.code, "K" in done.out) == (1, True), done  # before it was added
    done = powerkit("revoke", *known, *options, "--since", "2026-03-01")
    assert done.code == 0, done
    after = read_trust(path.read_bytes(), "registry/trust/42.yaml")
    assert after.keys[0].revoked is not None
    assert after.keys[0].revoked.reason == "compromised"
    assert after.keys[0].revoked.at == "2026-03-01T00:00:00Z"
    assert after.keys[1:] == before.keys[1:]
    again = powerkit("revoke", *known, *options)
    assert (again.code, "is revoked since" in again.out) == (1, True), again
    folder = checkout / "datasets" / "server-a"
    assert powerkit("sign", folder, "--key", first).code == 0
    checked = powerkit("check", folder)
    assert (checked.code, "S014" in checked.out) == (1, True), checked
