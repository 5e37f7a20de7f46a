"""Runs the gate on the contributor's own machine: the same code, the same findings."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from registry.documents import limits
from registry.documents.findings import RegistryError, Severity, code, finding
from registry.documents.manifest import read_manifest
from registry.documents.trust import read_trust, trust_path
from registry.gate.directory_tree import DirectoryTree, directory_tree
from registry.gate.drafting import base_of, is_checkout, top_of
from registry.gate.duplicates import check_duplicates
from registry.gate.git import commit_of
from registry.gate.git_tree import git_tree
from registry.gate.outcome import Report, in_order
from registry.gate.paths import MANIFEST
from registry.gate.tree import DATASETS, SPECS, TRUST, Entry, below, missing, too_large
from registry.gate.verify import verify_change, verify_registry
from tools.bundles.proposal import proposed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from registry.documents.findings import Finding
    from registry.documents.manifest import Manifest
    from registry.gate.tree import Tree

__all__ = ["OverlayTree", "check_bundle"]

ASSUMED = code(
    "L066",
    Severity.WARNING,
    "The contributor's key is not on the main branch yet.",
    "Add the key to your GitHub account as a signing key. To compare with GitHub's own"
    " list: `gh api users/LOGIN/ssh_signing_keys --jq '.[].key' > FILE`, then"
    " `--published-keys FILE`.",
    "S7",
)
NO_REGISTRY = code(
    "L065",
    Severity.ERROR,
    "The folder is in no registry, so neither trust nor duplicates can be seen.",
    "Run this in the registry's checkout, or give that with `--registry`.",
)


class OverlayTree:
    """A registry with some files of its own laid over it.

    Attributes:
        base: The registry.
        over: Files on disk by their path in the registry.

    """

    def __init__(self, base: Tree, over: dict[str, Path]) -> None:
        """List the files; their content is read when it is asked for."""
        self.base = base
        self.over = over
        hidden = tuple({path[: path.rindex("/") + 1] for path in over} - {SPECS})
        kept = [
            entry
            for entry in base.entries()
            if not entry.path.startswith(hidden) and entry.path not in over
        ]
        own = [_entry(path, file) for path, file in over.items()]
        self._entries = sorted([*kept, *own], key=lambda entry: entry.path)

    def entries(self, prefix: str = "") -> list[Entry]:
        """The files whose path begins with a prefix, sorted by path."""
        return below(self._entries, prefix)

    def read(self, path: str) -> bytes:
        """All bytes of one ordinary file; RegistryError if there is none."""
        if path not in self.over:
            return self.base.read(path)
        try:
            return _read(self.over[path], path)
        except OSError as problem:
            raise missing(path, problem.strerror or "it cannot be read") from problem

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Paths with their bytes, in the order asked for."""
        for path in paths:
            yield path, self.read(path)


