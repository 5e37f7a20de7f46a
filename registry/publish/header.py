"""All of an index that does not depend on fitted models: sources, bundles, classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from registry.documents.classkey import GENERIC, node_type
from registry.documents.instants import instant
from registry.documents.spec import read_spec
from registry.modelling.classes import members
from registry.modelling.digest import code_digest, library_versions
from registry.publish.index import (
    BundleEntry,
    ClassEntry,
    Index,
    Withdrawal,
    machine_entry,
)
from registry.publish.kepler.node_types import machine_of
from registry.publish.previous import artifact_digest
from registry.publish.source import withdrawals

if TYPE_CHECKING:
    from registry.modelling.plan import BundleRef, Catalogue
    from registry.publish.index import MachineEntry
    from registry.publish.previous import Previous
    from registry.publish.source import Source

__all__ = ["VALID_SECONDS", "header"]

_REVOKED: Final = "key-revoked"
"""The reason that no WITHDRAWN.yaml gives: the key was revoked before the arrival."""

VALID_SECONDS: Final = 365 * 24 * 3600
"""After this long a client warns that a release is old: someone may hold back newer."""


def header(source: Source, catalogue: Catalogue, previous: Previous | None) -> Index:
    """Make an index without models and assets.

    Args:
        source: The registry.
        catalogue: Its bundles.
        previous: An earlier release, whose machines need not be read again.

    Raises:
        RegistryError: A spec or withdrawal cannot be read.

    """
    machines = _machines(source, catalogue, previous)
    bundles = tuple(_bundle(ref, machines, source) for ref in catalogue.bundles)
    dated = source.serial > 0
    return Index(
        schema_id="release/1",
        serial=source.serial,
        commit=source.commit,
        created=instant(source.serial) if dated else None,
        expires=source.serial + VALID_SECONDS if dated else None,
        class_rule=catalogue.class_rule,
        code={"artifacts": artifact_digest(), "fits": code_digest()},
        libraries=dict(library_versions()),
        classes=_classes(bundles),
        bundles=bundles,
        withdrawn=_unused(source, catalogue),
        models=(),
        assets=(),
    )


def _unused(source: Source, catalogue: Catalogue) -> tuple[Withdrawal, ...]:
    """List what no model uses: withdrawn, or signed with a key revoked before."""
    found = [
        Withdrawal(dataset=name, day=since[:10], reason=_REVOKED)
        for name, since in catalogue.revoked.items()
    ]
    found += [
        Withdrawal(dataset=name, day=one.day, reason=one.reason)
        for name, one in withdrawals(source.tree).items()
    ]
    return tuple(sorted(found, key=lambda one: one.dataset))


def _machines(
    source: Source, catalogue: Catalogue, previous: Previous | None
) -> dict[str, MachineEntry]:
    """Describe every machine; only specs that are new are read."""
    known = {} if previous is None else previous.machines()
    wanted = {ref.spec_path: ref.spec_sha256 for ref in catalogue.bundles}
    machines = {digest: known[digest] for digest in wanted.values() if digest in known}
    missing = sorted(path for path, d in wanted.items() if d not in machines)
    for path, data in source.tree.read_many(missing):
        machines[wanted[path]] = machine_entry(machine_of(read_spec(data, path)))
    return machines


def _bundle(
    ref: BundleRef, machines: dict[str, MachineEntry], source: Source
) -> BundleEntry:
    cited = ref.manifest.source
    return BundleEntry(
        dataset=ref.dataset,
        version=ref.version,
        manifest_sha256=ref.manifest_sha256,
        spec_sha256=ref.spec_sha256,
        machine=ref.machine,
        attributes=machines[ref.spec_sha256],
        class_key=ref.class_key,
        contributor=ref.contributor,
        fingerprint=ref.fingerprint,
        licence=ref.licence,
        cites=None if cited is None else f"{cited.kind}:{cited.id}",
        arrived=source.arrivals.get(ref.dataset),
    )


def _classes(bundles: tuple[BundleEntry, ...]) -> tuple[ClassEntry, ...]:
    by_name = {bundle.dataset: bundle for bundle in bundles}
    found = []
    for key, datasets in members((b.dataset, b.class_key) for b in bundles).items():
        own = [by_name[name] for name in datasets]
        found.append(
            ClassEntry(
                key=key,
                number=node_type(key),
                attributes=None if key == GENERIC else own[0].attributes,
                machines=tuple(sorted({bundle.machine for bundle in own})),
                contributors=len({bundle.contributor for bundle in own}),
            )
        )
    return tuple(sorted(found, key=lambda entry: entry.number))
