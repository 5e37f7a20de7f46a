"""Put a release together: models in every form, pipelines, provenance, notes, index."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from registry.documents.classkey import GENERIC
from registry.documents.findings import RegistryError
from registry.modelling.model import CURVE, Curve, error_document, parse_id
from registry.publish.assets import TREE, file_paths, forms, model_forms
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
    from registry.publish.index import Comparison
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
    entries: dict[ModelId, ModelEntry] = {}
    contents: dict[ModelId, dict[str, bytes]] = {}
    points: dict[str, tuple[Point, ...]] = {}
    for model in fitted:
        entries[model.id], contents[model.id] = _written(head, model)
        points[str(model.id)] = model.points
    if planned.reuse and previous is not None:
        held_out, known = previous.held_out(), previous.models()
        for order in planned.reuse:
            entry = known[str(order.id)]
            entries[order.id] = entry
            contents[order.id] = _taken_over(previous, order.id, entry)
            points[entry.id] = held_out.get(entry.id, ())
    order_of = sorted(entries)
    compared = _compared(order_of, contents, points)
    generic = {m: entries[m].error for m in order_of if not m.node_type}
    models = tuple(
        _place(
            staging,
            entries[identity].model_copy(
                update={"comparison": compared.get(str(identity))}
            ),
            contents.pop(identity),
            generic.get(replace(identity, node_type=0)),
        )
        for identity in order_of
    )
    lines = (held_out_line(str(name), points[str(name)]) for name in order_of)
    staging.write(HELD_OUT, b"".join(lines))
    _write_pipelines(staging, head, models)
    return _write_papers(staging, head, models)


def _written(head: Index, model: Model) -> tuple[ModelEntry, dict[str, bytes]]:
    """Write a model's forms; one that a client would misread has none."""
    why, found = model.why, dict[str, bytes]()
    if model.status == "published":
        attributes = {b.dataset: b.attributes for b in head.bundles}
        first = attributes[model.bundles[0].dataset].as_machine()
        try:
            found = model_forms(model, None if model.class_key == GENERIC else first)
        except RegistryError as error:
            why = error.findings[0].what
    error_values: Any = error_document(model.error)
    entry = ModelEntry(
        id=str(model.id),
        class_key=model.class_key,
        features=model.features,
        status="withheld",
        why=why,
        error=ErrorEntry.model_validate(error_values),
        comparison=None,
        bundles=tuple(bundle.dataset for bundle in model.bundles),
        machines=model.machines,
        input_digest=model.input_digest,
        files=(),
    )
    return entry, found


def _taken_over(
    previous: Previous, identity: ModelId, entry: ModelEntry
) -> dict[str, bytes]:
    """Read a model's forms from the earlier release, published there or withheld."""
    digests, found = previous.digests(), dict[str, bytes]()
    for form in forms(identity.trainer):
        for published in (True, False):
            path = file_paths(identity, form, published=published)[0]
            if path in entry.files:
                found[form] = read_checked(previous.folder, path, digests[path])
    return found


def _compared(
    models: Sequence[ModelId],
    contents: Mapping[ModelId, Mapping[str, bytes]],
    points: Mapping[str, tuple[Point, ...]],
) -> dict[str, Comparison]:
    """Compare each class's models with the generic ones, as clients will read them."""
    found: dict[str, Comparison] = {}
    for identity in models:
        if identity.node_type == 0 and contents[identity]:
            rows = {
                str(other): points[str(other)]
                for other in models
                if other.node_type and replace(other, node_type=0) == identity
            }
            found |= compare(_parts(identity, contents[identity]), rows)
    return found


def _place(
    staging: Staging,
    entry: ModelEntry,
    found: Mapping[str, bytes],
    generic: ErrorEntry | None,
) -> ModelEntry:
    """Publish a model unless the generic one is closer, by either way to judge it.

    On the rows of the class the generic model looks better than it is, since it was
    fitted to them too; so it must also be closer on whole servers that it never saw.
    """
    identity, comparison = parse_id(entry.id), entry.comparison
    closer = (
        comparison is not None
        and generic is not None
        and generic.protocol == "server"
        and comparison.generic_mae < comparison.mae
        and generic.mae < entry.error.mae
    )
    published = bool(found) and not closer
    paths = []
    for form, data in found.items():
        for path in file_paths(identity, form, published=published):
            staging.write(path, data)
            paths.append(path)
    update = {
        "status": "published" if published else "withheld",
        "files": tuple(sorted(paths)),
    }
    return entry.model_copy(update=update)


def _parts(identity: ModelId, found: Mapping[str, bytes]) -> dict[str, Component]:
    return read_components(identity, found[forms(identity.trainer)[0]])


def _write_pipelines(
    staging: Staging, head: Index, entries: Sequence[ModelEntry]
) -> None:
    """Write the tree for MODEL_TOPURL and the same content as zips."""
    published = [entry for entry in entries if entry.status == "published"]
    served = {entry.class_key for entry in published}
    # A type without a model would make the server serve that of the largest machine.
    types = {
        entry.number: (entry.attributes.as_machine(), entry.machines)
        for entry in head.classes
        if entry.attributes is not None and entry.key in served
    }
    node_types = node_type_bytes(types)
    staging.write(NODE_TYPES, node_types)
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
            data = (staging.folder / entry.files[0]).read_bytes()
            part = read_components(identity, data).get("platform")
            if isinstance(part, Curve):
                found[entry.class_key] = part.points
    return found
