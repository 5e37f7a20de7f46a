"""A folder that appears all at once: written beside its place, then renamed into it."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from registry.documents.canonical import sha256
from registry.documents.findings import RegistryError, Severity, code, finding
from registry.publish.index import Asset

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["Staging", "sums_bytes"]

NOT_OURS = code(
    "R020",
    Severity.ERROR,
    "A build would overwrite a folder that is no release.",
    "Name an empty or new folder, or remove what is there yourself.",
)


class Staging:
    """Files of a release on their way, with the size and digest of each.

    Attributes:
        out: Where the release will be.
        folder: Where it is written until it is complete.
    """

    def __init__(self, out: Path) -> None:
        """Begin a release; what an interrupted build left is cleared away.

        Raises:
            RegistryError: R020.

        """
        self.out = out
        self.folder = out.parent / f".{out.name}.building"
        self._old = out.parent / f".{out.name}.replaced"
        self._assets: dict[str, Asset] = {}
        recover(out)
        if out.exists() and not (out / "index.json").is_file() and _filled(out):
            what = "it exists and holds no index.json of a release"
            raise RegistryError(finding(NOT_OURS, out.name, what))
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)

    def write(self, path: str, data: bytes) -> None:
        """Add one file."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        self.register(path, len(data), sha256(data))

    def register(self, path: str, size: int, digest: str) -> None:
        """Record a file that was written into the folder otherwise."""
        self._assets[path] = Asset(path=path, bytes=size, sha256=digest)

    @property
    def assets(self) -> tuple[Asset, ...]:
        """All files so far, sorted by path."""
        return tuple(self._assets[path] for path in sorted(self._assets))

    def finish(self, index: bytes) -> None:
        """Write index and sums, and put the folder in place of an older release."""
        self.write("index.json", index)
        (self.folder / "SHA256SUMS").write_bytes(sums_bytes(self.assets))
        shutil.rmtree(self._old, ignore_errors=True)
        if self.out.exists():
            os.rename(self.out, self._old)  # noqa: PTH104 - a step that tests interrupt
        os.rename(self.folder, self.out)  # noqa: PTH104 - likewise
        shutil.rmtree(self._old, ignore_errors=True)

    def abandon(self) -> None:
        """Remove what was written."""
        shutil.rmtree(self.folder, ignore_errors=True)


def recover(out: Path) -> None:
    """Put back the older release if a build was killed between its two renames."""
    old = out.parent / f".{out.name}.replaced"
    if old.is_dir() and not out.exists():
        os.rename(old, out)  # noqa: PTH104 - as in finish


def sums_bytes(assets: Iterable[Asset]) -> bytes:
    """Write SHA256SUMS as ``sha256sum --check`` reads it."""
    lines = (f"{asset.sha256}  {asset.path}\n" for asset in assets)
    return "".join(lines).encode("ascii")


def _filled(folder: Path) -> bool:
    return not folder.is_dir() or any(folder.iterdir())
