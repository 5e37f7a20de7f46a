"""What stands beside everything that is published, and says what it is.

The thing is at `<digest>/<name>`, this at `<digest>/<name>.published.json`. The digest
of a file is its SHA-256; that of a folder is the SHA-256 of the list of its files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Final, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from registry.documents.canonical import encode, sha256
from registry.documents.findings import RegistryError, Severity, code, finding
from registry.documents.strict_json import read_json
from registry.documents.strict_yaml import Location
from registry.documents.validation import (
    Document,
    DocumentCodes,
    contradictions,
    validate,
)
from tools.assets.contents import DEPTH, FILE_BYTES, FILES, File, name_problem

__all__ = [
    "SIDECAR_BYTES",
    "SUFFIX",
    "Digest",
    "Listed",
    "Sidecar",
    "described",
    "folder_digest",
    "listed",
    "path_problem",
    "read_sidecar",
    "write_sidecar",
]

SUFFIX: Final = ".published.json"
"""What the name of a sidecar ends with."""
SIDECAR_BYTES: Final = 8 << 20
"""The largest sidecar."""

_CODES: Final = DocumentCodes(
    unknown=code(
        "A007",
        Severity.ERROR,
        "A description of something published has a field that nobody declared.",
        "Publish it again with this version of the kit.",
    ),
    missing=code(
        "A008",
        Severity.ERROR,
        "A description of something published lacks a field.",
        "Publish it again with this version of the kit.",
    ),
    value=code(
        "A009",
        Severity.ERROR,
        "A description of something published has a value that cannot be.",
        "Publish it again with this version of the kit.",
    ),
    contradiction=code(
        "A010",
        Severity.ERROR,
        "A description of something published contradicts itself.",
        "Do not use it: it was changed, or is of another thing. Publish it again.",
    ),
)

Digest = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
Size = Annotated[int, Field(strict=True, ge=0, le=FILE_BYTES * FILES)]
Words = Annotated[str, StringConstraints(max_length=2000)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=4096)]


class Listed(Document):
    """A file of a published folder."""

    path: Name
    bytes: Size
    sha256: Digest


class Sidecar(Document):
    """What a published thing is.

    Attributes:
        schema_: the form of this document.
        id: what its maker calls it, as the id of a run or trace; else its digest.
        name: its name, which the URL ends with.
        type: what kind of thing it is, as "trace", "run", "file" or "folder".
        bytes: size of all files together.
        sha256: its digest.
        created: when it was published, in UTC.
        description: a text of whoever published it.
        media_type: for example "application/json"; "inode/directory" for a folder.
        files: the files of a folder, sorted by path; None for a file.

    """

    schema_: Literal["published/1"] = Field(alias="schema", default="published/1")
    id: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    name: Name
    type: Annotated[str, StringConstraints(pattern="^[a-z][a-z0-9-]{0,39}$")]
    bytes: Size
    sha256: Digest
    created: Annotated[
        str,
        StringConstraints(
            pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"
        ),
    ]
    description: Words = ""
    media_type: Annotated[str, StringConstraints(pattern=r"^[!-~]{1,100}$")]
    files: Annotated[tuple[Listed, ...], Field(max_length=FILES)] | None = None

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        problems: list[tuple[Location, str]] = []
        if (what := name_problem(self.name)) is not None:
            problems.append((("name",), f"name: {what}"))
        if self.files is not None:
            problems.extend(_of_files(self, self.files))
        if problems:
            raise contradictions(problems)
        return self


def listed(files: Iterable[File]) -> tuple[Listed, ...]:
    """List files as a sidecar does."""
    return tuple(
        Listed(path=file.name, bytes=file.bytes, sha256=file.sha256)
        for file in sorted(files, key=lambda file: file.name)
    )


def folder_digest(files: Sequence[Listed]) -> str:
    """Return the digest of a folder: that of its list as canonical JSON."""
    return sha256(encode([file.model_dump() for file in files]))


def path_problem(path: str) -> str | None:
    """Say why a path of a published folder must not be opened, or None."""
    segments = path.split("/")
    if len(segments) > DEPTH + 1:
        return f"more than {DEPTH} folders in each other"
    return next((what for part in segments if (what := name_problem(part))), None)


def described(value: object, path: str) -> Sidecar:
    """Make a sidecar of its fields.

    Raises:
        RegistryError: A007 to A010, every field that cannot be.

    """
    return validate(Sidecar, value, path, _CODES)


def read_sidecar(data: bytes, path: str) -> Sidecar:
    """Read a sidecar.

    Raises:
        RegistryError: J001 to J007, A007 to A010; nothing else, whatever the bytes.

    """
    value = read_json(data, path, max_bytes=SIDECAR_BYTES)
    return described(value, path)


def write_sidecar(sidecar: Sidecar) -> bytes:
    """Write a sidecar as canonical JSON.

    Raises:
        RegistryError: A009, a text of it has no canonical form.

    """
    value = sidecar.model_dump(mode="json", by_alias=True, exclude_none=True)
    try:
        return encode(value)
    except ValueError as error:
        raise RegistryError(finding(_CODES.value, sidecar.name, str(error))) from None


def _of_files(
    sidecar: Sidecar, files: tuple[Listed, ...]
) -> Iterable[tuple[Location, str]]:
    for number, file in enumerate(files):
        if (what := path_problem(file.path)) is not None:
            yield ("files", number), f"files[{number}]: {what}"
    paths = [file.path for file in files]
    folders = {
        path[:end] for path in paths for end in range(len(path)) if path[end] == "/"
    }
    if paths != sorted(set(paths)) or folders & set(paths):
        yield ("files",), "files: they are not sorted, or one is there twice"
    if sum(file.bytes for file in files) != sidecar.bytes:
        yield ("bytes",), "bytes: the files together have another size"
    elif not any(path_problem(path) for path in paths) and (
        folder_digest(files) != sidecar.sha256
    ):
        yield ("sha256",), "sha256: the list of files has another digest"
