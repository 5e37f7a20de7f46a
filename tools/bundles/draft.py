"""A bundle in the making: tables, spec and what the contributor says about them.

``files(draft)`` gives the bytes of everything that will be public, so that they can be
shown and searched before anything is written.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from registry import __version__
from registry.documents import workloads
from registry.documents.canonical import sha256
from registry.documents.findings import RegistryError, Severity, code, finding
from registry.documents.manifest import (
    Days,
    FileEntry,
    Manifest,
    Privacy,
    Source,
    SpecRef,
    Tool,
    manifest_bytes,
    read_manifest,
)
from registry.documents.sketch import sketch
from registry.documents.spec import write_spec
from registry.documents.strict_csv import read_table, write_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from registry.documents.findings import Finding
    from registry.documents.spec import HardwareSpec

__all__ = ["TOOL", "Draft", "Licence", "OwnWorkloads", "files"]

Licence = Literal[
    "CDLA-Permissive-2.0", "CC-BY-4.0", "CC0-1.0", "LicenseRef-published-facts"
]
OwnWorkloads = Literal["none", "withheld", "pseudonymised"]

TOOL: Final = Tool(name="powerkit", version=__version__)
"""What manifests name as the program that made them."""

BAD_NUMBER = code(
    "L050",
    Severity.ERROR,
    "A table holds a number that no table can.",
    "Leave cells empty whose reading failed; infinity is no reading.",
)


@dataclass(frozen=True, slots=True)
class Draft:
    """Everything that a bundle is made of.

    Attributes:
        dataset: The id of the dataset.
        contributor: The numeric id of the account that will sign.
        spec: The machine.
        tables: Frames by table: runs, and samples or levels.
        measured: First and last day.
        licence: Under which terms the data is published.
        own_workloads: What was done with workloads of the contributor's own.
        derived: What was done to raw readings, or None.
        source: Where published data was taken from, or None.
        version: 1, or one more than the version that it replaces.
        previous: The digest of the manifest that it replaces, or None.
        notes: What a person should know that the bundle itself does not say.

    """

    dataset: str
    contributor: int
    spec: HardwareSpec
    tables: Mapping[str, pl.DataFrame]
    measured: Days
    licence: Licence = "CDLA-Permissive-2.0"
    own_workloads: OwnWorkloads = "none"
    derived: Literal["rates", "means"] | None = None
    source: Source | None = None
    version: int = 1
    previous: str | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def profile(self) -> Literal["timeseries", "load-levels"]:
        """The collection profile, which follows from the tables."""
        return "load-levels" if "levels" in self.tables else "timeseries"

    @property
    def folder(self) -> str:
        """The bundle's folder in a registry."""
        return f"datasets/{self.dataset}"

    @property
    def spec_path(self) -> str:
        """The spec's path in a registry."""
        return f"specs/{self.spec.machine}.yaml"


def files(draft: Draft) -> dict[str, bytes]:
    """Return the bytes of every file by its path in a registry, sorted.

    Tables are read back from their canonical bytes, so that what is described is what
    the gate will see.

    Raises:
        RegistryError: C, H and M codes: it can be no bundle. L050.

    """
    result: dict[str, bytes] = {}
    entries: list[FileEntry] = []
    labels: set[str] = set()
    problems: list[Finding] = []
    for table, frame in sorted(draft.tables.items()):
        path = f"{draft.folder}/{table}.csv"
        try:
            data = write_table(frame, table)
            seen = read_table(data, path, table)
        except RegistryError as error:
            problems.extend(error.findings)
            continue
        except ValueError as error:
            problems.append(finding(BAD_NUMBER, path, str(error)))
            continue
        result[path] = data
        entries.append(_entry(table, data, seen))
        if "workload" in seen.columns:
            labels.update(seen["workload"].to_list())
    if problems:
        raise RegistryError(problems)
    spec = write_spec(draft.spec)
    result[draft.spec_path] = spec
    path = f"{draft.folder}/manifest.json"
    result[path] = manifest_bytes(_manifest(draft, spec, entries, labels))
    read_manifest(result[path], path)  # what the gate will say, said now
    return dict(sorted(result.items()))


def _entry(table: str, data: bytes, frame: pl.DataFrame) -> FileEntry:
    return FileEntry.model_construct(
        path=f"{table}.csv",
        bytes=len(data),
        sha256=sha256(data),
        rows=frame.height,
        columns=tuple(frame.columns),
        sketch=() if table == "runs" else sketch(frame),
    )


def _manifest(
    draft: Draft, spec: bytes, entries: list[FileEntry], labels: set[str]
) -> Manifest:
    own = draft.own_workloads
    if own == "none" and any(workloads.is_pseudonym(label) for label in labels):
        own = "pseudonymised"
    return Manifest.model_construct(
        schema_id="bundle/1",
        dataset=draft.dataset,
        version=draft.version,
        previous=draft.previous,
        contributor=draft.contributor,
        spec=SpecRef.model_construct(path=draft.spec_path, sha256=sha256(spec)),
        profile=draft.profile,
        files=tuple(entries),
        licence=draft.licence,
        measured=draft.measured,
        workloads=tuple(sorted(labels)),
        privacy=Privacy(own_workloads=own),
        derived=draft.derived,
        tool=TOOL,
        source=draft.source,
    )
