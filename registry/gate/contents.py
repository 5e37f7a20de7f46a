"""Whether the files of a bundle are what its manifest says, down to the byte.

The manifest says what should be there, the folder what is: the two are compared as sets
before a table is read, and what can be recomputed is (threat-model.md B7).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.documents.canonical import sha256
from registry.documents.findings import RegistryError, Severity, code, finding
from registry.documents.sketch import sketch
from registry.documents.strict_csv import read_table
from registry.gate.paths import MANIFEST, SIGNATURE, WITHDRAWN

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from registry.documents.findings import Finding
    from registry.documents.manifest import FileEntry, Manifest

__all__ = ["check_files", "check_tables"]

_REPACK = "Run `powerkit pack` again, which describes the files as they are, then sign."

UNLISTED = code(
    "M021",
    Severity.ERROR,
    "A file lies in the bundle's folder that its manifest does not list.",
    "Remove the file, or pack and sign the bundle again with it.",
    "B7",
)
ABSENT = code(
    "M022",
    Severity.ERROR,
    "A file that the manifest lists is not in the bundle's folder.",
    "Add the file under exactly this name.",
    "B7",
)
ALTERED = code(
    "M023",
    Severity.ERROR,
    "A file is not the one that was signed.",
    "Restore the file, or pack and sign the bundle again.",
    "B3",
    "B7",
)
MISCOUNTED = code(
    "M024",
    Severity.ERROR,
    "The manifest describes a table otherwise than it is.",
    _REPACK,
    "B7",
    "B12",
)

_SIDE_FILES = frozenset((MANIFEST, SIGNATURE, WITHDRAWN))


def check_files(
    manifest: Manifest, contents: Mapping[str, bytes], folder: str
) -> list[Finding]:
    """Whether exactly the listed files are there, with the signed sizes and digests.

    Args:
        manifest: the bundle's manifest.
        contents: path to bytes of everything in the folder.
        folder: the bundle's folder, with its last slash.
    """
    listed = {folder + entry.path: entry for entry in manifest.files}
    present = set(contents) - {folder + name for name in _SIDE_FILES}
    found = [
        finding(UNLISTED, path, "the manifest does not list it")
        for path in sorted(present - set(listed))
    ]
    for path, entry in listed.items():
        if path not in present:
            found.append(finding(ABSENT, path, "the manifest lists it"))
        else:
            found += _check_bytes(path, contents[path], entry)
    return found


def _check_bytes(path: str, content: bytes, entry: FileEntry) -> list[Finding]:
    if len(content) != entry.bytes:
        what = f"it has {len(content)} bytes, {entry.bytes} were signed"
        return [finding(ALTERED, path, what)]
    digest = sha256(content)
    if digest != entry.sha256:
        what = f"its SHA-256 is {digest}, {entry.sha256} was signed"
        return [finding(ALTERED, path, what)]
    return []


def check_tables(
    manifest: Manifest, contents: Mapping[str, bytes], folder: str
) -> tuple[dict[str, pl.DataFrame], list[Finding]]:
    """Read every listed table, and recount what the manifest says about it.

    Returns:
        Frames by table name, and what is wrong with them.
    """
    tables: dict[str, pl.DataFrame] = {}
    found: list[Finding] = []
    for entry in manifest.files:
        path, table = folder + entry.path, entry.path.removesuffix(".csv")
        if path not in contents:
            continue
        try:
            frame = read_table(contents[path], path, table)
        except RegistryError as error:
            found += error.findings
            continue
        if not _check_bytes(path, contents[path], entry):
            found += _recount(frame, entry, folder + MANIFEST)
        tables[table] = frame
    return tables, found


def _recount(frame: pl.DataFrame, entry: FileEntry, path: str) -> list[Finding]:
    problems: list[str] = []
    if frame.height != entry.rows:
        problems.append(f"it has {frame.height} rows, not {entry.rows}")
    if tuple(frame.columns) != entry.columns:
        problems.append("its columns are others")
    rows = () if entry.path == "runs.csv" else sketch(frame)
    if rows != entry.sketch:
        problems.append("its sketch of rows is another")
    return [finding(MISCOUNTED, path, f"{entry.path}: {what}") for what in problems]
