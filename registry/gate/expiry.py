"""Keys that end soon, or ended, while their owner has no other to go on with.

Each is a warning: nobody can sign for the owner then, but what is merged stays right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from registry.documents.findings import Severity, code, finding
from registry.documents.trust import FOUNDING, trust_path
from registry.gate.identity import read_keyring, valid_span

if TYPE_CHECKING:
    from registry.documents.findings import Finding
    from registry.documents.trust import Contributor
    from registry.gate.tree import Tree

__all__ = ["expiring"]

ENDING = code(
    "T047",
    Severity.WARNING,
    "A key ends soon, and its owner has no other that lasts longer.",
    "Its owner enrols a new key while the old one can still endorse it: "
    "`powerkit enrol --key NEW --endorse-with OLD`.",
    "S10",
)
ENDED = code(
    "T048",
    Severity.WARNING,
    "A key ended, and its owner has no other that is valid.",
    "If its owner goes on: `powerkit enrol` with a new key that the account publishes; "
    "two maintainers look at it, since nothing endorses it.",
    "S10",
)

_DAY_SECONDS: Final = 86_400


def expiring(tree: Tree, now: int, days: int) -> list[Finding]:
    """Find keys that leave their owner without any.

    Keys that were revoked are somebody's decision and not told of; nor is the founding
    key, which nobody holds.

    Args:
        tree: the registry.
        now: the present, in seconds since 1970.
        days: how far to look ahead.

    Returns:
        Warnings, in the order of ids; what is wrong with trust files is not told here.
    """
    keyring, _ = read_keyring(tree)
    until = now + days * _DAY_SECONDS
    found: list[Finding] = []
    for contributor in keyring.contributors.values():
        if contributor.id != FOUNDING:
            found += _of(contributor, now, until)
    return found


def _of(contributor: Contributor, now: int, until: int) -> list[Finding]:
    path = trust_path(contributor.id)
    kept = [key for key in contributor.keys if key.revoked is None]
    ends = {key.fingerprint: valid_span(key)[1] for key in kept}
    if any(end is None or end > until for end in ends.values()):
        return []
    over = all(end is not None and end < now for end in ends.values())
    found = []
    for key in kept:
        name, end = key.fingerprint, ends[key.fingerprint]
        if over:
            found.append(finding(ENDED, path, f"{name} ended at {key.not_after}"))
        elif end is not None and end >= now:
            found.append(finding(ENDING, path, f"{name} ends at {key.not_after}"))
    return found
