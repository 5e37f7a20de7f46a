"""A light look at all bundles: signed manifests and classes, without any table.

What was signed is checked here (digest, signature, key of that contributor); tables are
read and checked only where something is fitted to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from registry.documents import canonical
from registry.documents.classkey import class_key
from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    finding,
)
from registry.documents.manifest import Manifest
from registry.documents.spec import read_spec
from registry.gate.identity import Keyring, read_keyring
from registry.gate.opening import OTHER_SPEC, SignedManifest, open_manifest
from registry.gate.paths import MANIFEST, WITHDRAWN
from registry.gate.tree import DATASETS, Tree
from registry.modelling.classes import class_rule, reviewed_classes
from registry.modelling.targets import feature_groups, features, sources


@dataclass(frozen=True, slots=True)
class PreviousRelease:
    """What an earlier release says of itself; filled from its index.

    Attributes:
        models: Input digest by model id, for every model that it holds, withheld or
            published.
        classes: Class key by SHA-256 of the spec.
        class_rule: The rule that gave those classes (`Catalogue.class_rule`).
        bundles: Manifest digest by dataset, by model id; for reasons only.
    """

    models: Mapping[str, str]
    classes: Mapping[str, str]
    class_rule: str
    bundles: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BundleRef:
    """A signed bundle, as its manifest describes it.

    Attributes:
        dataset: Id of the dataset.
        version: Its version.
        manifest_sha256: Digest of the signed bytes.
        machine: Name of the machine.
        spec_path: Path of its spec.
        spec_sha256: Digest of it.
        class_key: Key of the server class.
        contributor: GitHub id of who signed.
        fingerprint: OpenSSH fingerprint of the key that signed.
        licence: SPDX id.
        profile: Collection profile.
        rows: Rows of its main table.
        sources: Kepler's energy sources that its columns hold.
        groups: Kepler's feature groups that its columns allow.
        manifest: All of the manifest.
    """

    dataset: str
    version: int
    manifest_sha256: str
    machine: str
    spec_path: str
    spec_sha256: str
    class_key: str
    contributor: int
    fingerprint: str
    licence: str
    profile: str
    rows: int
    sources: tuple[str, ...]
    groups: tuple[str, ...]
    manifest: Manifest


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All bundles that are in use, sorted by dataset.

    Attributes:
        bundles: The bundles; neither withdrawn nor revoked.
        class_rule: The rule that gave their classes.
        revoked: The instant of revocation by dataset, of bundles that arrived after
            their key was revoked, which came out later.
    """

    bundles: tuple[BundleRef, ...]
    class_rule: str
    revoked: Mapping[str, str] = field(default_factory=dict)

    @property
    def classes(self) -> dict[str, str]:
        """Class key by SHA-256 of the spec, for the index of a release."""
        return {ref.spec_sha256: ref.class_key for ref in self.bundles}


def read_catalogue(
    tree: Tree,
    previous: PreviousRelease | None = None,
    *,
    arrivals: Mapping[str, int],
    now: int,
) -> Catalogue:
    """Read all manifests with their signatures, and class every machine.

    Args:
        tree: The registry.
        previous: An earlier release, whose classes save reading the specs again.
        arrivals: When each dataset came to main, in seconds since 1970; its key must
            have been valid then.
        now: The same for datasets that are not on main yet.

    Raises:
        RegistryError: All problems of all bundles.
    """
    keyring = trusted(tree)
    signed: list[SignedManifest] = []
    revoked: dict[str, str] = {}
    problems: list[Finding] = []
    for name in _datasets(tree):
        merged = name in arrivals
        at = arrivals.get(name, now)
        try:
            one = open_manifest(tree, name, trust=keyring, at=at, merged=merged)
        except RegistryError as error:
            problems.extend(error.findings)
            continue
        if one.revoked is None:
            signed.append(one)
        else:
            revoked[name] = one.revoked
    if problems:
        raise RegistryError(problems)
    reviewed = reviewed_classes(tree)
    rule = class_rule(reviewed)
    known = previous.classes if previous and previous.class_rule == rule else {}
    classes = _classes(tree, [one.manifest for one in signed], known, reviewed)
    return Catalogue(tuple(_ref(one, classes) for one in signed), rule, revoked)


def trusted(tree: Tree) -> Keyring:
    """Read the keys of all contributors.

    Raises:
        RegistryError: A trust file is refused.
    """
    keyring, findings = read_keyring(tree)
    if any(one.severity is Severity.ERROR for one in findings):
        raise RegistryError(findings)
    return keyring


def _datasets(tree: Tree) -> list[str]:
    """Name the datasets that have a manifest and were not withdrawn, sorted."""
    names: set[str] = set()
    withdrawn: set[str] = set()
    for entry in tree.entries(DATASETS):
        name, _, file = entry.path.removeprefix(DATASETS).partition("/")
        if file == MANIFEST:
            names.add(name)
        if file == WITHDRAWN:
            withdrawn.add(name)
    return sorted(names - withdrawn)


def _classes(
    tree: Tree,
    manifests: Iterable[Manifest],
    known: Mapping[str, str],
    reviewed: Mapping[str, str],
) -> dict[str, str]:
    """Class every spec; those that an earlier release classed are not read again."""
    wanted = {m.spec.path: m.spec.sha256 for m in manifests}
    classes = {digest: known[digest] for digest in wanted.values() if digest in known}
    unknown = sorted(p for p, digest in wanted.items() if digest not in known)
    problems: list[Finding] = []
    for path, data in tree.read_many(unknown):
        if canonical.sha256(data) != wanted[path]:
            what = "its digest is not the one in the manifest"
            problems.append(finding(OTHER_SPEC, path, what))
            continue
        spec = read_spec(data, path)
        classes[wanted[path]] = reviewed.get(spec.machine) or class_key(spec)
    if problems:
        raise RegistryError(problems)
    return classes


def _ref(signed: SignedManifest, classes: Mapping[str, str]) -> BundleRef:
    manifest = signed.manifest
    table = "samples" if manifest.profile == "timeseries" else "levels"
    entry = manifest.file(f"{table}.csv")
    columns = entry.columns if entry is not None else ()
    return BundleRef(
        dataset=manifest.dataset,
        version=manifest.version,
        manifest_sha256=signed.sha256,
        machine=manifest.spec.path.removeprefix("specs/").removesuffix(".yaml"),
        spec_path=manifest.spec.path,
        spec_sha256=manifest.spec.sha256,
        class_key=classes[manifest.spec.sha256],
        contributor=manifest.contributor,
        fingerprint=signed.fingerprint,
        licence=manifest.licence,
        profile=manifest.profile,
        rows=entry.rows if entry is not None else 0,
        sources=sources(columns, table),
        groups=feature_groups(features(columns, table)),
        manifest=manifest,
    )
