"""A bundle that was read completely: manifest, spec and tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from registry.documents.manifest import Manifest
    from registry.documents.spec import HardwareSpec

__all__ = ["Bundle"]


@dataclass(frozen=True, slots=True)
class Bundle:
    """What later stages work with; whoever makes one has verified it.

    Attributes:
        manifest: The signed manifest.
        manifest_sha256: The digest of its bytes.
        spec: The spec of the machine that the data was measured on.
        tables: Frames by the name of their table: samples, levels, runs.

    """

    manifest: Manifest
    manifest_sha256: str
    spec: HardwareSpec
    tables: Mapping[str, pl.DataFrame]

    @property
    def dataset(self) -> str:
        """The id of the dataset."""
        return self.manifest.dataset

    @property
    def path(self) -> str:
        """The folder of the bundle."""
        return f"datasets/{self.manifest.dataset}"

    def table(self, name: str) -> pl.DataFrame | None:
        """Return one table, or None if the bundle has no such table."""
        return self.tables.get(name)
