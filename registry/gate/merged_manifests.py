"""The merged manifests that a change has to do with.

All manifests of the branch are read in one go, but only those are parsed that a change
could continue, copy or pull a spec from under. A manifest is canonical JSON of plain
texts, so whatever it says stands in its bytes between two quotes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.documents import limits
from registry.documents.canonical import sha256
from registry.documents.findings import RegistryError
from registry.documents.manifest import read_manifest
from registry.gate.duplicates import FEWEST_SHARED, measurements
from registry.gate.paths import MANIFEST, dataset_of
from registry.gate.tree import DATASETS, REGULAR

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from registry.documents.manifest import Manifest
    from registry.gate.tree import Tree

__all__ = ["related_manifests"]


def related_manifests(
    tree: Tree, proposed: Sequence[Manifest], specs: Collection[str]
) -> dict[str, tuple[Manifest, str]]:
    """Read what a change must be compared with.

    Args:
        tree: the branch that it is to be merged into.
        proposed: the change's manifests.
        specs: paths of the specs that it alters.

    Returns:
        Manifests with their digests, by dataset: earlier versions, tables with the same
        bytes or with rows in common, and users of the specs. Manifests that nobody can
        read are left out: they are others' business.

    Raises:
        RegistryError: T001, git does not hold a manifest that is listed.
    """
    own = {manifest.dataset for manifest in proposed}
    entries = [entry for manifest in proposed if (entry := measurements(manifest))]
    texts = _bytes({entry.sha256 for entry in entries} | set(specs))
    sketches = [_bytes(entry.sketch) for entry in entries]
    found: dict[str, tuple[Manifest, str]] = {}
    for path, data in tree.read_many(_manifests(tree)):
        dataset = dataset_of(path)
        if dataset not in own:
            said = data.split(b'"')[1::2]
            shared = (len(sketch.intersection(said)) for sketch in sketches)
            if texts.isdisjoint(said) and max(shared, default=0) < FEWEST_SHARED:
                continue
        try:
            manifest = read_manifest(data, path)
        except RegistryError:
            continue
        if manifest.dataset == dataset:
            found[manifest.dataset] = manifest, sha256(data)
    return found


def _manifests(tree: Tree) -> Iterator[str]:
    """Paths of what may be a manifest, from the listing alone."""
    for entry in tree.entries(DATASETS):
        folder, _, name = entry.path.removeprefix(DATASETS).partition("/")
        ordinary = entry.mode == REGULAR and entry.size <= limits.MANIFEST_BYTES
        if folder and name == MANIFEST and ordinary:
            yield entry.path


def _bytes(texts: Collection[str]) -> frozenset[bytes]:
    return frozenset(text.encode("utf-8", "surrogateescape") for text in texts)
