"""Whom a registry names as its maintainers, and how that may change.

Nobody gains a say by a change of their own: what counts is the branch that the change
is to be merged into (threat-model.md S7, S11).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.documents.findings import RegistryError, Severity, code, finding
from registry.documents.maintainers import read_maintainers
from registry.gate.paths import MAINTAINERS, check_entry

if TYPE_CHECKING:
    from registry.documents.findings import Finding
    from registry.documents.maintainers import Maintainers
    from registry.gate.tree import Tree

__all__ = ["check_maintainers", "check_succession_of_maintainers", "maintainers_of"]

EMPTIED = code(
    "K035",
    Severity.ERROR,
    "A change leaves the registry without maintainers, who could never be named again.",
    "Keep enough maintainers for the approvals that are asked for.",
    "S11",
)


def maintainers_of(tree: Tree) -> Maintainers | None:
    """The maintainers that a tree names, or None if it names none.

    Raises:
        RegistryError: the file cannot be read: Y codes, K030 to K034, T codes.
    """
    entries = [one for one in tree.entries(MAINTAINERS) if one.path == MAINTAINERS]
    if not entries:
        return None
    problems = check_entry(entries[0])
    if problems:
        raise RegistryError(problems)
    read = read_maintainers(tree.read(MAINTAINERS), MAINTAINERS)
    return read if read.maintainers else None


def check_maintainers(tree: Tree) -> list[Finding]:
    """Whether the maintainers' file can be read, if there is one."""
    try:
        maintainers_of(tree)
    except RegistryError as error:
        return list(error.findings)
    return []


def check_succession_of_maintainers(base: Tree, head: Tree) -> list[Finding]:
    """Whether a changed maintainers' file may follow that of the base."""
    found = check_maintainers(head)
    if found:
        return found
    try:
        before = maintainers_of(base)
    except RegistryError:
        before = None  # broken on main: whoever mends it is welcome
    if before is not None and maintainers_of(head) is None:
        what = "the base names maintainers, the change none"
        found.append(finding(EMPTIED, MAINTAINERS, what))
    return found