def check_bundle(
    folder: Path,
    now: int,
    *,
    registry: Path | None = None,
    spec: Path | None = None,
    base: str | None = None,
    published_keys: Sequence[str] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Report:
    """Check one bundle as the gate would if it were proposed now.

    In a git checkout the bundle is committed in a place apart, and that change is
    verified as on the server. A bundle that lies elsewhere, or that is merged already,
    is checked by itself and for duplicates.

    Args:
        folder: The bundle's folder, inside a registry's checkout or anywhere else.
        now: The present, in seconds since 1970: the signing key must be valid now.
        registry: The checkout that has the trust files and all other datasets; by
            default the one that the folder lies in, else the one that we stand in.
        spec: The machine's spec, if it lies neither in ``registry`` nor in ``specs``
            beside the folder's ``datasets``.
        base: The revision it would be merged into; by default found, see ``BASES``.
        published_keys: The account's signing keys as GitHub lists them.
        progress: Called with the id of the dataset before it is looked at.

    Raises:
        RegistryError: L065, T003, or the manifest cannot be found.

    """
    folder = folder.resolve()
    around, root = _roots(folder, registry)
    if around == root and spec is None and is_checkout(root):
        if progress is not None:
            progress(folder.name)
        report = _as_proposal(root, folder.name, now, base, published_keys)
        if report.bundles or report.refused:
            return report
    dataset = folder.name
    tree = _tree(folder, around, root, spec)
    report = verify_registry(
        tree, arrivals={}, now=now, only={dataset}, progress=progress
    )
    manifests = dict(_manifests(tree))
    return _with(report, check_duplicates(manifests, {dataset}))


def _as_proposal(
    root: Path,
    dataset: str,
    now: int,
    base: str | None,
    published_keys: Sequence[str] | None,
) -> Report:
    """Verify the change that a pull request with this bundle would be."""
    path = f"{DATASETS}{dataset}/{MANIFEST}"
    files: list[str] = []
    author = None
    with suppress(OSError, RegistryError):  # the gate will say what is wrong
        manifest = read_manifest(_read(root / path, path), path)
        author = manifest.contributor
        files = [manifest.spec.path, trust_path(author)]
    target = commit_of(root, base_of(root, base))
    found: list[Finding] = []
    if published_keys is None and author is not None:
        published_keys = _assumed(root, target, files[1], found)
    with proposed(root, f"{DATASETS}{dataset}", files, target) as (repo, head):
        report = verify_change(
            repo, target, head, author=author, published_keys=published_keys, now=now
        )
    return _with(report, found)


def _assumed(
    root: Path, base: str, path: str, found: list[Finding]
) -> list[str] | None:
    """Take the keys of a new contributor's own file for published, and say so."""
    try:
        data = _read(root / path, path)
        if git_tree(root, base).entries(path):
            return None
        contributor = read_trust(data, path)
    except (OSError, RegistryError):
        return None
    what = (
        f"account {contributor.id} is new: GitHub will be asked whether it publishes"
        f" {', '.join(key.fingerprint for key in contributor.keys)}"
    )
    found.append(finding(ASSUMED, path, what))
    return [key.ssh for key in contributor.keys]


def _with(report: Report, found: Sequence[Finding]) -> Report:
    return Report(
        findings=in_order([*report.findings, *found]),
        bundles=report.bundles,
        seconds=report.seconds,
        expectation_results=report.expectation_results,
    )


def _roots(folder: Path, registry: Path | None) -> tuple[Path | None, Path]:
    """Return the folder around the bundle's datasets, and the registry."""
    around = folder.parent.parent if folder.parent.name == "datasets" else None
    root = registry.resolve() if registry is not None else around
    if registry is None and (root is None or not (root / TRUST).is_dir()):
        root = top_of(Path()).resolve()
    if root is None or not (root / TRUST).is_dir():
        what = "there is no folder registry/trust above it, nor where this runs"
        raise RegistryError(finding(NO_REGISTRY, str(folder), what))
    return around, root


def _tree(folder: Path, around: Path | None, root: Path, spec: Path | None) -> Tree:
    base: DirectoryTree = directory_tree(root)
    if around == root and spec is None:
        return base
    over = {
        f"{DATASETS}{folder.name}/{entry.name}": Path(entry.path)
        for entry in os.scandir(folder)
    }
    over |= _spec(folder, around, spec)
    return OverlayTree(base, over)


def _spec(folder: Path, around: Path | None, spec: Path | None) -> dict[str, Path]:
    """Find the spec that the manifest names, if it is not the registry's own."""
    path = f"{DATASETS}{folder.name}/{MANIFEST}"
    try:
        data = _read(folder / MANIFEST, path)
    except OSError as problem:
        raise missing(path, problem.strerror or "it cannot be read") from problem
    named = read_manifest(data, path).spec.path
    if spec is None and around is not None and (around / named).is_file():
        spec = around / named
    return {} if spec is None else {named: spec}


def _manifests(tree: Tree) -> Iterator[tuple[str, Manifest]]:
    """All readable manifests; what is wrong with others is not this bundle's fault."""
    for entry in tree.entries(DATASETS):
        if entry.path.endswith(f"/{MANIFEST}") and entry.path.count("/") == 2:
            try:
                manifest = read_manifest(tree.read(entry.path), entry.path)
            except RegistryError:
                continue
            yield manifest.dataset, manifest


def _entry(path: str, file: Path) -> Entry:
    status = file.lstat()
    mode = 0o100755 if status.st_mode & stat.S_IXUSR else 0o100644
    if not stat.S_ISREG(status.st_mode):
        mode = 0o120000 if stat.S_ISLNK(status.st_mode) else 0o160000
    return Entry(path, mode, status.st_size, "")


def _read(file: Path, path: str) -> bytes:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with os.fdopen(os.open(file, flags), "rb") as opened:
        status = os.fstat(opened.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise missing(path, "it is no ordinary file")
        if status.st_size > limits.FILE_BYTES:
            raise too_large(path, status.st_size, limits.FILE_BYTES)
        return opened.read(limits.FILE_BYTES)
