"""What a bundle holds: the data, the machine, every text that becomes public."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from registry.documents.classkey import class_key, node_type
from registry.gate.privacy import manifest_texts, spec_texts
from registry.review.page import Code, Paragraph, Section, Table, facts_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.documents.spec import HardwareSpec
    from registry.review.candidate import Candidate
    from registry.review.page import Cell

__all__ = ["data_section", "hardware_section", "texts_section"]

_LICENCES: Final = {
    "CDLA-Permissive-2.0": "the registry's usual licence",
    "CC-BY-4.0": "whoever uses the data must name its source",
    "CC0-1.0": "no right is kept",
    "LicenseRef-published-facts": "figures that somebody published; look at the source",
}


def data_section(candidate: Candidate) -> Section:
    """Sum up the manifest and the files."""
    manifest = candidate.manifest
    files = Table(
        "Files",
        ("file", "bytes", "rows", "columns"),
        tuple(_file_rows(candidate)),
    )
    if manifest is None:
        why = "; ".join(candidate.problems) or "the manifest cannot be read"
        return Section("data", "Data", (Paragraph.of(why), files), {"problem": why})
    source = manifest.source
    facts: list[tuple[str, Cell]] = [
        ("dataset", Code(candidate.dataset)),
        ("version", str(manifest.version)),
        ("profile", manifest.profile),
        ("measured", f"{manifest.measured.first} to {manifest.measured.last}"),
        ("workloads", ", ".join(manifest.workloads)),
        ("own workloads", manifest.privacy.own_workloads),
        ("licence", f"{manifest.licence}: {_LICENCES[manifest.licence]}"),
        ("made with", f"{manifest.tool.name} {manifest.tool.version}"),
        ("derived by the contributor", manifest.derived or "no, raw readings"),
        ("published before", "" if source is None else f"{source.kind}: {source.id}"),
        ("size of all files", f"{candidate.bytes} bytes"),
    ]
    notes: list[tuple[Cell, ...]] = []
    if manifest.derived is not None:
        notes.append((f"The tables are derived ({manifest.derived}), not raw.",))
    return Section(
        "data",
        "Data",
        (facts_table("The bundle", facts), files),
        {
            "dataset": candidate.dataset,
            "version": manifest.version,
            "profile": manifest.profile,
            "licence": manifest.licence,
            "bytes": candidate.bytes,
            "derived": manifest.derived,
            "rows": {entry.path: entry.rows for entry in manifest.files},
        },
        tuple(notes),
    )


def _file_rows(candidate: Candidate) -> Iterator[tuple[Cell, ...]]:
    manifest = candidate.manifest
    for name, size in candidate.files:
        entry = None if manifest is None else manifest.file(name)
        if entry is None:
            yield Code(name), str(size), "–", "–"
        else:
            columns = ", ".join(entry.columns)
            yield Code(name), str(size), str(entry.rows), columns


def hardware_section(spec: HardwareSpec) -> Section:
    """List everything that the spec says of one node."""
    value = spec.model_dump(mode="json", by_alias=True, exclude_none=True)
    value.pop("schema", None)
    rows: list[tuple[str, Cell]] = [
        (name, text) for name, text in _flat(value) if not name.startswith("rapl_zones")
    ]
    zones = spec.rapl_zones or ()
    if zones:
        rows.append(("energy counters", ", ".join(zone.zone for zone in zones)))
    key = class_key(spec)
    rows.append(("class by the rule", Code(key)))
    rows.append(("number of that class", str(node_type(key))))
    return Section(
        "hardware", "Hardware", (facts_table("One node", rows),), {"spec": value}
    )


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _flat(item, f"{name} {key}".strip())
    elif isinstance(value, list):
        for number, item in enumerate(value, 1):
            yield from _flat(item, f"{name} {number}")
    else:
        yield name, _worded(name, value)


def _worded(name: str, value: Any) -> str:
    if name.endswith("bytes") and isinstance(value, int):
        return f"{value / 2**30:.4g} GiB"
    if name.endswith("hertz") and isinstance(value, int):
        return f"{value / 1e9:.4g} GHz"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def texts_section(candidate: Candidate) -> Section:
    """List every text that becomes public by a merge, with the place where it is."""
    places: dict[str, list[str]] = {}
    if candidate.manifest is not None:
        for field, text in manifest_texts(candidate.manifest).items():
            places.setdefault(text, []).append(f"manifest {field}")
    if candidate.spec is not None:
        for field, text in spec_texts(candidate.spec).items():
            places.setdefault(text, []).append(f"spec {field}")
    rows = tuple(
        (Code(text), ", ".join(where[:3])) for text, where in sorted(places.items())
    )
    blocks = (
        Paragraph.of(
            "Tables hold numbers and words of the catalogue besides. Does any of these"
            " texts name a person, a host, a site or a customer?"
        ),
        Table("Texts that become public", ("text", "where"), rows),
    )
    return Section(
        "texts", "Texts that become public", blocks, {"texts": sorted(places)}
    )
