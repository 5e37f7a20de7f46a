"""Put a release together: models in every form, pipelines, provenance, notes, index."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

from registry.documents.classkey import GENERIC
from registry.documents.findings import RegistryError
from registry.modelling.model import CURVE, Trees, error_document, parse_id
from registry.publish.assets import TREE, flat_name, forms, model_files
from registry.publish.comparison import compare
from registry.publish.index import ErrorEntry, Index, ModelEntry, index_bytes
from registry.publish.kepler.archives import write_zip
from registry.publish.kepler.node_types import index_bytes as node_type_bytes
from registry.publish.kepler.pipeline import pipeline_documents
from registry.publish.kepler.readback import read_components
from registry.publish.kepler.vocabulary import PIPELINES, STANDARD_PIPELINE
from registry.publish.notes import notes_bytes
from registry.publish.plot import power_curves_svg
from registry.publish.previous import HELD_OUT, held_out_line, read_checked
from registry.publish.provenance import PROVENANCE, provenance_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from registry.modelling.model import Component, Model, ModelId, Point
    from registry.modelling.plan import Plan
    from registry.publish.previous import Previous
    from registry.publish.staging import Staging

__all__ = ["assemble"]

DRAWING: Final = "power_curves.svg"
NOTES: Final = "RELEASE_NOTES.md"
NODE_TYPES: Final = "node_type_index.json"


def assemble(
    staging: Staging,
    head: Index,
    planned: Plan,
    fitted: Sequence[Model],
    previous: Previous | None,
) -> tuple[Index, bytes]:
    """Write all files of a release and put it in its place.

    Args:
        staging: Where the files go.
        head: The index without models and assets.
        planned: Which models are fitted and which are taken over.
        fitted: The fitted ones.
        previous: The earlier release that has the others.

    Returns:
        The index and its bytes.

    Raises:
        RegistryError: R021, a file of the earlier release is damaged.

    """
    points: dict[str, tuple[Point, ...]] = {}
    models: dict[ModelId, ModelEntry] = {}
    for model in fitted:
        models[model.id] = _write_model(staging, head, model)
        points[str(model.id)] = model.points
    if planned.reuse and previous is not None:
        held_out = previous.held_out()
        known, digests = previous.models(), previous.digests()
        for order in planned.reuse:
            entry = known[str(order.id)]
            for path in entry.files:
                staging.write(path, read_checked(previous.folder, path, digests[path]))
            models[order.id] = entry
            points[entry.id] = held_out.get(entry.id, ())
    models = dict(sorted(models.items()))
    compared = _compared(staging, models, points)
    entries = tuple(
        entry.model_copy(update={"comparison": compared.get(entry.id)})
        for entry in models.values()
    )
    lines = (held_out_line(name, points[name]) for name in map(str, models))
    staging.write(HELD_OUT, b"".join(lines))
    _write_pipelines(staging, head, entries)
    return _write_papers(staging, head, entries)


def _write_model(staging: Staging, head: Index, model: Model) -> ModelEntry:
    """Write a model's files; one that a client would misread is withheld instead."""
    status, why, files = model.status, model.why, dict[str, bytes]()
    if status == "published":
        attributes = {b.dataset: b.attributes for b in head.bundles}
        first = attributes[model.bundles[0].dataset].as_machine()
        try:
            files = model_files(model, None if model.class_key == GENERIC else first)
        except RegistryError as error:
            status, why = "withheld", error.findings[0].what
    for path, data in files.items():
        staging.write(path, data)
    error_values: Any = error_document(model.error)
    return ModelEntry(
        id=str(model.id),
        class_key=model.class_key,
        features=model.features,
        status=status,
        why=why,
        error=ErrorEntry.model_validate(error_values),
        comparison=None,
        bundles=tuple(bundle.dataset for bundle in model.bundles),
        machines=model.machines,
        input_digest=model.input_digest,
        files=tuple(sorted(files)),
    )


def _compared(
    staging: Staging,
    models: Mapping[ModelId, ModelEntry],
    points: Mapping[str, tuple[Point, ...]],
) -> dict[str, Any]:
    """Compare each class's models with the generic ones, as they were published."""
    found: dict[str, Any] = {}
    for identity, entry in models.items():
        if identity.node_type == 0 and entry.status == "published":
            kind = str(identity).rpartition("_")[0]
            rows = {
                str(other): points[str(other)]
                for other in models
                if other.node_type and str(other).rpartition("_")[0] == kind
            }
            found |= compare(_read_back(staging, identity), rows)
    return found


def _read_back(staging: Staging, identity: ModelId) -> dict[str, Component]:
    path = staging.folder / flat_name(identity, forms(identity.trainer)[0])
    return read_components(identity, path.read_bytes())


def _write_pipelines(
    staging: Staging, head: Index, entries: Sequence[ModelEntry]
) -> None:
    """Write the tree for MODEL_TOPURL and the same content as zips."""
    types = {
        entry.number: (entry.attributes.as_machine(), entry.machines)
        for entry in head.classes
        if entry.attributes is not None
    }
    node_types = node_type_bytes(types)
    staging.write(NODE_TYPES, node_types)
    published = [entry for entry in entries if entry.status == "published"]
    for path, data in pipeline_documents(published, node_types).items():
        staging.write(f"{TREE}/{path}", data)
    paths = [a.path for a in staging.assets if a.path.startswith(f"{TREE}/")]

    def contents() -> Iterator[tuple[str, bytes]]:
        for path in paths:
            yield path.removeprefix(f"{TREE}/"), (staging.folder / path).read_bytes()

    names = [*(f"{name}.zip" for name in PIPELINES), f"models/{STANDARD_PIPELINE}.zip"]
    for name in names:
        target = staging.folder / name
        write_zip(target, contents())
        with target.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        staging.register(name, target.stat().st_size, digest)


def _write_papers(
    staging: Staging, head: Index, entries: tuple[ModelEntry, ...]
) -> tuple[Index, bytes]:
    """Write drawing, notes, provenance and the index that names them all."""
    curves = _curves(staging, entries)
    if curves:
        title = f"Power curves of {len(curves)} server classes"
        staging.write(DRAWING, power_curves_svg(curves, title))
    index = head.model_copy(update={"models": entries, "assets": staging.assets})
    staging.write(NOTES, notes_bytes(index, drawing=bool(curves)))
    staging.write(PROVENANCE, provenance_bytes(index))
    index = index.model_copy(update={"assets": staging.assets})
    data = index_bytes(index)
    staging.finish(data)
    return index, data


def _curves(
    staging: Staging, entries: Sequence[ModelEntry]
) -> dict[str, tuple[tuple[float, float], ...]]:
    found = {}
    for entry in entries:
        identity = parse_id(entry.id)
        if entry.files and identity.trainer == CURVE and identity.source == "acpi":
            part = _read_back(staging, identity).get("platform")
            if part is not None and not isinstance(part, Trees):
                found[entry.class_key] = getattr(part, "points", ())
    return found
