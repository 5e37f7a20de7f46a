"""Manifests of models and data: what a thing is, and where its files may be had.

schema: asset-manifest/1
name: squeezenet
version: "1.1"
licence: Apache-2.0
files:
- path: model.onnx
urls:
- https://example.org/squeezenet1.1.onnx
sha256: 0123…
bytes: 4956208
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Annotated, Final, Literal, Self

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from registry.documents.findings import Severity, code
from registry.documents.strict_yaml import Location, read_yaml
from registry.documents.validation import (
    Document,
    DocumentCodes,
    contradictions,
    validate,
)
from tools.assets.contents import FILE_BYTES
from tools.assets.published import Digest, path_problem

__all__ = [
    "LATEST",
    "SCHEMA",
    "Asset",
    "AssetFile",
    "Manifest",
    "ManifestFile",
    "Output",
    "Parameters",
    "asset_of",
    "canonical_name",
    "read_manifest",
]

SCHEMA: Final = "asset-manifest/1"
"""What the key `schema` of a manifest says."""
LATEST: Final = "latest"
"""The version of a manifest that has none, as in TRIMS."""

_CODES: Final = DocumentCodes(
    unknown=code(
        "A020",
        Severity.ERROR,
        "A manifest has a key that nobody declared.",
        "Remove it; `powerkit assets schema` lists the keys.",
    ),
    missing=code(
        "A021",
        Severity.ERROR,
        "A manifest lacks a key.",
        "Add it; `powerkit assets schema` lists the keys.",
    ),
    value=code(
        "A022",
        Severity.ERROR,
        "A manifest has a value that cannot be.",
        "Mend the value at the named line.",
    ),
    contradiction=code(
        "A023",
        Severity.ERROR,
        "A manifest names files that cannot be had or kept.",
        "Give each file a URL, and a path of its own inside the folder of its thing.",
    ),
)

Words = Annotated[str, StringConstraints(max_length=4000)]
Line = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Url = Annotated[str, StringConstraints(pattern=r"^[!-~]{1,2000}$")]
Version = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+: -]{0,39}$")
]


def _several(value: object) -> object:
    """One number is a list of one."""
    return [value] if isinstance(value, str | int | float) else value


Numbers = Annotated[
    tuple[float, ...], Field(max_length=4096), BeforeValidator(_several)
]


class Parameters(Document):
    """An input or output of a model.

    Attributes:
        type: what it is, for example "image".
        name: its name in the model's graph.
        description: a text for people.
        dimensions: its shape, without the batch.
        mean: what is subtracted: one number for all channels, or one for each.
        scale: what it is multiplied with then, in the same form.
        labels: the path of the file that names its values.

    """

    type: Line
    name: Line | None = None
    description: Words = ""
    dimensions: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(max_length=8)]
    mean: Numbers | None = None
    scale: Numbers | None = None
    labels: Line | None = None


class Output(Parameters):
    """An output of a model, whose shape need not be known."""

    dimensions: Annotated[
        tuple[Annotated[int, Field(ge=1)], ...], Field(max_length=8)
    ] = ()


class Framework(Document):
    """What a model is made for."""

    name: Line
    version: Line | None = None


class ManifestFile(Document):
    """A file of a thing, and where it may be had.

    Attributes:
        path: where it is kept, in the folder of the thing.
        urls: its mirrors, in the order in which they are tried; a path is one beside
            the manifest.
        sha256: its digest.
        bytes: its size.

    """

    path: Line
    urls: Annotated[tuple[Url, ...], Field(max_length=16)]
    sha256: Digest
    bytes: Annotated[int, Field(ge=0, le=FILE_BYTES)]


class Manifest(Document):
    """A model or a set of data, in our own form."""

    schema_: Literal["asset-manifest/1"] = Field(alias="schema")
    name: Annotated[
        str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._:+-]{0,79}$")
    ]
    version: Version = LATEST
    description: Words = ""
    licence: Line
    references: Annotated[tuple[Line, ...], Field(max_length=50)] = ()
    framework: Framework | None = None
    inputs: Annotated[tuple[Parameters, ...], Field(max_length=64)] = ()
    outputs: Annotated[tuple[Output, ...], Field(max_length=64)] = ()
    files: Annotated[tuple[ManifestFile, ...], Field(max_length=1000)]
    attributes: Annotated[dict[Line, Line], Field(max_length=64, default_factory=dict)]
    large: bool = False
    hidden: bool = False

    @model_validator(mode="after")
    def _keeps(self) -> Self:
        problems = _path_problems([file.path for file in self.files])
        if not self.files:
            problems.append((("files",), "files: there is none"))
        for number, file in enumerate(self.files):
            if not file.urls:
                place = ("files", number, "urls")
                problems.append((place, f"files[{number}].urls: there is none"))
        if problems:
            raise contradictions(problems)
        return self


@dataclass(frozen=True, slots=True)
class AssetFile:
    """A file of a thing, as far as it is known.

    Attributes:
        path: where it is kept, in the folder of the thing.
        urls: its mirrors, in the order in which they are tried.
        sha256: its digest, or None if neither manifest nor lock has it.
        bytes: its size, or None.
        md5: an MD5 that TRIMS's manifest has.

    """

    path: str
    urls: tuple[str, ...]
    sha256: str | None = None
    bytes: int | None = None
    md5: str | None = None


@dataclass(frozen=True, slots=True)
class Asset:
    """A model or a set of data of a manifest of whatever form.

    Attributes:
        name: its name.
        version: its version.
        licence: under which terms it may be used; "" if nobody says.
        files: its files.
        manifest: where the manifest is.
        description: a text for people.
        references: papers and pages.
        framework: what a model is made for, as name and version.
        inputs: what a model takes.
        outputs: what it gives.
        attributes: whatever else is said of it.
        large: whether it is fetched on request only, since it is large.
        hidden: whether it is fetched on request only, for another reason.

    """

    name: str
    version: str
    licence: str
    files: tuple[AssetFile, ...]
    manifest: Path
    description: str = ""
    references: tuple[str, ...] = ()
    framework: tuple[str, str | None] | None = None
    inputs: tuple[Parameters, ...] = ()
    outputs: tuple[Output, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)
    large: bool = False
    hidden: bool = False

    @property
    def canonical(self) -> str:
        """Its canonical name, which is that of its folder too."""
        return canonical_name(self.name, self.version)

    @property
    def bytes(self) -> int | None:
        """Size of all files together, or None if one is unknown."""
        sizes = [file.bytes for file in self.files]
        return None if None in sizes else sum(size or 0 for size in sizes)


def canonical_name(name: str, version: str) -> str:
    """Return a name as TRIMS makes it: `SqueezeNet`, `1.0` is `squeezenet_1.0`."""
    text = f"{name.lower()}:{version or LATEST}"
    for mark in (":", " ", "-"):
        text = text.replace(mark, "_")
    return text


def read_manifest(data: bytes, path: Path) -> Asset:
    """Read a manifest of our own form.

    Raises:
        RegistryError: Y001 to Y008, A020 to A023, all at once.

    """
    where = os.fspath(path)
    document = read_yaml(data, where, comments=True)
    manifest = validate(Manifest, document.value, where, _CODES, document.lines)
    return asset_of(manifest, path)


def asset_of(manifest: Manifest, path: Path) -> Asset:
    """Take a manifest's facts; paths of mirrors are relative to the manifest."""
    kind = manifest.framework
    return Asset(
        name=manifest.name,
        version=manifest.version,
        licence=manifest.licence,
        files=tuple(
            AssetFile(
                file.path,
                tuple(_placed(url, path.parent) for url in file.urls),
                file.sha256,
                file.bytes,
            )
            for file in manifest.files
        ),
        manifest=path,
        description=manifest.description,
        references=manifest.references,
        framework=None if kind is None else (kind.name, kind.version),
        inputs=manifest.inputs,
        outputs=manifest.outputs,
        attributes=manifest.attributes,
        large=manifest.large,
        hidden=manifest.hidden,
    )


def _placed(url: str, folder: Path) -> str:
    return url if "://" in url else os.fspath(folder / PurePosixPath(url))


def _path_problems(paths: list[str]) -> list[tuple[Location, str]]:
    """Say which files cannot be kept: outside, twice, or where a folder has to be."""
    problems: list[tuple[Location, str]] = []
    folders = {
        path[:end].lower()
        for path in paths
        for end, mark in enumerate(path)
        if mark == "/"
    }
    seen: set[str] = set()
    for number, path in enumerate(paths):
        what = path_problem(path)
        if what is None and path.lower() in seen:
            what = "another file has this path, but for capitals"
        if what is None and path.lower() in folders:
            what = "another file has this path as its folder"
        seen.add(path.lower())
        if what is not None:
            place = ("files", number, "path")
            problems.append((place, f"files[{number}].path: {what}"))
    return problems
