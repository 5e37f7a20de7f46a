"""What a contributor should look at before anything becomes public."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from registry.documents.findings import RegistryError, Severity, code, finding
from registry.documents.manifest import read_manifest
from registry.documents.spec import read_spec
from registry.gate.leaks import local_leaks
from registry.gate.privacy import manifest_texts, spec_texts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

__all__ = ["check_leaks", "published_texts", "review"]

LEAK = code(
    "L051",
    Severity.ERROR,
    "A file of the bundle would name the machine it was made on, its network or users.",
    "Remove the name from the spec or the answers. If the word names nobody here, tell"
    " so with `--not-a-name WORD`.",
    "B14",
)


def published_texts(files: Mapping[str, bytes]) -> dict[str, list[str]]:
    """Return every distinct text of a bundle with the places where it stands.

    Digests are left out: they are computed and say nothing. Numbers are no texts.

    Args:
        files: The files of a bundle as ``draft.files`` gives them.

    """
    found: dict[str, list[str]] = {}
    for path, data in files.items():
        for text, place in _texts(path, data):
            places = found.setdefault(text, [])
            if place not in places:
                places.append(place)
    return dict(sorted(found.items()))


def review(files: Mapping[str, bytes]) -> str:
    """Return a list for people: sizes of files, then every text and where it is."""
    out = io.StringIO()
    out.write("These files will be public:\n")
    for path, data in files.items():
        out.write(f"  {len(data):>10,} bytes  {path}\n")
    out.write("These are all texts in them (tables hold numbers besides):\n")
    for text, places in published_texts(files).items():
        more = f" and {len(places) - 2} more" if len(places) > 2 else ""
        out.write(f"  {text!r}: {', '.join(places[:2])}{more}\n")
    return out.getvalue()


def check_leaks(files: Mapping[str, bytes], identities: Collection[str]) -> None:
    """Search the very bytes for names of this machine.

    Raises:
        RegistryError: L051, every name and the file it is in.

    """
    found = [
        finding(LEAK, path, f'"{name}" is a name of this machine or its users')
        for path, data in files.items()
        for name in local_leaks(data, identities)
    ]
    if found:
        raise RegistryError(found)


def _texts(path: str, data: bytes) -> Iterator[tuple[str, str]]:
    name = path.rpartition("/")[2]
    if name == "manifest.json":
        for field, text in manifest_texts(read_manifest(data, path)).items():
            yield text, f"{name} {field}"
    elif path.startswith("specs/"):
        for field, text in spec_texts(read_spec(data, path)).items():
            yield text, f"spec {field}"
    else:
        yield from _cells(name, data)


def _cells(name: str, data: bytes) -> Iterator[tuple[str, str]]:
    header, _, rows = data.decode("ascii").partition("\n")
    columns = header.split(",")
    for column in columns:
        yield column, f"{name} header"
    if name != "runs.csv":
        return  # the other tables have no text columns
    for row in rows.splitlines():
        for column, cell in zip(columns, row.split(","), strict=True):
            if cell and not cell.lstrip("-").replace(".", "", 1).isdigit():
                yield cell, f"{name} {column}"
