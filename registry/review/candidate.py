"""The proposed bundle, or as much of it as can be read.

A bundle that the gate refuses is shown too, as far as it goes: a reviewer sees what was
sent. Nothing is believed here; the gate's findings stand beside it.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from registry.documents import limits
from registry.documents.bundle import Bundle
from registry.documents.canonical import sha256
from registry.documents.findings import RegistryError
from registry.documents.manifest import read_manifest
from registry.documents.names import NAMESPACE_BUNDLE
from registry.documents.spec import read_spec
from registry.documents.sshkey import fingerprint
from registry.gate.contents import check_tables
from registry.gate.paths import MANIFEST, SIGNATURE, check_bundle_size, check_entry
from registry.gate.sshsig import verify
from registry.gate.tree import DATASETS
from registry.modelling.extract import extract

if TYPE_CHECKING:
    from registry.documents.manifest import Manifest
    from registry.documents.spec import HardwareSpec
    from registry.gate.tree import Tree
    from registry.modelling.extract import Frame

__all__ = ["Candidate", "read_candidate"]


@dataclass(slots=True)
class Candidate:
    """What could be read of a bundle.

    Attributes:
        dataset: its id.
        files: name and bytes of each file in its folder.
        manifest: the manifest, or None.
        spec: the spec that it names, or None.
        bundle: manifest, spec and tables, if all could be read; not verified.
        frame: what models would see of it, or None.
        signer: fingerprint of the key that signed, whoever owns it; empty if none did.
    """

    dataset: str
    files: tuple[tuple[str, int], ...] = ()
    manifest: Manifest | None = None
    spec: HardwareSpec | None = None
    bundle: Bundle | None = None
    frame: Frame | None = None
    signer: str = ""
    problems: list[str] = field(default_factory=list)

    @property
    def bytes(self) -> int:
        """The size of all files in its folder."""
        return sum(size for _, size in self.files)


def read_candidate(tree: Tree, dataset: str) -> Candidate:
    """Read what can be read of a bundle; limits hold, and nothing is raised.

    Args:
        tree: the tree that holds it.
        dataset: its id.
    """
    folder = f"{DATASETS}{dataset}/"
    entries = tree.entries(folder)
    found = Candidate(
        dataset, tuple((one.path.removeprefix(folder), one.size) for one in entries)
    )
    fit = [one.path for one in entries[: limits.BUNDLE_FILES] if not check_entry(one)]
    if check_bundle_size(dataset, entries):
        found.problems.append("it is too large to be read")
        return found
    contents = {}
    for path in fit:
        with contextlib.suppress(RegistryError):
            contents[path] = tree.read(path)
    _read_manifest(tree, found, contents, folder)
    if found.manifest is None or found.spec is None:
        return found
    tables, _ = check_tables(found.manifest, contents, folder)
    if "runs" in tables and len(tables) > 1:
        digest = sha256(contents[folder + MANIFEST])
        found.bundle = Bundle(found.manifest, digest, found.spec, tables)
        found.frame = _frame(found)
    return found


def _read_manifest(
    tree: Tree, found: Candidate, contents: dict[str, bytes], folder: str
) -> None:
    data = contents.get(folder + MANIFEST)
    if data is None:
        found.problems.append("there is no manifest")
        return
    try:
        manifest = found.manifest = read_manifest(data, folder + MANIFEST)
    except RegistryError:
        found.problems.append("the manifest cannot be read")
        return
    with contextlib.suppress(RegistryError):
        text = contents.get(folder + SIGNATURE, b"")
        blob = verify(text, data, NAMESPACE_BUNDLE, folder + SIGNATURE)
        found.signer = fingerprint(blob)
    path = manifest.spec.path
    listed = [one for one in tree.entries(path) if one.path == path]
    if not any(check_entry(one) for one in listed):
        with contextlib.suppress(RegistryError):
            found.spec = read_spec(tree.read(path), path)
    if found.spec is None:
        found.problems.append("the hardware spec cannot be read")


def _frame(found: Candidate) -> Frame | None:
    """Extract what models see; tables that were refused may not fit together."""
    if found.bundle is None:
        return None
    try:
        return extract(found.bundle)
    except (RegistryError, KeyError, ValueError, TypeError, IndexError) as error:
        found.problems.append(f"its tables do not fit together: {type(error).__name__}")
        return None
