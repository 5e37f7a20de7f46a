"""Imports SPECpower_ssj2008 results: one bundle each, what cannot be used is named."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from registry.documents.findings import RegistryError
from tools.bundles.draft import files
from tools.bundles.founding import found
from tools.bundles.pack import place
from tools.importers.disclosure import result_id
from tools.importers.sources import chosen, read_ids, read_sources
from tools.importers.specpower import draft_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from registry.documents.findings import Finding
    from tools.bundles.draft import Draft

__all__ = ["Outcome", "import_results", "wanted_ids"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of the results.

    Attributes:
        written: Ids of the datasets that were written.
        findings: What is wrong with the others.
        key: The fingerprint of the key that signed them, if the registry was founded.

    """

    written: tuple[str, ...]
    findings: tuple[Finding, ...]
    key: str = ""


def wanted_ids(ids: Sequence[str], ids_file: Path | None) -> tuple[str, ...]:
    """Return the ids that the user named one by one and in a file.

    Raises:
        RegistryError: L011.

    """
    listed = () if ids_file is None else read_ids(ids_file.read_text("utf-8"), "ids")
    named = (result_id(one, "--id") for one in ids)
    return tuple(dict.fromkeys([*named, *listed]))


def import_results(
    sources: Sequence[Path],
    wanted: tuple[str, ...],
    root: Path,
    contributor: int,
    *,
    founding: bool = False,
) -> Outcome:
    """Write a bundle for every result that can be used.

    Args:
        sources: See ``read_sources``.
        wanted: Ids of results; all if empty.
        root: The registry's checkout.
        contributor: Who will sign; no matter if it is founded.
        founding: Sign with a key that is thrown away. Then it is all or nothing.

    Raises:
        RegistryError: L011, nothing can be read, or a wanted result is nowhere.

    """
    results, problems = chosen(read_sources(sources, frozenset(wanted)), wanted)
    drafts: list[Draft] = []
    for result in results:
        try:
            drafts.append(draft_of(result, contributor))
        except RegistryError as error:
            problems.extend(error.findings)
    if founding:
        if problems:
            return Outcome((), tuple(problems))
        key = found(drafts, root, time.time())
        return Outcome(tuple(draft.dataset for draft in drafts), (), key)
    written: list[str] = []
    for draft in drafts:
        try:
            place(files(draft), root)
        except RegistryError as error:
            problems.extend(error.findings)
        else:
            written.append(draft.dataset)
    return Outcome(tuple(written), tuple(problems))
