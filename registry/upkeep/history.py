"""Does the newest release hold main's data, and is its commit one of main's?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.client.origins import NoRelease, open_origin
from registry.documents.findings import RegistryError, Severity, code, finding, shown
from registry.documents.instants import instant
from registry.gate.git import commit_of, git
from registry.gate.tree import ROOTS
from registry.publish.index import INDEX_BYTES, read_index
from registry.publish.integrity import INDEX

if TYPE_CHECKING:
    from registry.documents.findings import Finding
    from registry.publish.index import Index
    from registry.upkeep.situation import Situation

__all__ = ["check_commit", "check_fresh"]

UNRELEASED = code(
    "R090",
    Severity.ERROR,
    "Main has data, or withdrawals of data, that the newest release does not know.",
    "Look at the last run of the publish workflow and start it again; if it waits for a"
    " reviewer, look at the release.",
    "P2",
    "P7",
)
NOT_ON_MAIN = code(
    "R091",
    Severity.ERROR,
    "A release was not made from a commit of main.",
    "Do not use it; find out who published it, and publish main's newest commit.",
    "P3",
)
OTHER_SERIAL = code(
    "R092",
    Severity.ERROR,
    "A release's serial is not the time of its commit.",
    "Do not use it; find out who published it, and publish main's newest commit.",
    "P2",
    "P3",
)


def check_fresh(situation: Situation) -> tuple[str, list[Finding]]:
    """Compare the release's commit with main's newest data.

    Raises:
        RegistryError: The release or the history cannot be read.
    """
    try:
        origin = open_origin(situation.place)
    except NoRelease:
        waiting = _waiting(situation, None)
        return "nothing is published yet", waiting
    index = read_index(origin.read(INDEX, INDEX_BYTES), INDEX)
    findings = check_commit(situation, index)
    if findings:
        return "", findings
    return f"release of {str(index.commit)[:12]}", _waiting(situation, index.commit)


def check_commit(situation: Situation, index: Index) -> list[Finding]:
    """Check that a release is of a commit of main, and dated by it.

    Raises:
        RegistryError: T003, the history cannot be read.
    """
    if index.commit is None:
        what = "it was built from a work tree, so nobody can build it again"
        return [finding(NOT_ON_MAIN, INDEX, what)]
    root = situation.root
    try:
        commit = commit_of(root, index.commit)
    except RegistryError:
        what = f"this clone of main has no commit {shown(index.commit, 40)}"
        return [finding(NOT_ON_MAIN, INDEX, what)]
    if git(root, "rev-list", "--max-count=1", commit, f"^{situation.head}"):
        what = f"{commit} is no ancestor of main's {situation.head}"
        return [finding(NOT_ON_MAIN, INDEX, what)]
    time = int(git(root, "show", "-s", "--format=%ct", commit))
    if time != index.serial:
        what = f"the serial is {index.serial}, the commit is of {time}"
        return [finding(OTHER_SERIAL, INDEX, what)]
    return []


def _waiting(situation: Situation, released: str | None) -> list[Finding]:
    """Changes of data that wait for a release longer than they may."""
    reach = situation.head if released is None else f"{released}..{situation.head}"
    folders = [folder.rstrip("/") for folder in ROOTS]
    asked = ("log", "--first-parent", "--format=%ct", reach, "--", *folders)
    times = [int(line) for line in git(situation.root, *asked).split()]
    late = [time for time in times if situation.now - time > situation.grace]
    if not late:
        return []
    since = instant(min(late))
    count = f"{len(late)} change{'' if len(late) == 1 else 's'}"
    what = f"{count} of main waiting for a release, the first since {since}"
    return [finding(UNRELEASED, "datasets", what)]
