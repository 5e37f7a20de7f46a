"""JSON Schemas of what experiments read and write, for editors and other programs."""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel

from tools.experiments.matrix_files import MatrixDocument
from tools.experiments.record import Run
from tools.experiments.spec import Spec

__all__ = ["schemas"]

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_DOCUMENTS: Final[dict[str, tuple[type[BaseModel], str]]] = {
    "experiment": (Spec, "Experiment"),
    "run": (Run, "Record of a run"),
    "matrix": (MatrixDocument, "Matrix of experiments"),
}


def schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON Schema of each document by its name."""
    every = {
        name: {
            "$schema": _DIALECT,
            **model.model_json_schema(by_alias=True, mode="validation"),
            "title": title,
        }
        for name, (model, title) in _DOCUMENTS.items()
    }
    del every["run"]["properties"]["folder"]  # where a record lies is no part of it
    return every
