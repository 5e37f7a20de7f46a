"""Open a bundle: everything that its manifest promises is checked against its files.

    keyring, _ = read_keyring(tree)
    bundle = open_bundle(tree, "server-a", trust=keyring, at=now)

Chains that do not depend on each other all run, so that one look shows everything that
is wrong: files, signature and identity, spec, tables (threat-model.md section 5).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from registry.documents import limits
from registry.documents.bundle import Bundle
from registry.documents.canonical import sha256
from registry.documents.findings import RegistryError, Severity, code, finding
from registry.documents.instants import day
from registry.documents.manifest import read_manifest
from registry.documents.names import NAMESPACE_BUNDLE
from registry.documents.spec import read_spec, spec_warnings
from registry.documents.sshkey import fingerprint
from registry.gate.contents import check_files, check_tables
from registry.gate.identity import EARLY, EXPIRED, REVOKED, check_signer
from registry.gate.paths import (
    MANIFEST,
    SIGNATURE,
    WITHDRAWN,
    check_bundle_size,
    check_entry,
)
from registry.gate.sshsig import MISMATCH, verify
from registry.gate.tree import DATASETS, missing
from registry.gate.withdrawal import read_withdrawal

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from registry.documents.findings import Finding
    from registry.documents.manifest import Manifest, SpecRef
    from registry.documents.spec import HardwareSpec
    from registry.gate.identity import Keyring
    from registry.gate.tree import Tree

__all__ = ["Examined", "SignedManifest", "examine", "open_bundle", "open_manifest"]

FOLDER = code(
    "M020",
    Severity.ERROR,
    "A manifest names another dataset than the folder it lies in.",
    "Give folder and dataset the same name, and sign again.",
    "B7",
    "S5",
)
UNSIGNED = code(
    "S007",
    Severity.ERROR,
    "A bundle is not signed.",
    "Run `powerkit sign`, or `ssh-keygen -Y sign -n bundle@power-dataset-registry`.",
    "S1",
)
CHANGED = code(
    "S006",
    Severity.ERROR,
    "The manifest is not what was signed.",
    "Restore the manifest that was signed, or sign this one.",
    "S1",
)
OTHER_SPEC = code(
    "M025",
    Severity.ERROR,
    "The spec is not the one that was signed with the bundle.",
    "Restore the spec, or pack and sign the bundle with the spec as it is now.",
    "S12",
)


FUTURE = code(
    "M026",
    Severity.ERROR,
    "A bundle says that it was measured after it arrived.",
    "Give the days of the measurement (UTC) as `measured`, then sign again.",
    "B9",
    "S10",
)

_DAY_SECONDS = 86_400
_ENDED_KEYS = frozenset((EARLY.id, EXPIRED.id, REVOKED.id))
"""What does not count against a withdrawn bundle, whose key may be the very reason."""
_UNUSED = (
    "Nothing must be done: no model uses the bundle. If its data is right, its "
    "contributor may sign it again with another key, as a new dataset."
)


@dataclass(frozen=True, slots=True)
class SignedManifest:
    """A manifest whose signature and signer were accepted.

    Attributes:
        manifest: the manifest.
        sha256: digest of its bytes.
        fingerprint: the key that signed it, as OpenSSH prints it.
        revoked: since when that key is revoked, if that was before the bundle arrived.
    """

    manifest: Manifest
    sha256: str
    fingerprint: str
    revoked: str | None = None


@dataclass(slots=True)
class Examined:
    """What was found out about one bundle.

    Attributes:
        dataset: its id.
        findings: everything that is wrong with it.
        manifest: the manifest, if it could be read.
        sha256: digest of the manifest's bytes, or empty.
        spec: the spec, if it could be read.
        bundle: the whole bundle, if no error was found; None if it is withdrawn.
        readable: the same, also if it is not signed as it must be: what can be said of
            its data is said at once, and nothing is made of it.
        withdrawn: whether it holds a WITHDRAWN.yaml.
        revoked: whether it is merged, but its key was revoked before it arrived.
    """

    dataset: str
    findings: list[Finding] = field(default_factory=list)
    manifest: Manifest | None = None
    sha256: str = ""
    spec: HardwareSpec | None = None
    bundle: Bundle | None = None
    readable: Bundle | None = None
    withdrawn: bool = False
    revoked: bool = False

    @property
    def refused(self) -> bool:
        """Whether any finding is an error."""
        return any(one.severity is Severity.ERROR for one in self.findings)

    @property
    def unused(self) -> bool:
        """Whether no model is made from it, though it is merged."""
        return self.withdrawn or self.revoked


def open_bundle(tree: Tree, dataset: str, *, trust: Keyring, at: int) -> Bundle:
    """Read a bundle completely, and vouch for it.

    Expectations, privacy and duplicates are not looked at: see `verify_registry`.

    Args:
        tree: the registry.
        dataset: the bundle's id.
        trust: the keys of the registry, see `read_keyring`.
        at: the time at which the signing key must be valid, in seconds since 1970.

    Raises:
        RegistryError: everything that is wrong with it; also if it is withdrawn.
    """
    examined = examine(tree, dataset, trust=trust, at=at)
    if examined.refused:
        raise RegistryError(examined.findings)
    if examined.bundle is None:
        raise missing(f"{DATASETS}{dataset}", "the bundle was withdrawn")
    return examined.bundle


def open_manifest(
    tree: Tree, dataset: str, *, trust: Keyring, at: int, merged: bool = False
) -> SignedManifest:
    """Read only the manifest of a bundle and check who signed it; no table is read.

    Args:
        tree: the registry.
        dataset: the bundle's id.
        trust: the keys of the registry.
        at: the time at which the signing key must be valid, in seconds since 1970.
        merged: whether the bundle is on main, where a key that was revoked later, but
            from a time before ``at``, takes the bundle out of use and is no error.

    Raises:
        RegistryError: manifest or signature are refused.
    """
    folder = f"{DATASETS}{dataset}/"
    paths = (folder + MANIFEST, folder + SIGNATURE)
    data, text = (content for _, content in tree.read_many(paths))
    manifest = _manifest(data, dataset)
    blob, found = _signature(data, text, folder)
    if blob is not None:
        signer = check_signer(manifest, blob, trust, at, folder + SIGNATURE)
        if merged and _only_revoked(signer):
            key = trust.key(manifest.contributor, blob)
            since = key.revoked.at if key is not None and key.revoked else None
            return SignedManifest(manifest, sha256(data), fingerprint(blob), since)
        found += signer
    if found or blob is None:
        raise RegistryError(found)
    return SignedManifest(manifest, sha256(data), fingerprint(blob))


def examine(
    tree: Tree, dataset: str, *, trust: Keyring, at: int, merged: bool = False
) -> Examined:
    """Read a bundle and collect everything that is wrong with it; see `open_bundle`.

    A withdrawn bundle must still be whole and signed, but its key may be revoked since
    and its tables are not read. The same holds for a merged bundle whose key was
    revoked from a time before it arrived; a warning tells that no model uses it.
    """
    result = Examined(dataset)
    folder = f"{DATASETS}{dataset}/"
    entries = tree.entries(folder)
    for entry in entries[: limits.BUNDLE_FILES + 1]:
        result.findings += check_entry(entry)
    result.findings += check_bundle_size(dataset, entries)
    if result.refused:
        return result
    try:
        contents = dict(tree.read_many(entry.path for entry in entries))
        data = contents.get(folder + MANIFEST)
        if data is None:
            raise missing(folder + MANIFEST)
        result.manifest = _manifest(data, dataset)
        result.sha256 = sha256(data)
    except RegistryError as error:
        result.findings += error.findings
        return result
    result.findings += _check_days(result.manifest, at)
    result.withdrawn = folder + WITHDRAWN in contents
    signing = _check_signature(result.manifest, result, contents, trust, at, merged)
    tables = _chains(tree, result.manifest, result, contents)
    if result.spec is not None and not (result.refused or result.unused):
        whole = Bundle(result.manifest, result.sha256, result.spec, tables)
        result.readable = whole
    result.findings += signing
    if not result.refused:
        result.bundle = result.readable
    return result


def _check_signature(
    manifest: Manifest,
    result: Examined,
    contents: Mapping[str, bytes],
    trust: Keyring,
    at: int,
    merged: bool,
) -> list[Finding]:
    """Check who signed; notes whether that key was revoked since."""
    folder = f"{DATASETS}{result.dataset}/"
    path = folder + SIGNATURE
    if path not in contents:
        return [finding(UNSIGNED, path, "there is no such file")]
    blob, found = _signature(contents[folder + MANIFEST], contents[path], folder)
    if blob is None:
        return found
    waived = _ENDED_KEYS if result.withdrawn else frozenset()
    signer = check_signer(manifest, blob, trust, at, path)
    if merged and not result.withdrawn and _only_revoked(signer):
        result.revoked = True
        signer = [replace(signer[0], severity=Severity.WARNING, fix=_UNUSED)]
    return [*found, *(one for one in signer if one.code not in waived)]


def _chains(
    tree: Tree, manifest: Manifest, result: Examined, contents: Mapping[str, bytes]
) -> dict[str, pl.DataFrame]:
    """Run the other chains, which need nothing but the manifest; gives the tables."""
    folder = f"{DATASETS}{result.dataset}/"
    result.spec = _spec(tree, manifest.spec, result.findings)
    result.findings += check_files(manifest, contents, folder)
    if result.withdrawn:
        path = folder + WITHDRAWN
        try:
            read_withdrawal(contents[path], path)
        except RegistryError as error:
            result.findings += error.findings
    if result.unused:
        return {}
    tables, problems = check_tables(manifest, contents, folder)
    result.findings += problems
    return tables


def _only_revoked(signer: list[Finding]) -> bool:
    return [one.code for one in signer] == [REVOKED.id]


def _manifest(data: bytes, dataset: str) -> Manifest:
    path = f"{DATASETS}{dataset}/{MANIFEST}"
    manifest = read_manifest(data, path)
    if manifest.dataset != dataset:
        what = f"it is the manifest of {manifest.dataset}"
        raise RegistryError(finding(FOLDER, path, what))
    return manifest


def _check_days(manifest: Manifest, at: int) -> list[Finding]:
    """Whether it was measured before it arrived, in whatever time zone."""
    latest = day(at + _DAY_SECONDS)
    if manifest.measured.last <= latest:
        return []
    path = f"{DATASETS}{manifest.dataset}/{MANIFEST}"
    what = f"measured until {manifest.measured.last}, which was not yet"
    return [finding(FUTURE, path, what)]


def _signature(
    data: bytes, text: bytes, folder: str
) -> tuple[bytes | None, list[Finding]]:
    """The key that signed, or None and why; a mismatch is of both files."""
    try:
        return verify(text, data, NAMESPACE_BUNDLE, folder + SIGNATURE), []
    except RegistryError as error:
        found = list(error.findings)
        if any(one.code == MISMATCH.id for one in found):
            what = f"{SIGNATURE} is for other bytes"
            found.append(finding(CHANGED, folder + MANIFEST, what))
        return None, found


def _spec(tree: Tree, ref: SpecRef, found: list[Finding]) -> HardwareSpec | None:
    listed = [entry for entry in tree.entries(ref.path) if entry.path == ref.path]
    problems = [problem for entry in listed for problem in check_entry(entry)]
    if problems:
        found += problems
        return None
    try:
        data = tree.read(ref.path)
        if sha256(data) != ref.sha256:
            what = f"its SHA-256 is {sha256(data)}, {ref.sha256} was signed"
            found.append(finding(OTHER_SPEC, ref.path, what))
        spec = read_spec(data, ref.path)
    except RegistryError as error:
        found += error.findings
        return None
    found += spec_warnings(spec, ref.path)
    return spec
