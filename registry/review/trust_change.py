"""A change of trust: which keys come and go, and whose approval it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from registry.documents.findings import RegistryError
from registry.documents.maintainers import read_maintainers
from registry.documents.trust import read_trust
from registry.gate.maintainers import maintainers_of
from registry.gate.paths import MAINTAINERS
from registry.review.page import Code, Listing, Paragraph, Section, Table, plain
from registry.review.people import KEY_COLUMNS, key_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.documents.maintainers import Maintainers
    from registry.documents.trust import Contributor
    from registry.gate.tree import Tree
    from registry.review.page import Block, Cell
    from registry.review.proposal import Proposal

__all__ = ["approvals_facts", "trust_section"]


def approvals_facts(proposal: Proposal, given: int | None) -> dict[str, int | None]:
    """How many approvals of maintainers a change of trust needs and has.

    Args:
        proposal: the change.
        given: how many count, or None if GitHub was not asked.

    Returns:
        ``needed`` and ``given``; nothing if no approval is asked for.
    """
    if not (proposal.scope.trust or proposal.scope.maintainers):
        return {}
    try:
        named = maintainers_of(proposal.before)
    except RegistryError:
        return {}
    return {} if named is None else {"needed": named.approvals, "given": given}


def trust_section(proposal: Proposal) -> Section:
    """Say what a change of trust files does."""
    blocks: list[Block] = []
    notes: list[tuple[Cell, ...]] = []
    facts: list[dict[str, Any]] = []
    for change in proposal.scope.trust:
        if change.path == MAINTAINERS:
            points = tuple(_maintainers(proposal))
            notes += points
            blocks.append(Listing(points))
            continue
        old = _read(proposal.before, change.path)
        new = _read(proposal.after, change.path)
        points = tuple(_points(change.path, old, new))
        notes += points
        blocks.append(Listing(points))
        if new is not None:
            caption = f"Keys of contributor {new.id} after the change"
            blocks.append(Table(caption, KEY_COLUMNS, key_rows(new)))
        facts.append(
            {
                "path": change.path,
                "status": change.status,
                "changes": [plain(point) for point in points],
            }
        )
    needed = _approvals(proposal)
    blocks.append(needed)
    return Section(
        "trust", "Change of trust", tuple(blocks), {"files": facts}, tuple(notes)
    )


def _points(
    path: str, old: Contributor | None, new: Contributor | None
) -> Iterator[tuple[Cell, ...]]:
    if new is None:
        yield "The trust file ", Code(path), " is gone or cannot be read."
        return
    who = f"contributor {new.id} "
    if old is None:
        yield "A new contributor: ", who, Code(new.login)
    elif old.login != new.login:
        yield who, "has another login: ", Code(old.login), " before, ", Code(new.login)
    known = {} if old is None else {key.fingerprint: key for key in old.keys}
    for key in new.keys:
        name = Code(key.fingerprint)
        before = known.pop(key.fingerprint, None)
        if before is None:
            how = (
                "endorsed by an older key" if key.endorsement else "without endorsement"
            )
            yield "Key added to ", who, name, f", {how}, from {key.added}"
        if key.revoked is not None and (before is None or before.revoked is None):
            why = f" from {key.revoked.at} on: {key.revoked.reason}"
            yield "Key revoked of ", who, name, why
        if before is not None and before.not_after != key.not_after:
            was, now = before.not_after or "no end", key.not_after or "no end"
            yield "Key of ", who, name, f" ends otherwise: {was} before, {now} now"
    for fingerprint in known:
        yield "Key taken out of the file of ", who, Code(fingerprint)


def _maintainers(proposal: Proposal) -> Iterator[tuple[Cell, ...]]:
    """Compare who maintains the registry."""
    old, new = _listed(proposal.before), _listed(proposal.after)
    if new is None:
        yield ("The maintainers' file is gone or cannot be read.",)
        return
    before = {} if old is None else {one.id: one.login for one in old.maintainers}
    after = {one.id: one.login for one in new.maintainers}
    for number in sorted(set(after) - set(before)):
        yield f"Maintainer added: {number} ", Code(after[number])
    for number in sorted(set(before) - set(after)):
        yield f"Maintainer removed: {number} ", Code(before[number])
    was = None if old is None else old.approvals
    if was != new.approvals:
        yield (f"Approvals needed: {was or 'none'} before, {new.approvals} now",)


def _approvals(proposal: Proposal) -> Paragraph:
    """Say whose approval the base asks for."""
    try:
        named = maintainers_of(proposal.before)
    except RegistryError:
        return Paragraph.of("The maintainers' file on main cannot be read.")
    if named is None:
        return Paragraph.of("Main names no maintainers, so no approval is asked for.")
    author = proposal.author
    able = [one for one in named.maintainers if author is None or one.id != author.id]
    what = (
        f"It needs {named.approvals} approvals of the commit as it is now, from"
        " maintainers other than the author: "
    )
    pieces: list[Cell] = [what]
    for number, one in enumerate(able):
        pieces += [", " if number else "", Code(one.login), f" ({one.id})"]
    return Paragraph((*pieces, "."))


def _read(tree: Tree, path: str) -> Contributor | None:
    try:
        return read_trust(tree.read(path), path)
    except RegistryError:
        return None


def _listed(tree: Tree) -> Maintainers | None:
    try:
        return read_maintainers(tree.read(MAINTAINERS), MAINTAINERS)
    except RegistryError:
        return None
