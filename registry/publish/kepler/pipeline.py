"""Pipelines for Kepler's model server: one zip, and the same tree as a folder."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from registry.documents.canonical import encode
from registry.documents.names import REGISTRY
from registry.modelling.model import CURVE, parse_id

if TYPE_CHECKING:
    from collections.abc import Iterable

    from registry.publish.index import ModelEntry

__all__ = ["pipeline_documents"]

_COMPONENTS: Final = ("platform", "package", "core", "uncore", "dram")
_FIRST: Final = (
    "",
    "model_name",
    "model_class",
    "model_file",
    "features",
    "fe_files",
    "output_type",
    "mae",
    "mape",
)


def pipeline_documents(
    models: Iterable[ModelEntry], node_types: bytes
) -> dict[str, bytes]:
    """Write what a pipeline holds besides its models.

    Args:
        models: Published models; curves are left out.
        node_types: The bytes of ``node_type_index.json``.

    Returns:
        ``metadata.json``, which the server only looks for, ``node_type_index.json``
        and a table of models for each source and output, by path in the pipeline.

    """
    served = [model for model in models if parse_id(model.id).trainer != CURVE]
    trainers: dict[str, set[str]] = {"AbsPower": set(), "DynPower": set()}
    tables: dict[str, list[ModelEntry]] = defaultdict(list)
    for model in served:
        identity = parse_id(model.id)
        trainers[identity.output].add(identity.trainer)
        tables[f"{identity.source}_{identity.output}"].append(model)
    metadata = {
        "abs_trainers": sorted(trainers["AbsPower"]),
        "dyn_trainers": sorted(trainers["DynPower"]),
        "name": REGISTRY,
        "publisher": REGISTRY,
    }
    documents = {"metadata.json": encode(metadata), "node_type_index.json": node_types}
    for name, entries in tables.items():
        documents[f"{name}_model_metadata.csv"] = _table(entries)
    return documents


def _table(models: list[ModelEntry]) -> bytes:
    """Write the table that the model server's tools list models from."""
    names = [c for c in _COMPONENTS if any(c in m.error.components for m in models)]
    errors = [f"{name}_{kind}" for name in names for kind in ("mae", "mape")]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*_FIRST, *errors, "trainer", "node_type", "feature_group"])
    ordered = sorted(models, key=lambda m: (parse_id(m.id).group, m.error.mae, m.id))
    for row, model in enumerate(ordered):
        identity = parse_id(model.id)
        figures = [
            model.error.components.get(name, {}).get(kind)
            for name in names
            for kind in ("mae", "mape")
        ]
        writer.writerow(
            [
                row,
                identity.model_name,
                "xgboost",
                f"{identity.model_name}.json",
                str(list(model.features)),
                "[]",
                identity.output,
                model.error.mae,
                model.error.mape,
                *("" if figure is None else figure for figure in figures),
                identity.trainer,
                identity.node_type,
                identity.group,
            ]
        )
    return text.getvalue().encode("utf-8")
