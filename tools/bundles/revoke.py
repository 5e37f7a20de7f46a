"""Revokes a key in its contributor's trust file; nothing takes that back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.gate.directory_tree import directory_tree
from registry.gate.trust_changes import revoked
from tools.bundles.pack import write_file

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["revoke"]


def revoke(root: Path, id_: int, fingerprint: str, reason: str, at: float) -> Path:
    """Mark a key as revoked from a time on.

    Args:
        root: The registry's checkout.
        id_: The numeric id of the GitHub account.
        fingerprint: The key's, as OpenSSH prints it (``SHA256:…``).
        reason: A word that trust files know.
        at: Since when, in seconds since 1970.

    Returns:
        The trust file.

    Raises:
        RegistryError: L067, K codes; then nothing is written.

    """
    changed = revoked(directory_tree(root), id_, fingerprint, reason, at)
    ((path, data),) = changed.items()
    write_file(root / path, data)
    return root / path
