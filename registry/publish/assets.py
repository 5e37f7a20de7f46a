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

__all__ = ["TREE", "WITHHELD", "file_paths", "flat_name", "forms", "model_forms"]

TREE: Final = f"models/{STANDARD_PIPELINE}"
"""The folder that serves MODEL_TOPURL=<release>/models."""
WITHHELD: Final = "withheld"
"""The folder of models that were fitted but are no better than the generic ones."""


def forms(trainer: str) -> tuple[str, ...]:
    """List the file types in which models of a trainer are published."""
    if trainer == CURVE:
        return ("json",)
    return ("json", "zip") if trainer == LINEAR else ("zip",)


def flat_name(model: ModelId, form: str) -> str:
    """Name a model's file at the root of a release, where no folder tells its kind."""
    return f"{model.source}-{model.output}-{model.group}-{model.model_name}.{form}"


def file_paths(model: ModelId, form: str, *, published: bool) -> tuple[str, ...]:
    """List where a model's file of one form lies in a release folder.

    Published models lie at the root under a flat name and in the tree of the model
    server; Kepler's clients have no use for a curve, so those are at the root only.
    """
    if not published:
        return (f"{WITHHELD}/{flat_name(model, form)}",)
    if model.trainer == CURVE:
        return (flat_name(model, form),)
    return (flat_name(model, form), f"{TREE}/{model}.{form}")


def model_forms(model: Model, machine: Machine | None) -> dict[str, bytes]:
    """Write a model in every form that its clients load.

    Args:
        model: A fitted model.
        machine: The machine of its class, or None for the generic class.

    Returns:
        Bytes by form, for exactly the `forms` of its trainer.

    Raises:
        RegistryError: R001 to R005, a client would misread it.

    """
    if model.id.trainer == CURVE:
        return {"json": curve_file(model)}
    if model.id.trainer == LINEAR:
        return {"json": weight_file(model, machine), "zip": model_zip(model)}
    return {"zip": model_zip(model)}
