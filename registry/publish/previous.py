"""An earlier release as a source of models that need not be fitted again."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from registry.documents import canonical
from registry.documents.findings import RegistryError, Severity, code, finding
from registry.documents.strict_json import read_json
from registry.modelling.digest import sources_digest
from registry.modelling.model import Point
from registry.modelling.plan import PreviousRelease
from registry.publish.index import INDEX_BYTES, Index, read_index

if TYPE_CHECKING:
    from pathlib import Path

    from registry.publish.index import MachineEntry, ModelEntry

__all__ = ["HELD_OUT", "Previous", "artifact_digest", "held_out_line", "open_previous"]

HELD_OUT: Final = "held_out.jsonl"
"""The file of a release with held-out rows of every model: measured and predicted."""

DAMAGED = code(
    "R021",
    Severity.ERROR,
    "A file of the earlier release is not the one that its index names.",
    "Build without `--since`, or fetch the earlier release again.",
    "P2",
    "P3",
)

_ARTIFACT_SOURCES: Final = {
    "registry.publish": ("assets.py",),
    "registry.publish.kepler": (
        "archives.py",
        "boosters.py",
        "curves.py",
        "node_types.py",
        "vocabulary.py",
        "weights.py",
    ),
}
_LINE_BYTES: Final = 4 * 1024 * 1024


@functools.cache
def artifact_digest() -> str:
    """Give the SHA-256 (hex) of the code that writes models into their files."""
    return sources_digest(_ARTIFACT_SOURCES)


@dataclass(frozen=True, slots=True)
class Previous:
    """An earlier release in a local folder.

    Attributes:
        folder: Where it is.
        data: The bytes of its index.
        index: Its index.
    """

    folder: Path
    data: bytes
    index: Index

    def for_plan(self) -> PreviousRelease:
        """Say what it holds in the words of the plan."""
        manifests = {b.dataset: b.manifest_sha256 for b in self.index.bundles}
        return PreviousRelease(
            models={m.id: m.input_digest for m in self.index.models},
            classes={b.spec_sha256: b.class_key for b in self.index.bundles},
            class_rule=self.index.class_rule,
            bundles={
                m.id: {name: manifests[name] for name in m.bundles}
                for m in self.index.models
            },
        )

    def machines(self) -> dict[str, MachineEntry]:
        """Give the machine of each spec that it knows, by the spec's digest."""
        return {b.spec_sha256: b.attributes for b in self.index.bundles}

    def digests(self) -> dict[str, str]:
        """Give the digest of each of its files."""
        return {asset.path: asset.sha256 for asset in self.index.assets}

    def models(self) -> dict[str, ModelEntry]:
        """Give its models by id."""
        return {model.id: model for model in self.index.models}

    def held_out(self) -> dict[str, tuple[Point, ...]]:
        """Read the held-out rows of each of its models.

        Raises:
            RegistryError: R021.

        """
        data = read_checked(self.folder, HELD_OUT, self.digests().get(HELD_OUT, ""))
        rows: dict[str, tuple[Point, ...]] = {}
        for line in data.splitlines():
            value: Any = read_json(line, HELD_OUT, max_bytes=_LINE_BYTES, floats=True)
            rows[value["id"]] = tuple(Point(**point) for point in value["points"])
        return rows

    def is_complete(self) -> bool:
        """Tell whether every file is there with its size; digests are not computed."""
        for asset in self.index.assets:
            path = self.folder / asset.path
            if not path.is_file() or path.stat().st_size != asset.bytes:
                return False
        return (self.folder / "SHA256SUMS").is_file()


def open_previous(folder: Path) -> Previous | None:
    """Open an earlier release whose files can be taken over.

    Returns:
        None if there is no release, or one whose files other code has written.

    Raises:
        RegistryError: R010, there is an index that cannot be read.

    """
    path = folder / "index.json"
    if not path.is_file():
        return None
    with path.open("rb") as file:
        data = file.read(INDEX_BYTES + 1)
    index = read_index(data, "index.json")
    if index.code.get("artifacts") != artifact_digest():
        return None
    return Previous(folder, data, index)


def read_checked(folder: Path, path: str, digest: str) -> bytes:
    """Read a file of a release and compare it with its digest.

    Raises:
        RegistryError: R021.

    """
    try:
        data = (folder / path).read_bytes()
    except OSError:
        raise RegistryError(finding(DAMAGED, path, "it is missing")) from None
    if canonical.sha256(data) != digest:
        raise RegistryError(finding(DAMAGED, path, "its digest is another one"))
    return data


def held_out_line(model: str, points: tuple[Point, ...]) -> bytes:
    """Write the held-out rows of one model."""
    rows = [
        {
            "features": dict(point.features),
            "held_out": dict(point.held_out),
            "watts": dict(point.watts),
        }
        for point in points
    ]
    return canonical.encode_numbers({"id": model, "points": rows})
