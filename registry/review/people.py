"""Who contributes: the account, its keys with their history, what it gave before."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from registry.documents.findings import RegistryError
from registry.documents.instants import day
from registry.documents.manifest import read_manifest
from registry.documents.trust import read_trust, trust_path
from registry.gate.paths import MANIFEST, WITHDRAWN
from registry.gate.tree import DATASETS
from registry.review.page import Code, Paragraph, Section, Table, facts_table

if TYPE_CHECKING:
    from registry.documents.trust import Contributor
    from registry.gate.tree import Tree
    from registry.review.page import Block, Cell
    from registry.review.proposal import Proposal, State

__all__ = ["contributor_section", "key_rows", "trusted_contributor"]

KEY_COLUMNS = ("key", "kind", "trusted from", "until", "revoked", "endorsed", "signs")


def trusted_contributor(tree: Tree, number: int) -> Contributor | None:
    """Read a contributor's trust file, or None if there is none that can be read."""
    path = trust_path(number)
    with contextlib.suppress(RegistryError):
        return read_trust(tree.read(path), path)
    return None


def contributor_section(
    proposal: Proposal, number: int, signer: str, state: State | None
) -> Section:
    """Say who contributes.

    Args:
        proposal: the change.
        number: the contributor that the manifest or trust file names.
        signer: fingerprint of the key that signed the bundle, or empty.
        state: the base, or None if it cannot be read.
    """
    known = trusted_contributor(proposal.before, number)
    shown = known or trusted_contributor(proposal.after, number)
    notes: list[tuple[Cell, ...]] = []
    blocks: list[Block] = [
        facts_table("The contributor", _facts(proposal, number, shown, known, state))
    ]
    if known is None:
        notes.append(("This contributor is new: there is no trust file on main yet.",))
    author = proposal.author
    if author is None:
        text = "GitHub was not asked who proposes this change."
        blocks.append(Paragraph.of(text))
    elif author.id != number:
        what = f" proposes what contributor {number} signed."
        notes.append((f"Account {author.id} ", Code(author.login), what))
    if shown is not None:
        rows = key_rows(shown, signer)
        blocks.append(Table("Keys of the contributor", KEY_COLUMNS, rows))
    return Section(
        "contributor",
        "Contributor",
        tuple(blocks),
        _as_facts(proposal, number, shown, signer, new=known is None),
        tuple(notes),
    )


def key_rows(
    contributor: Contributor, signer: str = ""
) -> tuple[tuple[Cell, ...], ...]:
    """Give the history of all keys, one a row of `KEY_COLUMNS`."""
    rows: list[tuple[Cell, ...]] = []
    for key in contributor.keys:
        revoked = key.revoked
        rows.append(
            (
                Code(key.fingerprint),
                Code(key.ssh.partition(" ")[0]),
                key.added,
                key.not_after or "no end",
                "no" if revoked is None else f"{revoked.at}, {revoked.reason}",
                "by an older key" if key.endorsement else "by itself",
                "this bundle" if signer and key.fingerprint == signer else "–",
            )
        )
    return tuple(rows)


def _facts(
    proposal: Proposal,
    number: int,
    shown: Contributor | None,
    known: Contributor | None,
    state: State | None,
) -> list[tuple[str, Cell]]:
    facts: list[tuple[str, Cell]] = [("contributor id", Code(str(number)))]
    if shown is not None:
        facts.append(("login when enrolled", Code(shown.login)))
    if proposal.author is not None:
        facts.append(("proposed by account", Code(str(proposal.author.id))))
        facts.append(("whose login is now", Code(proposal.author.login)))
    first = "not yet" if known is None else min(key.added for key in known.keys)
    facts.append(("known since", first))
    if state is None:
        return facts
    own = [ref for ref in state.catalogue.bundles if ref.contributor == number]
    times = sorted(
        state.source.arrivals[ref.dataset]
        for ref in own
        if ref.dataset in state.source.arrivals
    )
    facts.append(("merged bundles in use", str(len(own))))
    if times:
        facts.append(("the first came on", day(times[0])))
        facts.append(("the last came on", day(times[-1])))
    shown_names = ", ".join(ref.dataset for ref in own[:10])
    if own:
        rest = f" and {len(own) - 10} more" if len(own) > 10 else ""
        facts.append(("they are", f"{shown_names}{rest}"))
    gone = _withdrawn(state.source.tree, number)
    facts.append(("withdrawn bundles", gone or "none"))
    return facts


def _as_facts(
    proposal: Proposal,
    number: int,
    shown: Contributor | None,
    signer: str,
    *,
    new: bool,
) -> dict[str, Any]:
    author = proposal.author
    return {
        "id": number,
        "new": new,
        "login": None if shown is None else shown.login,
        "author": None if author is None else {"id": author.id, "login": author.login},
        "signed_by": signer or None,
        "keys": [
            {
                "fingerprint": key.fingerprint,
                "added": key.added,
                "not_after": key.not_after,
                "revoked": None
                if key.revoked is None
                else {"at": key.revoked.at, "reason": key.revoked.reason},
            }
            for key in (() if shown is None else shown.keys)
        ],
    }


def _withdrawn(tree: Tree, number: int) -> str:
    """Name a contributor's withdrawn bundles."""
    names = []
    for entry in tree.entries(DATASETS):
        folder, _, name = entry.path.rpartition("/")
        if name != WITHDRAWN:
            continue
        path = f"{folder}/{MANIFEST}"
        with contextlib.suppress(RegistryError):
            if read_manifest(tree.read(path), path).contributor == number:
                names.append(folder.removeprefix(DATASETS))
    return ", ".join(names[:10])
