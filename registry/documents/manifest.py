"""The manifest of a bundle: the one document that a contributor signs."""

from __future__ import annotations

import datetime as dt
import json
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StrictInt, model_validator

from registry.documents import limits, strict_json, workloads
from registry.documents.findings import RegistryError, Severity, code, finding
from registry.documents.manifest_agreement import disagreements
from registry.documents.names import NAME_PATTERN, REGISTRY, path_problem
from registry.documents.validation import (
    Document,
    DocumentCodes,
    contradictions,
    validate,
)

__all__ = [
    "Days",
    "FileEntry",
    "Manifest",
    "ObjectRef",
    "Privacy",
    "Source",
    "SpecRef",
    "Tool",
    "manifest_bytes",
    "read_manifest",
]

CODES = DocumentCodes(
    unknown=code(
        "M001",
        Severity.ERROR,
        "A manifest holds a key that no manifest has.",
        "Remove the key, or write the manifest with `powerkit pack`.",
        "B7",
    ),
    missing=code(
        "M002",
        Severity.ERROR,
        "A manifest lacks a key.",
        "Write the manifest with `powerkit pack`.",
        "B7",
    ),
    value=code(
        "M003",
        Severity.ERROR,
        "A value in a manifest is not allowed.",
        "Mend the value at its source and write the manifest with `powerkit pack`.",
        "B1",
        "B14",
        "S3",
    ),
    contradiction=code(
        "M004",
        Severity.ERROR,
        "Values of a manifest contradict each other.",
        "Write the manifest with `powerkit pack`.",
        "B7",
        "S4",
    ),
)
NOT_CANONICAL = code(
    "M005",
    Severity.ERROR,
    "A manifest is not in canonical form.",
    "Write the manifest with `powerkit pack` and sign exactly those bytes.",
    "S1",
)
NOT_MAPPING = code(
    "M006",
    Severity.ERROR,
    "A manifest is no JSON object.",
    "Write the manifest with `powerkit pack`.",
    "B11",
)


def _safe_path(path: str) -> str:
    problem = path_problem(path)
    if problem is not None:
        raise ValueError(problem)
    return path


def _day(text: str) -> str:
    day = dt.date.fromisoformat(text)
    if day.year < 2000:  # no server of interest was measured before
        message = "the day is before the year 2000"
        raise ValueError(message)
    return text


Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Name = Annotated[str, Field(pattern=NAME_PATTERN), AfterValidator(_safe_path)]
SafePath = Annotated[str, Field(max_length=256), AfterValidator(_safe_path)]
Day = Annotated[
    str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"), AfterValidator(_day)
]
ColumnName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
RowDigest = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
Natural = Annotated[StrictInt, Field(ge=0, le=limits.INTEGER)]
Positive = Annotated[StrictInt, Field(ge=1, le=limits.INTEGER)]
Slug = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.+-]{0,63}$")]


class SpecRef(Document):
    """The hardware spec that the bundle was measured on, by path and digest."""

    path: SafePath
    sha256: Digest


class FileEntry(Document):
    """One table of the bundle.

    Attributes:
        path: The name of the file in the bundle's folder.
        bytes: Its size.
        sha256: Its digest.
        rows: Rows without the header.
        columns: The header, in order.
        sketch: See ``registry.documents.sketch``; empty for runs.csv.

    """

    path: Literal["samples.csv", "levels.csv", "runs.csv"]
    bytes: Annotated[StrictInt, Field(ge=1, le=limits.FILE_BYTES)]
    sha256: Digest
    rows: Annotated[StrictInt, Field(ge=1, le=limits.ROWS)]
    columns: Annotated[tuple[ColumnName, ...], Field(max_length=limits.COLUMNS)]
    sketch: Annotated[tuple[RowDigest, ...], Field(max_length=limits.SKETCH)] = ()


class ObjectRef(Document):
    """A large recording outside git; reserved for later, none is accepted yet."""

    url: Annotated[str, Field(pattern=r"^https://[!-~]{1,500}$")]
    bytes: Positive
    sha256: Digest


class Days(Document):
    """When the data was measured, in whole days so that no habit can be read from it.

    Attributes:
        first: ISO day; ``from`` in the document.
        last: ISO day; ``to`` in the document.

    """

    first: Day = Field(alias="from")
    last: Day = Field(alias="to")


class Privacy(Document):
    """What was done with workloads of the contributor's own.

    ``none``: none ran; ``withheld``: their rows were left out; ``pseudonymised``: they
    are in the data under names of the form ``w_`` and twelve letters or digits.
    """

    own_workloads: Literal["none", "withheld", "pseudonymised"]


class Tool(Document):
    """The program that recorded or converted the data."""

    name: Slug
    version: Annotated[str, Field(pattern=r"^[0-9][0-9a-z.+-]{0,31}$")]


class Source(Document):
    """Where published data was taken from."""

    kind: Literal["spec-ssj2008", "kepler-model-db", "kepler-model-server", "other"]
    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$")]
    published: Day


class Manifest(Document):
    """What a contributor signs: which files, of which machine, under which terms."""

    schema_id: Literal["bundle/1"] = Field(alias="schema")
    registry: Literal["power-dataset-registry"] = REGISTRY
    dataset: Name
    version: Annotated[StrictInt, Field(ge=1, le=1_000_000)]
    previous: Digest | None
    contributor: Natural
    spec: SpecRef
    profile: Literal["timeseries", "load-levels"]
    files: Annotated[
        tuple[FileEntry, ...], Field(min_length=1, max_length=limits.BUNDLE_FILES)
    ]
    objects: Annotated[tuple[ObjectRef, ...], Field(max_length=0)] = ()
    licence: Literal[
        "CDLA-Permissive-2.0", "CC-BY-4.0", "CC0-1.0", "LicenseRef-published-facts"
    ]
    measured: Days
    workloads: Annotated[
        tuple[Annotated[str, Field(pattern=workloads.LABEL_PATTERN)], ...],
        Field(min_length=1, max_length=limits.COLUMNS),
    ]
    privacy: Privacy
    derived: Literal["rates", "means"] | None
    tool: Tool
    source: Source | None

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        problems = list(disagreements(self))
        if problems:
            raise contradictions(problems)
        return self

    def file(self, path: str) -> FileEntry | None:
        """Return the entry of a file, or None if the bundle has no such file."""
        return next((entry for entry in self.files if entry.path == path), None)


def read_manifest(data: bytes, path: str) -> Manifest:
    """Read a manifest; its bytes must be exactly the canonical ones.

    Raises:
        RegistryError: J codes of ``read_json`` and M001 to M006.

    """
    value = strict_json.read_json(data, path, max_bytes=limits.MANIFEST_BYTES)
    if not isinstance(value, dict):
        raise RegistryError(finding(NOT_MAPPING, path, "the top level is no object"))
    manifest = validate(Manifest, value, path, CODES)
    if data != manifest_bytes(manifest):
        what = "the bytes differ from the canonical ones of the same manifest"
        raise RegistryError(finding(NOT_CANONICAL, path, what))
    return manifest


def manifest_bytes(manifest: Manifest) -> bytes:
    """Return the canonical bytes of a manifest, which are what is signed."""
    value = manifest.model_dump(mode="json", by_alias=True)
    # The patterns of the model leave ASCII texts and bounded integers only, for which
    # the plain encoder is canonical; it halves the time to read a thousand manifests.
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return text.encode("ascii") + b"\n"
