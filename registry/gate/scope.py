"""What kind of change this is, and whether it may touch what it touches.

A change brings one bundle, or it changes trust, or it changes code: never two of them,
with one exception, a first contribution that brings its author's own trust file. What
is merged stays, except by a new version or a withdrawal (threat-model.md S7, W2, W12).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from registry.documents.findings import Severity, code, finding
from registry.gate.paths import (
    MAINTAINERS,
    MANIFEST,
    SIGNATURE,
    WITHDRAWN,
    contribution,
    dataset_of,
)
from registry.gate.tree import DATASETS, SPECS, TRUST

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from registry.documents.findings import Finding
    from registry.gate.changes import Change

__all__ = ["Scope", "check_spec_use", "scope_of"]

MIXED = code(
    "T020",
    Severity.ERROR,
    "A change of data or trust touches other files as well.",
    "Leave only the bundle (or only the trust file) in this change, and propose the "
    "rest in another.",
    "W2",
    "W12",
)
TRUST_MIXED = code(
    "T021",
    Severity.ERROR,
    "A change of data touches a trust file that is not the author's first one.",
    "Change keys in a change of its own, and contribute when it is merged.",
    "S7",
)
SEVERAL = code(
    "T022",
    Severity.ERROR,
    "A change touches several datasets.",
    "Propose each dataset in a change of its own.",
    "W12",
)
REWRITTEN = code(
    "T023",
    Severity.ERROR,
    "A change alters or deletes what is merged.",
    "Restore the file. A bundle changes by a new version (manifest and signature), or "
    "is withdrawn by adding WITHDRAWN.yaml alone.",
    "W12",
)
STRAY_SPEC = code(
    "T024",
    Severity.ERROR,
    "A change touches a spec that its bundle does not name.",
    "Leave only the spec that the manifest names.",
    "S12",
    "W12",
)
SHARED_SPEC = code(
    "T025",
    Severity.ERROR,
    "A change alters a spec that other merged bundles were signed with.",
    "Describe the machine as it is now in a new spec under another name.",
    "S12",
    "W12",
)
ENDED = code(
    "T026",
    Severity.ERROR,
    "A withdrawn dataset is continued.",
    "Contribute the new data under another dataset id.",
    "W12",
)
MAINTAINERS_MIXED = code(
    "K036",
    Severity.ERROR,
    "A change of the maintainers' file touches something else.",
    "Change registry/trust/maintainers.yaml in a change of its own.",
    "S7",
    "S11",
)
UNMERGED = code(
    "T027",
    Severity.ERROR,
    "A dataset is withdrawn that is not merged.",
    "Leave WITHDRAWN.yaml out: it keeps data that was accepted once from being used.",
    "W12",
)
SHOWN = 20
"""How many foreign paths of a mixed change are named one by one."""


@dataclass(slots=True)
class Scope:
    """What a change touches.

    Attributes:
        dataset: the one dataset that it touches, or None.
        withdraws: whether it withdraws that dataset and does nothing else.
        specs: paths of specs that it adds or alters.
        trust: changes of contributors' trust files.
        maintainers: the change of the maintainers' file, if there is one.
        findings: what it may not touch.
    """

    dataset: str | None = None
    withdraws: bool = False
    specs: tuple[str, ...] = ()
    trust: tuple[Change, ...] = ()
    maintainers: Change | None = None
    findings: list[Finding] = field(default_factory=list)


def scope_of(changed: Sequence[Change], merged: Collection[str]) -> Scope:
    """Judge the paths of a change.

    Args:
        changed: every path that differs.
        merged: all paths of the branch that it is to be merged into.

    Returns:
        What it touches. A change of nothing but code is not judged here.
    """
    ours = [change for change in changed if contribution(change.path)]
    if not ours:
        return Scope()
    scope = Scope(
        specs=_touched(ours, SPECS),
        trust=tuple(one for one in ours if _trusts(one.path)),
        maintainers=next((one for one in ours if one.path == MAINTAINERS), None),
    )
    foreign = [change.path for change in changed if not contribution(change.path)]
    scope.findings += [
        finding(MIXED, path, "it is no part of a contribution")
        for path in foreign[:SHOWN]
    ]
    if len(foreign) > SHOWN:
        what = f"{len(foreign)} files in all are no part of a contribution"
        scope.findings.append(finding(MIXED, foreign[SHOWN], what))
    by_dataset: dict[str, list[Change]] = {}
    for one in ours:
        if name := dataset_of(one.path):
            by_dataset.setdefault(name, []).append(one)
    datasets = sorted(by_dataset)
    if len(datasets) > 1:
        what = f"{len(datasets)} datasets: " + ", ".join(datasets[:5])
        scope.findings.append(finding(SEVERAL, DATASETS + datasets[0], what))
    elif datasets:
        scope.dataset = datasets[0]
    _judge_trust(scope, with_data=any(not one.path.startswith(TRUST) for one in ours))
    _judge_maintainers(scope, alone=len(ours) == 1)
    for name in datasets:
        _judge_dataset(scope, name, by_dataset[name], merged)
    _judge_specs(scope, ours, datasets)
    return scope


def check_spec_use(
    scope: Scope,
    named: Collection[str],
    merged: Collection[str],
    users: Callable[[str], list[str]],
) -> list[Finding]:
    """Whether a change's specs are its bundle's own.

    Args:
        scope: what the change touches.
        named: paths of the specs that its manifests name.
        merged: all paths of the branch.
        users: other datasets that were signed with a merged spec.
    """
    found: list[Finding] = []
    for path in scope.specs:
        if path not in named:
            what = f"the manifest names {', '.join(sorted(named))}"
            found.append(finding(STRAY_SPEC, path, what))
        elif path in merged and (others := users(path)):
            what = f"signed with it: {', '.join(others[:5])}"
            found.append(finding(SHARED_SPEC, path, what))
    return found


def _trusts(path: str) -> bool:
    return path.startswith(TRUST) and path != MAINTAINERS


def _touched(ours: Sequence[Change], root: str) -> tuple[str, ...]:
    return tuple(
        one.path
        for one in ours
        if one.path.startswith(root) and one.status != "deleted"
    )


def _judge_trust(scope: Scope, *, with_data: bool) -> None:
    for number, change in enumerate(scope.trust):
        if change.status == "deleted":
            what = "a trust file is never deleted"
            scope.findings.append(finding(REWRITTEN, change.path, what))
        elif with_data and (change.status != "added" or number):
            what = "the same change brings data"
            scope.findings.append(finding(TRUST_MIXED, change.path, what))


def _judge_maintainers(scope: Scope, *, alone: bool) -> None:
    change = scope.maintainers
    if change is None:
        return
    if change.status == "deleted":
        what = "the maintainers' file is never deleted"
        scope.findings.append(finding(REWRITTEN, change.path, what))
    if not alone:
        what = "the same change brings data or keys"
        scope.findings.append(finding(MAINTAINERS_MIXED, change.path, what))


def _judge_dataset(
    scope: Scope, name: str, files: Sequence[Change], merged: Collection[str]
) -> None:
    folder = f"{DATASETS}{name}/"
    by_name = {change.path.removeprefix(folder): change for change in files}
    end = by_name.get(WITHDRAWN)
    if folder + MANIFEST not in merged:
        # What is withdrawn is not judged any more: nothing may enter that way.
        if end is not None:
            what = f"{name} is not on the branch"
            scope.findings.append(finding(UNMERGED, end.path, what))
        return
    if end is not None and end.status == "added":
        scope.withdraws = len(files) == 1 and scope.dataset == name
        if not scope.withdraws:
            what = "a withdrawal changes nothing else"
            scope.findings.append(finding(REWRITTEN, end.path, what))
        return
    if folder + WITHDRAWN in merged:
        scope.findings.append(finding(ENDED, folder + WITHDRAWN, "it is withdrawn"))
    kept = (MANIFEST, SIGNATURE, WITHDRAWN)
    renewed = all(_status(by_name, one) == "modified" for one in (MANIFEST, SIGNATURE))
    for change in files:
        short = change.path.removeprefix(folder)
        gone = change.status == "deleted" and short in kept
        if gone or not renewed or short == WITHDRAWN:
            what = f"{change.status} without a new version of the bundle"
            scope.findings.append(finding(REWRITTEN, change.path, what))


def _status(by_name: dict[str, Change], name: str) -> str:
    change = by_name.get(name)
    return "" if change is None else change.status


def _judge_specs(scope: Scope, ours: Sequence[Change], datasets: list[str]) -> None:
    for change in ours:
        if not change.path.startswith(SPECS):
            continue
        if change.status == "deleted":
            what = "a spec is never deleted"
            scope.findings.append(finding(REWRITTEN, change.path, what))
        elif not datasets or scope.withdraws:
            what = "no bundle comes with it"
            scope.findings.append(finding(STRAY_SPEC, change.path, what))
