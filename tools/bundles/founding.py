"""Founds a registry: bundles of published facts under a key that nobody keeps.

The key is made in memory, signs the bundles and its own enrolment as contributor 0, and
is gone. Nobody can ever add to these bundles in its name, only withdraw them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.documents.findings import RegistryError, Severity, code, finding
from registry.documents.trust import FOUNDING, trust_path
from tools.bundles.draft import files
from tools.bundles.enrol import enrol
from tools.bundles.pack import place
from tools.bundles.sign import sign_bundle
from tools.bundles.signers import FileSigner

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tools.bundles.draft import Draft

__all__ = ["LOGIN", "found"]

LOGIN = "founding"

FOUNDED = code(
    "L064",
    Severity.ERROR,
    "The registry has been founded already, and the key is gone.",
    "Contribute under your own account's id.",
    "S9",
)


def found(
    drafts: Sequence[Draft],
    root: Path,
    now: float,
    progress: Callable[[str], None] = lambda _: None,
) -> str:
    """Write and sign bundles, and the trust file of contributor 0.

    Args:
        drafts: The bundles, whose contributor is 0.
        root: The registry's checkout, without a founding trust file.
        now: The present, in seconds since 1970, from when on the key is trusted.
        progress: Called with the id of each dataset.

    Returns:
        The fingerprint of the key.

    Raises:
        RegistryError: L052, L053, L064, or a draft is no bundle.

    """
    path = trust_path(FOUNDING)
    if (root / path).exists():
        raise RegistryError(finding(FOUNDED, path, "the file exists"))
    contents = [(draft, files(draft)) for draft in drafts]  # all, before any is written
    signer = FileSigner(Ed25519PrivateKey.generate())
    fingerprint = ""
    for draft, content in contents:
        progress(draft.dataset)
        fingerprint = sign_bundle(place(content, root), signer)
    enrol(root, FOUNDING, LOGIN, signer, now)
    return fingerprint
