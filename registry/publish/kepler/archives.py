"""Zips whose bytes depend on their content alone, and model zips without pickles.

Members are stored, not deflated: what deflate writes differs between zlib, zlib-ng and
their versions, and anyone must be able to rebuild a release to the byte.
"""

from __future__ import annotations

import io
import zipfile
from typing import IO, TYPE_CHECKING, Final

from registry.documents.canonical import encode_numbers
from registry.documents.findings import RegistryError, Severity, code, finding
from registry.modelling.model import Curve, Linear
from registry.publish.kepler.boosters import linear_booster, tree_booster

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from registry.documents.canonical import Json
    from registry.modelling.model import Model

__all__ = ["metadata", "model_zip", "write_zip"]

NOT_FOR_ESTIMATOR = code(
    "R004",
    Severity.ERROR,
    "The estimator cannot evaluate a model of this kind without unpickling.",
    "Publish linear models and trees as zips; a power curve stays a JSON file.",
    "P1",
)

_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
_UNIX: Final = 3
_MODE: Final = 0o100644 << 16


def write_zip(target: IO[bytes] | Path, members: Iterable[tuple[str, bytes]]) -> None:
    """Write a zip with a fixed date, order, mode and method, members at its root.

    Args:
        target: A path or an open binary file.
        members: Names and bytes, in the order in which they are stored.

    """
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members:
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.create_system = _UNIX
            entry.external_attr = _MODE
            archive.writestr(entry, data, zipfile.ZIP_STORED)


def model_zip(model: Model) -> bytes:
    """Write a model as the zip that the estimator and the model server load.

    Args:
        model: A model of linear components or of trees.

    Returns:
        A zip of ``metadata.json``, ``<model_name>.json`` and one XGBoost file a
        component; it holds no pickle and no scaler, features are raw.

    Raises:
        RegistryError: R003 or R004.

    """
    name = model.id.model_name
    parts: dict[str, Json] = {}
    files: dict[str, bytes] = {}
    for component, part in model.components.items():
        if isinstance(part, Curve):
            what = f"{component} is a power curve"
            raise RegistryError(finding(NOT_FOR_ESTIMATOR, str(model.id), what))
        if isinstance(part, Linear):
            features = model.features
            files[f"{component}.json"] = linear_booster(part, features)
        else:
            features = part.features
            files[f"{component}.json"] = tree_booster(part, str(model.id))
        parts[component] = {
            "fe_files": [],
            "features": list(features),
            "model_file": f"{component}.json",
        }
    files[f"{name}.json"] = encode_numbers(parts)
    files["metadata.json"] = encode_numbers(metadata(model))
    buffer = io.BytesIO()
    write_zip(buffer, sorted(files.items()))
    return buffer.getvalue()


def metadata(model: Model) -> dict[str, Json]:
    """Describe a model in the words of the model server.

    Returns:
        Texts, lists and finite numbers at the top level and no object, since the
        estimator takes any object inside for a second model. ``mae`` (watts) and
        ``mape`` (per cent) are the largest of the components. ``machine_spec`` is left
        out: the server adds it from the index of node types, and an estimator that
        does not know it would fail.

    """
    error = model.error
    document: dict[str, Json] = {
        "fe_files": [],
        "features": list(model.features),
        "mae": float(error.mae),
        "mape": float(error.mape),
        "model_class": "xgboost",
        "model_file": f"{model.id.model_name}.json",
        "model_name": model.id.model_name,
        "output_type": model.id.output,
    }
    for component, part in error.components.items():
        document[f"{component}_mae"] = float(part.mae)
        if part.mape is not None:
            document[f"{component}_mape"] = float(part.mape)
    return document
