"""Collects what a pull request with one bundle must hold, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from registry.documents.findings import RegistryError, Severity, code, finding
from registry.documents.manifest import read_manifest
from registry.documents.names import is_name
from registry.documents.spec import read_spec
from registry.documents.trust import read_trust, trust_path
from registry.gate.directory_tree import directory_tree
from registry.gate.paths import MANIFEST, SIGNATURE
from registry.gate.tree import DATASETS

if TYPE_CHECKING:
    from pathlib import Path

    from registry.documents.manifest import Manifest
    from registry.documents.spec import HardwareSpec
    from registry.documents.trust import Contributor

__all__ = ["Merged", "Submission", "besides", "gather", "manifest_of"]

NO_DATASET = code(
    "L081",
    Severity.ERROR,
    "There is no such dataset in the checkout.",
    "Make it with `powerkit pack`, or give the checkout that has it with `--registry`.",
)


class Merged(Protocol):
    """What is on the registry's main branch."""

    def names(self, folder: str) -> set[str]:
        """Names of the files in a folder; empty if there is no such folder."""
        ...


@dataclass(frozen=True, slots=True)
class Submission:
    """A bundle with all that goes into its pull request.

    Attributes:
        manifest: the bundle's manifest.
        files: content by path; None for a file of the merged version that goes.
        newcomer: the contributor, if this is their first contribution.
    """

    manifest: Manifest
    files: dict[str, bytes | None]
    newcomer: Contributor | None

    @property
    def spec(self) -> HardwareSpec:
        """The machine; RegistryError if its description cannot be read."""
        path = self.manifest.spec.path
        return read_spec(self.files[path] or b"", path)

    @property
    def tables(self) -> dict[str, bytes]:
        """Manifest, tables and spec: what `review` shows."""
        return {
            path: data
            for path, data in self.files.items()
            if data is not None and path.endswith((MANIFEST, ".csv", ".yaml"))
            and not path.startswith("registry/")
        }  # fmt: skip


def manifest_of(root: Path, dataset: str) -> Manifest:
    """The manifest of a dataset in a checkout.

    Raises:
        RegistryError: L081, J and M codes.
    """
    path = f"{DATASETS}{dataset}/{MANIFEST}"
    if not is_name(dataset) or not (root / path).is_file():
        raise RegistryError(finding(NO_DATASET, path, "there is no such file"))
    return read_manifest(directory_tree(root).read(path), path)


def gather(root: Path, dataset: str, merged: Merged) -> Submission:
    """Read a bundle, its spec and, for a newcomer, the trust file.

    The trust file is left out if the main branch has one: keys change by themselves.

    Args:
        root: the checkout.
        dataset: the bundle's id.
        merged: the registry's main branch.

    Raises:
        RegistryError: L081; a document cannot be read.
    """
    manifest = manifest_of(root, dataset)
    tree = directory_tree(root)
    folder = f"{DATASETS}{dataset}/"
    files: dict[str, bytes | None] = dict(
        tree.read_many(entry.path for entry in tree.entries(folder))
    )
    for name in merged.names(folder):
        files.setdefault(folder + name, None)
    files[manifest.spec.path] = tree.read(manifest.spec.path)
    newcomer = None
    trust = trust_path(manifest.contributor)
    where, _, name = trust.rpartition("/")
    if name not in merged.names(f"{where}/") and tree.entries(trust):
        data = tree.read(trust)
        newcomer = read_trust(data, trust)
        files[trust] = data
    return Submission(manifest, files, newcomer)


def besides(submission: Submission) -> list[str]:
    """Lines for people about the files that `review` does not show."""
    folder = f"{DATASETS}{submission.manifest.dataset}/"
    lines = [f"{folder}{SIGNATURE}: the signature, made with your key"]
    who = submission.newcomer
    if who is not None:
        keys = ", ".join(key.fingerprint for key in who.keys)
        lines.append(f"{trust_path(who.id)}: account {who.id}, {who.login}, {keys}")
    lines += [
        f"{path}: goes" for path, data in submission.files.items() if data is None
    ]
    return lines
