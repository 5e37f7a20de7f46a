"""Changes of trust files: a new contributor, a new key, a key that is trusted no more.

Each gives the one file that the change writes. What it may say is checked by
`enrolment`; the gate checks the very same again when the change is proposed.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Final

from registry.documents.findings import RegistryError, Severity, code, finding, shown
from registry.documents.instants import instant
from registry.documents.trust import (
    CODES,
    Contributor,
    read_trust,
    trust_bytes,
    trust_path,
)
from registry.documents.validation import validate

if TYPE_CHECKING:
    from registry.gate.tree import Tree

__all__ = [
    "added",
    "moment",
    "revoked",
    "rotated",
    "same_revocation",
]

NOT_REVOCABLE = code(
    "L067",
    Severity.ERROR,
    "The trust file has no such key that could be revoked.",
    "Give the id of the account, and the fingerprint that `ssh-keygen -lf KEY.pub`"
    " prints.",
    "S10",
)
ENROLLED = code(
    "T045",
    Severity.ERROR,
    "The contributor is enrolled already.",
    "A further key comes with `registry trust rotate`.",
    "S9",
)
NOT_ENROLLED = code(
    "T046",
    Severity.ERROR,
    "The contributor is not enrolled yet.",
    "A first key comes with `registry trust add`, or with the first bundle.",
    "S9",
)
SAME = code(
    "T049",
    Severity.ERROR,
    "The trust file says nothing that the merged one does not say.",
    "Give the file that `powerkit enrol --endorse-with OLD-KEY` wrote.",
    "S9",
)

_FORMAT: Final = "%Y-%m-%dT%H:%M:%SZ"


def moment(text: str, now: float) -> float:
    """Read a time of the past: an instant as trust files write it, or a day (UTC).

    Returns:
        Seconds since 1970.

    Raises:
        ValueError: it is neither, or not yet.
    """
    form = _FORMAT if "T" in text else "%Y-%m-%d"
    try:
        then = dt.datetime.strptime(text, form).replace(tzinfo=dt.UTC).timestamp()
    except ValueError:
        what = "give YYYY-MM-DD or YYYY-MM-DDTHH:MM:SSZ"
        raise ValueError(what) from None
    if then > now:
        raise ValueError("it is in the future")
    return then


def added(merged: Tree, data: bytes, name: str) -> tuple[Contributor, dict[str, bytes]]:
    """The change that enrols a contributor.

    Args:
        merged: the registry.
        data: the trust file that the contributor made.
        name: what that file is called, for findings.

    Returns:
        The contributor, and the change's file.

    Raises:
        RegistryError: T045, Y and K codes.
    """
    new = read_trust(data, name)
    path = trust_path(new.id)
    if merged.entries(path):
        raise RegistryError(finding(ENROLLED, path, f"{new.id} has a trust file"))
    return new, {path: data}


def rotated(
    merged: Tree, data: bytes, name: str
) -> tuple[Contributor, Contributor, dict[str, bytes]]:
    """The change that replaces a merged trust file by one with a further key.

    Args:
        merged: the registry.
        data: the trust file as its contributor changed it.
        name: what that file is called, for findings.

    Returns:
        The contributor as merged and as proposed, and the change's file.

    Raises:
        RegistryError: T046, T049, Y and K codes.
    """
    new = read_trust(data, name)
    path = trust_path(new.id)
    old = _merged(merged, new.id)
    if old == new:
        raise RegistryError(finding(SAME, path, "it is the file that is merged"))
    return old, new, {path: data}


def revoked(
    merged: Tree, id_: int, fingerprint: str, reason: str, at: float
) -> dict[str, bytes]:
    """The change that revokes a key from a time on; nothing takes it back.

    Args:
        merged: the registry.
        id_: the numeric id of the key's owner.
        fingerprint: the key's, as OpenSSH prints it (``SHA256:…``).
        reason: a word that trust files know.
        at: since when, in seconds since 1970; bundles that came later go out of use.

    Raises:
        RegistryError: L067, Y and K codes.
    """
    path = trust_path(id_)
    if not merged.entries(path):
        raise RegistryError(finding(NOT_REVOCABLE, path, "there is no such file"))
    old = read_trust(merged.read(path), path)
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
            entry["revoked"] = {"at": instant(at), "reason": reason}
    return {path: trust_bytes(validate(Contributor, value, path, CODES))}


def same_revocation(wanted: bytes | None, other: bytes | None, path: str) -> bool:
    """Whether two trust files revoke the same keys for the same reasons, at any time.

    Args:
        wanted: one of them.
        other: the other, if there is one.
        path: of both.
    """
    try:
        both = [read_trust(data or b"", path) for data in (wanted, other)]
    except RegistryError:
        return False
    first, second = (_timeless(one) for one in both)
    return first == second


def _timeless(contributor: Contributor) -> dict[str, object]:
    value = contributor.model_dump(mode="json", exclude_none=True)
    for entry in value["keys"]:
        entry.get("revoked", {}).pop("at", None)
    return value


def _merged(merged: Tree, id_: int) -> Contributor:
    path = trust_path(id_)
    if not merged.entries(path):
        raise RegistryError(finding(NOT_ENROLLED, path, "there is no such file"))
    return read_trust(merged.read(path), path)
