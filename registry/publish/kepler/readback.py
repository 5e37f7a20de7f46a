"""Models read back from their published files, exactly as they were fitted."""

from __future__ import annotations

import io
import json
import zipfile
from typing import TYPE_CHECKING, Any, Final

from registry.modelling.model import LINEAR, Curve, Linear, Trees

if TYPE_CHECKING:
    from registry.modelling.model import Component, ModelId

__all__ = ["read_components"]

_PARTS: Final = ("platform", "package", "core", "uncore", "dram")
_ZIP: Final = b"PK"
_MEMBER_BYTES: Final = 64 * 1024 * 1024


def read_components(model: ModelId, data: bytes) -> dict[str, Component]:
    """Read the components of a published model.

    Args:
        model: Which model it is.
        data: Its weight file, its curve file or its zip, which also a linear model
            has; the bytes were checked against the digest of the index.

    """
    if data.startswith(_ZIP):
        return _boosters(model.model_name, data)
    if model.trainer == LINEAR:
        return {
            part: _linear(value["All_Weights"])
            for part, value in json.loads(data).items()
            if part in _PARTS
        }
    return {
        part: Curve(tuple((float(x), float(y)) for x, y in value))
        for part, value in json.loads(data).items()
        if part in _PARTS
    }


def _linear(weights: dict[str, Any]) -> Linear:
    return Linear(
        float(weights["Bias_Weight"]),
        {
            name: (float(item["scale"]), float(item["weight"]))
            for name, item in weights["Numerical_Variables"].items()
        },
    )


def _boosters(name: str, data: bytes) -> dict[str, Component]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = json.loads(_member(archive, f"{name}.json"))
        return {
            part: Trees(
                _member(archive, value["model_file"]).decode("utf-8"),
                tuple(value["features"]),
            )
            for part, value in parts.items()
        }


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    with archive.open(name) as member:
        return member.read(_MEMBER_BYTES)
