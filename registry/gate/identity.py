"""Whose key made a signature, and whether it was trusted at the time that counts.

Trust comes from the branch that is already merged. A date that a contributor claims is
never used: the time is now for a change, and the time of arrival for a merged bundle
(threat-model.md S3 to S10).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from registry.documents.findings import RegistryError, Severity, code, finding
from registry.documents.sshkey import fingerprint
from registry.documents.trust import epoch, read_trust
from registry.gate.paths import MAINTAINERS, PAGES, check_entry
from registry.gate.tree import TRUST

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from registry.documents.findings import Finding
    from registry.documents.manifest import Manifest
    from registry.documents.trust import Contributor, TrustedKey
    from registry.gate.tree import Tree

__all__ = ["Keyring", "check_signer", "check_succession", "read_keyring", "valid_span"]

UNKNOWN = code(
    "S010",
    Severity.ERROR,
    "The contributor has no readable trust file on the main branch.",
    "Enrol first: `powerkit enrol` writes registry/trust/<id>.yaml. If this change "
    "brings that file, mend what is said of it.",
    "S5",
    "S7",
    "S8",
)
FOREIGN = code(
    "S011",
    Severity.ERROR,
    "The key that signed is not one of the contributor's trusted keys.",
    "Sign with an enrolled key, or enrol this key in a change of its own first.",
    "S5",
    "S6",
    "S7",
)
EARLY = code(
    "S012",
    Severity.ERROR,
    "The key was not yet trusted when the bundle arrived.",
    "Wait until the key's `added` time, or sign with another enrolled key.",
    "S10",
)
EXPIRED = code(
    "S013",
    Severity.ERROR,
    "The key had expired when the bundle arrived.",
    "Enrol a new key, endorsed by the old one, and sign again.",
    "S10",
)
REVOKED = code(
    "S014",
    Severity.ERROR,
    "The key was revoked before the bundle arrived.",
    "Sign again with another key. A merged bundle is out of use by itself.",
    "S10",
)
AUTHOR = code(
    "S015",
    Severity.ERROR,
    "The bundle belongs to another account than the author of the change.",
    "Only the account with the manifest's contributor id may propose its bundles.",
    "S5",
    "S8",
    "S13",
)
SUCCESSION = code(
    "S016",
    Severity.ERROR,
    "The version does not follow the one that is merged.",
    "Set version to the merged one plus 1 and previous to the SHA-256 of the merged "
    "manifest (`powerkit pack --new-version` does), then sign again. If your copy of "
    "the main branch is behind, fetch it first.",
    "S4",
    "W10",
)
OWNER = code(
    "S017",
    Severity.ERROR,
    "A dataset may only be continued by the contributor who began it.",
    "Choose another dataset id for your own data.",
    "S5",
    "S6",
)


@dataclass(frozen=True, slots=True)
class Keyring:
    """Contributors, and who owns which key.

    Attributes:
        contributors: by id.
        owners: key blob to the id that owns it; the first in the order of ids.
    """

    contributors: Mapping[int, Contributor] = field(default_factory=dict)
    owners: Mapping[bytes, int] = field(default_factory=dict)

    @classmethod
    def of(cls, contributors: Iterable[Contributor]) -> Keyring:
        """A keyring of contributors."""
        by_id = {one.id: one for one in sorted(contributors, key=lambda one: one.id)}
        owners: dict[bytes, int] = {}
        for one in by_id.values():
            for key in one.keys:
                owners.setdefault(key.public_key.blob, one.id)
        return cls(by_id, owners)

    def key(self, contributor: int, blob: bytes) -> TrustedKey | None:
        """A contributor's own key, or None; a key that another owns is not theirs."""
        if self.owners.get(blob) != contributor:
            return None
        return self.contributors[contributor].key(blob)


def read_keyring(tree: Tree) -> tuple[Keyring, tuple[Finding, ...]]:
    """Read all trust files of a tree.

    Returns:
        The readable contributors, and what is wrong with the other files.
    """
    found: list[Finding] = []
    contributors: list[Contributor] = []
    for entry in tree.entries(TRUST):
        if entry.path in PAGES or entry.path == MAINTAINERS:
            continue
        listed = check_entry(entry)
        if listed:
            found.extend(listed)
            continue
        try:
            contributors.append(read_trust(tree.read(entry.path), entry.path))
        except RegistryError as error:
            found.extend(error.findings)
    return Keyring.of(contributors), tuple(found)


def valid_span(key: TrustedKey) -> tuple[int, int | None]:
    """First and last second, since 1970, in which a key is trusted; None for no end."""
    ends = [] if key.not_after is None else [epoch(key.not_after)]
    if key.revoked is not None:
        ends.append(epoch(key.revoked.at) - 1)
    return epoch(key.added), min(ends, default=None)


def check_signer(
    manifest: Manifest, blob: bytes, keyring: Keyring, at: int, path: str
) -> list[Finding]:
    """Whether a key may sign a manifest at a time.

    Args:
        manifest: what was signed.
        blob: the key that signed it.
        keyring: trust, as merged.
        at: the time that counts, in seconds since 1970.
        path: the signature's path, for findings.
    """
    owner = manifest.contributor
    if owner not in keyring.contributors:
        return [finding(UNKNOWN, path, f"contributor {owner} is not enrolled")]
    key = keyring.key(owner, blob)
    name = fingerprint(blob)
    if key is None:
        other = keyring.owners.get(blob)
        whose = "nobody enrolled it" if other is None else f"it belongs to {other}"
        return [finding(FOREIGN, path, f"{name} is no key of {owner}; {whose}")]
    if at < epoch(key.added):
        return [finding(EARLY, path, f"{name} is trusted from {key.added} on")]
    if key.revoked is not None and at >= epoch(key.revoked.at):
        what = f"{name} was revoked at {key.revoked.at} ({key.revoked.reason})"
        return [finding(REVOKED, path, what)]
    if key.not_after is not None and at > epoch(key.not_after):
        return [finding(EXPIRED, path, f"{name} expired at {key.not_after}")]
    return []


def check_succession(
    manifest: Manifest,
    merged: tuple[Manifest, str] | None,
    author: int | None,
    path: str,
) -> list[Finding]:
    """Whether a manifest may follow the merged one, proposed by this author.

    Args:
        manifest: the proposed manifest.
        merged: the manifest on main and its SHA-256, or None for a new dataset.
        author: numeric id of the change's author, or None if nobody knows.
        path: the manifest's path, for findings.
    """
    found: list[Finding] = []
    if author is not None and author != manifest.contributor:
        what = f"contributor {manifest.contributor}, but {author} proposes it"
        found.append(finding(AUTHOR, path, what))
    last, digest = (merged[0].version, merged[1]) if merged else (0, None)
    merged_one = f"version {last}" if last else "nothing"
    if manifest.version != last + 1:
        what = f"version {manifest.version}, but {merged_one} is merged"
        found.append(finding(SUCCESSION, path, what))
    if manifest.previous != digest:
        what = f"previous is {manifest.previous}, but {digest or 'nothing'} is merged"
        found.append(finding(SUCCESSION, path, what))
    if merged and merged[0].contributor != manifest.contributor:
        what = f"contributor {merged[0].contributor} began this dataset"
        found.append(finding(OWNER, path, what))
    return found
