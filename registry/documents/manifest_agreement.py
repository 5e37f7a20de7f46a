"""Values of a manifest that cannot be true together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.documents import workloads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.documents.manifest import FileEntry, Manifest
    from registry.documents.strict_yaml import Location

__all__ = ["disagreements"]


def disagreements(manifest: Manifest) -> Iterator[tuple[Location, str]]:
    """Yield the place and a sentence for every contradiction."""
    main = "samples.csv" if manifest.profile == "timeseries" else "levels.csv"
    paths = [entry.path for entry in manifest.files]
    if paths != sorted(("runs.csv", main)):
        yield (
            ("files",),
            f"a {manifest.profile} bundle has exactly {main} and runs.csv, sorted",
        )
    folder, _, name = manifest.spec.path.partition("/")
    if folder != "specs" or "/" in name or not name.endswith(".yaml"):
        yield ("spec", "path"), "the spec's path is not specs/<machine>.yaml"
    if (manifest.version == 1) != (manifest.previous is None):
        yield ("previous",), "version 1 has no previous manifest, later ones have"
    if manifest.measured.first > manifest.measured.last:
        yield ("measured",), "the measurement ends before it begins"
    if manifest.licence == "LicenseRef-published-facts" and manifest.source is None:
        yield ("source",), "published facts need their source"
    yield from _workloads(manifest)
    for number, entry in enumerate(manifest.files):
        yield from _file(entry, ("files", number))


def _workloads(manifest: Manifest) -> Iterator[tuple[Location, str]]:
    labels = manifest.workloads
    if list(labels) != sorted(set(labels)):
        yield ("workloads",), "workloads are not sorted or one is named twice"
    pseudonyms = any(workloads.is_pseudonym(label) for label in labels)
    if pseudonyms != (manifest.privacy.own_workloads == "pseudonymised"):
        yield ("privacy",), "pseudonyms among the workloads and privacy disagree"


def _file(entry: FileEntry, here: Location) -> Iterator[tuple[Location, str]]:
    if len(set(entry.columns)) != len(entry.columns):
        yield (*here, "columns"), f"{entry.path} names a column twice"
    if list(entry.sketch) != sorted(set(entry.sketch)):
        yield (*here, "sketch"), f"the sketch of {entry.path} is not sorted"
    if bool(entry.sketch) != (entry.path != "runs.csv"):
        yield (*here, "sketch"), f"the sketch of {entry.path} does not fit it"
