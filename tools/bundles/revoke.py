"""Revokes a key in its contributor's trust file; nothing takes that back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.documents.findings import RegistryError, Severity, code, finding, shown
from registry.documents.trust import CODES, Contributor, read_trust, trust_bytes
from registry.documents.validation import validate
from tools.bundles.enrol import instant, trust_path
from tools.bundles.pack import write_file

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["revoke"]

NOT_REVOCABLE = code(
    "L067",
    Severity.ERROR,
    "The trust file has no such key that could be revoked.",
    "Give the id of the account, and the fingerprint that `ssh-keygen -lf KEY.pub`"
    " prints.",
    "S10",
)


def revoke(root: Path, id_: int, fingerprint: str, reason: str, now: float) -> Path:
    """Mark a key as revoked from now on.

    Args:
        root: The registry's checkout.
        id_: The numeric id of the GitHub account.
        fingerprint: The key's, as OpenSSH prints it (``SHA256:…``).
        reason: A word that trust files know.
        now: The present, in seconds since 1970.

    Returns:
        The trust file.

    Raises:
        RegistryError: L067, K codes; then nothing is written.

    """
    path = trust_path(id_)
    file = root / path
    if not file.is_file():
        raise RegistryError(finding(NOT_REVOCABLE, path, "there is no such file"))
    old = read_trust(file.read_bytes(), path)
    known = {key.fingerprint: key for key in old.keys}
    key = known.get(fingerprint)
    if key is None:
        what = f"{shown(fingerprint, 80)} is none of {', '.join(known)}"
        raise RegistryError(finding(NOT_REVOCABLE, path, what))
    if key.revoked is not None:
        what = f"{fingerprint} is revoked since {key.revoked.at}"
        raise RegistryError(finding(NOT_REVOCABLE, path, what))
    value = old.model_dump(mode="json", exclude_none=True)
    for entry in value["keys"]:
        if entry["ssh"] == key.ssh:
            entry["revoked"] = {"at": instant(now), "reason": reason}
    write_file(file, trust_bytes(validate(Contributor, value, path, CODES)))
    return file
