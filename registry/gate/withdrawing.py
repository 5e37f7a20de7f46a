"""Withdrawals: the one file that takes a merged bundle out of all models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.documents.findings import RegistryError, Severity, code, finding
from registry.documents.names import is_name
from registry.documents.validation import validate
from registry.gate.paths import MANIFEST, WITHDRAWN
from registry.gate.tree import DATASETS
from registry.gate.withdrawal import CODES, Withdrawal, withdrawal_bytes

if TYPE_CHECKING:
    from registry.gate.tree import Tree

__all__ = ["withdrawn"]

UNKNOWN = code(
    "T043",
    Severity.ERROR,
    "There is no such dataset that could be withdrawn.",
    "Give the name of a folder of datasets/; if your copy of the main branch is "
    "behind, fetch it first.",
    "W12",
)
AGAIN = code(
    "T044",
    Severity.ERROR,
    "The dataset is withdrawn already.",
    "There is nothing to do; the reason that was given then stays.",
    "W12",
)


def withdrawn(merged: Tree, dataset: str, reason: str, day: str) -> dict[str, bytes]:
    """The change that withdraws a dataset: exactly one file.

    Args:
        merged: the registry.
        dataset: its id.
        reason: a word that withdrawals know.
        day: the day of the decision, YYYY-MM-DD.

    Raises:
        RegistryError: T043, T044, M032.
    """
    folder = f"{DATASETS}{dataset}/"
    path = folder + WITHDRAWN
    here = {entry.path for entry in merged.entries(folder)} if is_name(dataset) else ()
    if folder + MANIFEST not in here:
        raise RegistryError(finding(UNKNOWN, folder, "it is not merged"))
    if path in here:
        raise RegistryError(finding(AGAIN, path, "the file is there"))
    value = {"schema": "withdrawn/1", "day": day, "reason": reason}
    return {path: withdrawal_bytes(validate(Withdrawal, value, path, CODES))}
