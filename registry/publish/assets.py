"""Which files a published model becomes, and where they lie in a release folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from registry.modelling.model import CURVE, LINEAR
from registry.publish.kepler.archives import model_zip
from registry.publish.kepler.curves import curve_file
from registry.publish.kepler.vocabulary import STANDARD_PIPELINE
from registry.publish.kepler.weights import weight_file

if TYPE_CHECKING:
    from registry.modelling.model import Model, ModelId
    from registry.publish.kepler.node_types import Machine

__all__ = ["TREE", "flat_name", "forms", "model_files", "model_paths", "tree_path"]

TREE: Final = f"models/{STANDARD_PIPELINE}"
"""The folder that serves MODEL_TOPURL=<release>/models."""


def forms(trainer: str) -> tuple[str, ...]:
    """List the file types in which models of a trainer are published."""
    if trainer == CURVE:
        return ("json",)
    return ("json", "zip") if trainer == LINEAR else ("zip",)


def flat_name(model: ModelId, form: str) -> str:
    """Name a model's file at the root of a release, where no folder tells its kind."""
    return f"{model.source}-{model.output}-{model.group}-{model.model_name}.{form}"


def tree_path(model: ModelId, form: str) -> str:
    """Name a model's file inside a pipeline, as the model server expects it."""
    return f"{model}.{form}"


def model_paths(model: ModelId) -> tuple[str, ...]:
    """List every file of a published model in a release folder, sorted."""
    paths = [flat_name(model, form) for form in forms(model.trainer)]
    if model.trainer != CURVE:  # Kepler's clients have no use for a curve
        paths += [f"{TREE}/{tree_path(model, form)}" for form in forms(model.trainer)]
    return tuple(sorted(paths))


def model_files(model: Model, machine: Machine | None) -> dict[str, bytes]:
    """Write a model in every form that its clients load.

    Args:
        model: A model to publish.
        machine: The machine of its class, or None for the generic class.

    Returns:
        Bytes by path in the release folder, for exactly `model_paths`.

    Raises:
        RegistryError: R001 to R005, a client would misread it.

    """
    identity = model.id
    if identity.trainer == CURVE:
        return {flat_name(identity, "json"): curve_file(model)}
    by_form = {"zip": model_zip(model)}
    if identity.trainer == LINEAR:
        by_form["json"] = weight_file(model, machine)
    files: dict[str, bytes] = {}
    for form, data in by_form.items():
        files[flat_name(identity, form)] = data
        files[f"{TREE}/{tree_path(identity, form)}"] = data
    return files
