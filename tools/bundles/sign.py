"""Signs a bundle: its manifest, after a look at whether the files are those in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.documents.findings import RegistryError
from registry.documents.manifest import read_manifest
from registry.documents.names import NAMESPACE_BUNDLE
from registry.documents.sshkey import fingerprint, parse_public_key
from registry.gate.contents import check_files
from registry.gate.paths import MANIFEST, SIGNATURE
from tools.bundles.pack import write_file
from tools.bundles.signers import signed

if TYPE_CHECKING:
    from pathlib import Path

    from tools.bundles.signers import Signer

__all__ = ["sign_bundle"]


def sign_bundle(folder: Path, signer: Signer) -> str:
    """Write ``manifest.json.sig`` into a bundle's folder.

    Args:
        folder: The bundle's folder.
        signer: Holds the key.

    Returns:
        The fingerprint of the key that signed.

    Raises:
        RegistryError: The manifest or the files are not in order (J, M codes), or the
            key did not sign (L, S codes); then nothing is written.
        OSError: A file cannot be read or written.

    """
    shown = f"datasets/{folder.resolve().name}"
    data = (folder / MANIFEST).read_bytes()
    manifest = read_manifest(data, f"{shown}/{MANIFEST}")
    contents = {
        f"{shown}/{entry.name}": entry.read_bytes()
        for entry in sorted(folder.iterdir())
        if not entry.name.startswith(".")
    }
    problems = check_files(manifest, contents, f"{shown}/")
    if problems:
        raise RegistryError(problems)
    text = signed(signer, data, NAMESPACE_BUNDLE, f"{shown}/{SIGNATURE}")
    write_file(folder / SIGNATURE, text.encode("ascii"))
    return fingerprint(parse_public_key(signer.line).blob)
