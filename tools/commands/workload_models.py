"""Models that `powerkit workload scale` makes: names, places, files and manifests."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from registry.documents.findings import RegistryError, finding
from registry.documents.yaml_writer import write_yaml
from tools.assets.manifests import SCHEMA, Manifest, canonical_name
from tools.files.writing import write_whole
from tools.workloads.networks.layers import Network, Scale
from tools.workloads.networks.onnx_files import (
    W024,
    Written,
    refusals,
    write_network,
)

__all__ = ["Place", "refuse", "write_model"]

MODEL: Final = "model.onnx"
LICENCE: Final = "CC0-1.0"
VERSION: Final = "1.0"
"""Of models, as in TRIMS."""


class Place:
    """A network and where it goes."""

    def __init__(
        self, network: Network, output: Path, scaled: Scale, seed: int
    ) -> None:
        """Name a network's model, and its files below a folder."""
        self.network = network
        self.seed = seed
        self.name = _name(network, scaled, seed)
        self.model = output / canonical_name(self.name, VERSION) / MODEL
        self.manifest = output / f"{self.model.parent.name}.yaml"

    def counted(self) -> dict[str, Any]:
        """What is known before anything is written."""
        return {
            "model": self.name,
            "input": _shown(self.network.input.shape),
            "parameters": self.network.parameters,
            "weight_bytes": self.network.weight_bytes,
        }


def refuse(places: Sequence[Place], *, overwrite: bool) -> None:
    """See that all models can be written, before the first is.

    Raises:
        RegistryError: W024, W025, for each that cannot.
    """
    problems = []
    for one in places:
        problems += refusals(one.network, one.model, overwrite=overwrite)
        if not overwrite and os.path.lexists(one.manifest):
            problems.append(finding(W024, str(one.manifest), "it is there"))
    if problems:
        raise RegistryError(problems)


def _name(network: Network, scaled: Scale, seed: int) -> str:
    """Name a model as TRIMS does, and after that what is not as usual."""
    name = f"large_{network.name.replace('-', '_')}_{_shown(network.input.shape)}"
    if scaled.width != 1:
        name += f"_w{scaled.width:g}"
    if scaled.classes != 1000:
        name += f"_c{scaled.classes}"
    return name if seed == 0 else f"{name}_s{seed}"


def _shown(shape: tuple[int, ...]) -> str:
    """Height and width, or the number of features."""
    return "x".join(map(str, shape[1:] or shape))


def write_model(
    place: Place, *, overwrite: bool, progress: Callable[[str], None]
) -> dict[str, Any]:
    """Write a model and its manifest, and say what it became.

    Raises:
        RegistryError: W023 to W025.
    """
    files = write_network(
        place.network,
        place.model,
        seed=place.seed,
        overwrite=overwrite,
        progress=progress,
    )
    document = _manifest(place, files)
    Manifest.model_validate(document)
    write_whole(place.manifest, write_yaml(document))
    return {
        "path": str(files[0].path),
        "bytes": sum(one.bytes for one in files),
        "sha256": files[0].sha256,
        "data_sha256": files[1].sha256 if len(files) > 1 else None,
        "manifest": str(place.manifest),
    }


def _manifest(place: Place, files: Sequence[Written]) -> dict[str, Any]:
    """Return the manifest of a model, asset-manifest/1."""
    network = place.network
    return {
        "schema": SCHEMA,
        "name": place.name,
        "version": VERSION,
        "description": f"{network.name} with {network.parameters} random weights.",
        "licence": LICENCE,
        "framework": {"name": "ONNX", "version": "1.12"},
        "inputs": [
            {
                "type": "image" if len(network.input.shape) > 1 else "row",
                "name": network.input.name,
                "dimensions": list(network.input.shape),
            }
        ],
        "outputs": [
            {
                "type": "probabilities",
                "name": network.output.name,
                "dimensions": list(network.output.shape),
            }
        ],
        "files": [
            {
                "path": one.path.name,
                "urls": [f"{one.path.parent.name}/{one.path.name}"],
                "sha256": one.sha256,
                "bytes": one.bytes,
            }
            for one in files
        ],
        "attributes": {"parameters": str(network.parameters), "seed": str(place.seed)},
        "large": True,
    }
