"""Verify what a change adds to a registry, with code and trust from the base only.

The head is read as git objects and is data: nothing in it is imported, executed or
checked out. Entries that the change does not touch are never held against it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from registry.documents import limits
from registry.documents.findings import RegistryError, Severity, code, finding
from registry.documents.trust import read_trust
from registry.gate.changes import changes, fork_point
from registry.gate.duplicates import check_duplicates
from registry.gate.enrolment import (
    Proposal,
    check_new_contributor,
    check_update,
    published_blobs,
)
from registry.gate.git import commit_of
from registry.gate.git_tree import GitTree
from registry.gate.identity import check_succession
from registry.gate.maintainers import check_succession_of_maintainers
from registry.gate.merged_manifests import related_manifests
from registry.gate.merged_trust import joined_by, merged_keyring
from registry.gate.opening import Examined, examine
from registry.gate.outcome import Outcome, Report
from registry.gate.paths import (
    MANIFEST,
    WITHDRAWN,
    check_collisions,
    check_entry,
    contribution,
    dataset_of,
)
from registry.gate.quality import judge
from registry.gate.scope import Scope, check_spec_use, scope_of
from registry.gate.tree import DATASETS, TRUST
from registry.gate.withdrawal import check_day, read_withdrawal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from registry.documents.findings import Finding
    from registry.documents.manifest import Manifest
    from registry.gate.changes import Change
    from registry.gate.identity import Keyring
    from registry.gate.tree import Tree

__all__ = ["verify_change"]

WITHDRAWN_BY_OTHER = code(
    "T032",
    Severity.WARNING,
    "A bundle is withdrawn by someone else than its contributor.",
    "Reviewers: make sure that this is the maintainers' decision.",
    "W12",
)
UNREADABLE_TRUST = code(
    "K028",
    Severity.ERROR,
    "The merged trust file cannot be read, so nobody can tell what it said.",
    "Maintainers restore it from an earlier commit first.",
    "S10",
)


UNREADABLE_MANIFEST = code(
    "T033",
    Severity.ERROR,
    "A change replaces a merged manifest that nobody can read.",
    "Tell the maintainers; they withdraw the broken dataset, and a new one is added.",
    "S4",
    "S5",
)


@dataclass(frozen=True, slots=True)
class _Merge:
    """A change and what it is to be merged into."""

    base: Tree
    head: Tree
    changed: tuple[Change, ...]
    merged: frozenset[str]
    proposal: Proposal


def verify_change(
    repo: Path,
    base: str,
    head: str,
    *,
    author: int | None = None,
    published_keys: Sequence[str] | None = None,
    now: int,
    expectations: bool = True,
) -> Report:
    """Verify a change.

    Args:
        repo: a repository that holds both commits.
        base: the branch to be merged into; trust comes from here.
        head: the change.
        author: numeric id of the account that proposes the change, if known.
        published_keys: signing keys that GitHub lists for that account, if asked.
        now: the time at which keys must be valid, in seconds since 1970.
        expectations: whether to run the profile's expectation suite.

    Returns:
        Findings about what the change adds. A change of code only has none: the gate
        judges contributions.
    """
    outcome = Outcome()
    try:
        # Resolved once: a branch may move while it is looked at. Listed before they are
        # compared: git lists as it goes, but holds all differences in memory.
        commits = commit_of(repo, base), commit_of(repo, head)
        fork = fork_point(repo, *commits)
        trees = GitTree(repo, commits[0]), GitTree(repo, commits[1])
        changed = tuple(changes(repo, fork, commits[1]))
        keyring = merged_keyring(trees[0])
    except RegistryError as error:
        outcome.findings += error.findings
        return outcome.report()
    merged = frozenset(entry.path for entry in trees[0].entries())
    scope = scope_of(changed, merged)
    proposal = Proposal(author, published_blobs(published_keys), now)
    merge = _Merge(*trees, changed, merged, proposal)
    outcome.findings += scope.findings
    outcome.findings += _check_listing(merge)
    keyring, problems = _check_trust(merge, scope, keyring)
    outcome.findings += problems
    if scope.maintainers is not None:
        outcome.findings += check_succession_of_maintainers(merge.base, merge.head)
    if scope.withdraws and scope.dataset:
        _check_withdrawal(merge, scope.dataset, keyring, outcome)
    else:
        _check_bundles(merge, scope, keyring, outcome, expectations=expectations)
    return outcome.report()


def _check_listing(merge: _Merge) -> list[Finding]:
    """Check the names of what is new, apart from bundles, which check their own."""
    present = {one.path for one in merge.changed if one.status != "deleted"}
    ours = {path for path in present if contribution(path)}
    found = check_collisions(ours, merge.merged - ours)
    for entry in merge.head.entries():
        if entry.path in ours and dataset_of(entry.path) is None:
            found += check_entry(entry)
    return found


def _datasets(merge: _Merge) -> list[str]:
    """Every dataset of which the change adds or alters a file."""
    names = {
        dataset_of(one.path) for one in merge.changed if one.status != "deleted"
    }  # fmt: skip
    return sorted(name for name in names if name is not None)


def _check_trust(
    merge: _Merge, scope: Scope, keyring: Keyring
) -> tuple[Keyring, list[Finding]]:
    """Check changed trust files; gives the keyring with which data is judged.

    Trust is that of the base. The one exception is a new contributor's own first file.
    """
    found: list[Finding] = []
    with_data = bool(_datasets(merge))
    whose = Proposal(
        merge.proposal.author, merge.proposal.published, merge.proposal.now, with_data
    )
    # One account was asked for its keys, the author's where there are several files:
    # they say nothing of the other files' owners.
    others = replace(whose, published=None) if len(scope.trust) > 1 else whose
    judged = keyring
    bad_names = {
        entry.path for entry in merge.head.entries(TRUST) if check_entry(entry)
    }
    for change in scope.trust:
        path = change.path
        if change.status == "deleted" or path in bad_names:
            continue
        try:
            new = read_trust(merge.head.read(path), path)
        except RegistryError as error:
            found += error.findings
            continue
        proposal = whose if new.id == whose.author else others
        old = keyring.contributors.get(new.id)
        if old is not None:
            found += check_update(old, new, keyring, proposal)
            continue
        if path in merge.merged:
            found.append(finding(UNREADABLE_TRUST, path, "its history is unknown"))
            continue
        problems = check_new_contributor(new, keyring, proposal)
        found += problems
        if not any(one.severity is Severity.ERROR for one in problems):
            judged = joined_by(judged, new)
    return judged, found


def _check_bundles(
    merge: _Merge,
    scope: Scope,
    keyring: Keyring,
    outcome: Outcome,
    *,
    expectations: bool,
) -> None:
    """Check every bundle that the change touches, by itself and against the rest."""
    datasets = _datasets(merge)[: limits.CHANGED_DATASETS]
    if not datasets:
        return
    at = merge.proposal.now
    examined = [examine(merge.head, name, trust=keyring, at=at) for name in datasets]
    outcome.bundles += len(examined)
    for one in examined:
        outcome.findings += one.findings
    proposed = [one.manifest for one in examined if one.manifest is not None]
    altered = [path for path in scope.specs if path in merge.merged]
    try:
        others = related_manifests(merge.base, proposed, altered)
    except RegistryError as error:  # what cannot be compared is not accepted
        outcome.findings += error.findings
        return
    _check_specs(merge, scope, examined, others, outcome)
    for one in examined:
        if one.manifest is not None:
            _check_place(merge, one.manifest, others, outcome)
        judge(one, outcome, expectations=expectations)


def _check_specs(
    merge: _Merge,
    scope: Scope,
    examined: Sequence[Examined],
    others: dict[str, tuple[Manifest, str]],
    outcome: Outcome,
) -> None:
    ours = {one.dataset for one in examined}
    manifests = [one.manifest for one in examined if one.manifest is not None]

    def users(spec: str) -> list[str]:
        signed = (
            name for name, (other, _) in others.items() if other.spec.path == spec
        )
        return sorted(set(signed) - ours)

    # Without its manifest nobody knows which spec is a bundle's own.
    if len(manifests) == len(examined):
        named = {manifest.spec.path for manifest in manifests}
        outcome.findings += check_spec_use(scope, named, merge.merged, users)


def _check_place(
    merge: _Merge,
    manifest: Manifest,
    others: dict[str, tuple[Manifest, str]],
    outcome: Outcome,
) -> None:
    """Check a bundle against what is merged: its version, its owner, duplicates."""
    dataset = manifest.dataset
    path = f"{DATASETS}{dataset}/{MANIFEST}"
    author = merge.proposal.author
    if path in merge.merged and dataset not in others:
        what = "the merged one is unreadable, so its owner and version are unknown"
        outcome.findings.append(finding(UNREADABLE_MANIFEST, path, what))
    outcome.findings += check_succession(manifest, others.get(dataset), author, path)
    # Whoever withdrew data may submit it mended; nobody else may bring it back.
    known = {
        name: other
        for name, (other, _) in others.items()
        if other.contributor != manifest.contributor
        or f"{DATASETS}{name}/{WITHDRAWN}" not in merge.merged
    }
    outcome.findings += check_duplicates(known | {dataset: manifest}, {dataset})


def _check_withdrawal(
    merge: _Merge, dataset: str, keyring: Keyring, outcome: Outcome
) -> None:
    examined = examine(merge.head, dataset, trust=keyring, at=merge.proposal.now)
    path = f"{DATASETS}{dataset}/{WITHDRAWN}"
    outcome.bundles += 1
    # The rest of the bundle is merged: only what this change adds is judged.
    outcome.findings += [one for one in examined.findings if one.path == path]
    try:
        said = read_withdrawal(merge.head.read(path), path)
        outcome.findings += check_day(said, path, merge.proposal.now)
    except RegistryError as error:
        if not examined.withdrawn:  # its manifest is broken: that is why it shall go
            outcome.findings += error.findings
    manifest, author = examined.manifest, merge.proposal.author
    if manifest is not None and author not in (None, manifest.contributor):
        what = f"contributor {manifest.contributor}, withdrawn by {author}"
        outcome.findings.append(finding(WITHDRAWN_BY_OTHER, path, what))
