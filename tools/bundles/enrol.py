"""Enrols a key: writes the contributor's trust file with the key's own proof."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.documents.findings import RegistryError, Severity, code, finding
from registry.documents.instants import instant
from registry.documents.names import NAMESPACE_ENROL
from registry.documents.sshkey import fingerprint, parse_public_key
from registry.documents.trust import (
    CODES,
    Contributor,
    TrustedKey,
    enrolment_statement,
    read_trust,
    trust_bytes,
    trust_path,
)
from registry.documents.validation import validate
from tools.bundles.pack import write_file
from tools.bundles.signers import signed

if TYPE_CHECKING:
    from pathlib import Path

    from tools.bundles.signers import Signer

__all__ = ["enrol", "trusted_key"]

ENROLLED = code(
    "L062",
    Severity.ERROR,
    "The key is in the trust file already.",
    "Sign with it; there is nothing to enrol. If the file is not merged yet and wrong, "
    "delete it and enrol again.",
    "S9",
)
UNENDORSED = code(
    "L063",
    Severity.ERROR,
    "A further key needs a key that the contributor had before.",
    "Give that key with `--endorse-with`.",
    "S9",
)


def trusted_key(
    id_: int, signer: Signer, added: str, endorser: Signer | None = None
) -> TrustedKey:
    """Return the entry of a new key, proven by itself and endorsed by an older one.

    Raises:
        RegistryError: The key or the older one did not sign.

    """
    path = trust_path(id_)
    name = fingerprint(parse_public_key(signer.line).blob)
    statement = enrolment_statement(id_, name, added)
    fields = {
        "ssh": signer.line,
        "added": added,
        "proof": signed(signer, statement, NAMESPACE_ENROL, path),
    }
    if endorser is not None:
        fields["endorsement"] = signed(endorser, statement, NAMESPACE_ENROL, path)
    return validate(TrustedKey, fields, path, CODES)


def enrol(
    root: Path,
    id_: int,
    login: str,
    signer: Signer,
    now: float,
    endorser: Signer | None = None,
) -> Path:
    """Write a trust file, or add a key to the one that is there.

    Args:
        root: The registry's checkout.
        id_: The numeric id of the GitHub account.
        login: Its name, shown only; an existing file keeps the one it has.
        signer: The new key.
        now: The present, in seconds since 1970.
        endorser: A key that is in the file already; needed for every key but the first.

    Returns:
        The file.

    Raises:
        RegistryError: L062, L063, K codes; then nothing is written.

    """
    shown = trust_path(id_)
    path = root / shown
    keys: tuple[TrustedKey, ...] = ()
    if path.exists():
        old = read_trust(path.read_bytes(), shown)
        login, keys = old.login, old.keys
        _check_addition(old, signer, endorser, shown)
    new = trusted_key(id_, signer, instant(now), endorser if keys else None)
    value = {"id": id_, "login": login, "keys": (*keys, new)}
    contributor = validate(Contributor, value, shown, CODES)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, trust_bytes(contributor))
    return path


def _check_addition(
    old: Contributor, signer: Signer, endorser: Signer | None, path: str
) -> None:
    blob = parse_public_key(signer.line).blob
    if old.key(blob) is not None:
        what = f"{fingerprint(blob)} is in it, as a key of {old.login}"
        raise RegistryError(finding(ENROLLED, path, what))
    if endorser is None:
        what = f"{len(old.keys)} keys are enrolled, and none endorses the new one"
        raise RegistryError(finding(UNENDORSED, path, what))
    other = parse_public_key(endorser.line).blob
    if old.key(other) is None:
        what = f"{fingerprint(other)} is not enrolled, so it cannot endorse"
        raise RegistryError(finding(UNENDORSED, path, what))
