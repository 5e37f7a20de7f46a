"""Verify a whole registry, or what a change adds to one.

    report = verify_registry(tree, arrivals=arrivals(repo, "HEAD"), now=now)
    report = verify_change(repo, "main", "HEAD", now=now)

One run shows everything that is wrong, in a fixed order. Checks follow threat-model.md
section 5: tree, manifest, files, signature, identity, spec, tables, then duplicates,
privacy and expectations. Bundles are read one by one and let go, so that memory does
not grow with the registry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.documents.classkey import class_key, node_type
from registry.documents.findings import RegistryError, Severity, code, finding
from registry.documents.spec import read_spec, spec_warnings
from registry.gate.enrolment import check_proofs
from registry.gate.identity import read_keyring
from registry.gate.maintainers import check_maintainers
from registry.gate.opening import Examined, examine, open_bundle, open_manifest
from registry.gate.outcome import Outcome, Report
from registry.gate.paths import check_collisions, check_entry, contribution, dataset_of
from registry.gate.quality import judge
from registry.gate.tree import DATASETS, SPECS, TRUST
from registry.gate.verify_change import verify_change

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from registry.documents.manifest import Manifest
    from registry.documents.spec import HardwareSpec
    from registry.gate.tree import Tree

__all__ = ["Report", "open_bundle", "open_manifest", "verify_change", "verify_registry"]

NO_DATASET = code(
    "T030",
    Severity.ERROR,
    "The dataset to be verified does not exist.",
    "Name a folder of datasets/.",
)
SAME_NUMBER = code(
    "T031",
    Severity.ERROR,
    "Two server classes would share one node type number.",
    "Tell the maintainers: the rule of class keys needs a new version.",
    "P6",
)


def verify_registry(
    tree: Tree,
    *,
    arrivals: Mapping[str, int],
    now: int,
    expectations: bool = True,
    only: Collection[str] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Report:
    """Verify all bundles, specs and trust files of a registry.

    Args:
        tree: the registry.
        arrivals: dataset to the time at which its manifest came to the branch, in
            seconds since 1970; keys must have been valid then.
        now: the time for bundles whose arrival is unknown.
        expectations: whether to run the expectation suites (slow to load).
        only: datasets to look at; all if None.
        progress: called with the id of each dataset before it is looked at.
    """
    outcome = Outcome()
    keyring, problems = read_keyring(tree)
    outcome.findings += problems
    outcome.findings += check_proofs(keyring)
    outcome.findings += check_maintainers(tree)
    datasets = _listed(tree, outcome)
    outcome.findings += [
        finding(NO_DATASET, DATASETS + name, "there is no such folder")
        for name in sorted(set(only or ()) - set(datasets))
    ]
    manifests: dict[str, Manifest] = {}
    classes = _Classes(outcome)
    for dataset in datasets:
        if only is not None and dataset not in only:
            continue
        if progress is not None:
            progress(dataset)
        at = arrivals.get(dataset)
        examined = examine(
            tree,
            dataset,
            trust=keyring,
            at=now if at is None else at,
            merged=at is not None,
        )
        manifest = _bundle(examined, classes, expectations)
        if manifest is not None:
            manifests[dataset] = manifest
    if only is None:
        _other_specs(tree, classes)
    _duplicates(manifests, outcome)
    return outcome.report()


class _Classes:
    """The specs and class numbers seen so far."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.specs: set[str] = set()
        self._keys: dict[int, str] = {}

    def add(self, spec: HardwareSpec) -> None:
        """Note a spec; two class keys of one number are a finding."""
        path = f"{SPECS}{spec.machine}.yaml"
        self.specs.add(path)
        key = class_key(spec)
        other = self._keys.setdefault(node_type(key), key)
        if other != key:
            what = f"{key} and {other} are both {node_type(key)}"
            self.outcome.findings.append(finding(SAME_NUMBER, path, what))


def _listed(tree: Tree, outcome: Outcome) -> list[str]:
    """Check the listing of all contributions; gives the datasets, sorted."""
    paths = [entry.path for entry in tree.entries()]
    ours = [path for path in paths if contribution(path)]
    outcome.findings += check_collisions(ours, set(paths) - set(ours))
    for entry in tree.entries():
        # Files of a bundle and trust files are checked with what they belong to.
        path = entry.path
        apart = dataset_of(path) is None and not path.startswith(TRUST)
        if apart and contribution(path):
            outcome.findings += check_entry(entry)
    return sorted({name for path in ours if (name := dataset_of(path)) is not None})


def _bundle(
    examined: Examined, classes: _Classes, expectations: bool
) -> Manifest | None:
    """Judge one bundle; gives its manifest if it counts among duplicates."""
    outcome = classes.outcome
    outcome.bundles += 1
    outcome.findings += examined.findings
    if examined.spec is not None:
        classes.add(examined.spec)
    judge(examined, outcome, expectations=expectations)
    return None if examined.unused else examined.manifest


def _other_specs(tree: Tree, classes: _Classes) -> None:
    """Read the specs that no readable bundle names."""
    for entry in tree.entries(SPECS):
        path = entry.path
        if path in classes.specs or not contribution(path) or check_entry(entry):
            continue
        try:
            spec = read_spec(tree.read(path), path)
        except RegistryError as error:
            classes.outcome.findings += error.findings
            continue
        classes.outcome.findings += spec_warnings(spec, path)
        classes.add(spec)


def _duplicates(manifests: Mapping[str, Manifest], outcome: Outcome) -> None:
    from registry.gate.duplicates import check_duplicates  # noqa: PLC0415

    outcome.findings += check_duplicates(manifests, manifests.keys())
