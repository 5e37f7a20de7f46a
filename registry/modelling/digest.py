"""What decides a model's bytes, as one digest: data, class, our code, libraries."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata, resources
from typing import Final

from registry.documents import canonical
from registry.modelling.model import ModelId

SOURCES: Final = {
    "registry.documents": (
        "column_catalogue.py",
        "columns.py",
        "columns.yaml",
        "csv_cells.py",
        "csv_shape.py",
        "spec.py",
        "strict_csv.py",
        "workloads.py",
    ),
    "registry.modelling": (
        "assemble.py",
        "blocks.py",
        "energy.py",
        "evaluate.py",
        "extract.py",
        "model.py",
        "series.py",
        "table.py",
        "targets.py",
    ),
    "registry.modelling.fits": (
        "booster.py",
        "boosting.py",
        "curve.py",
        "linear.py",
        "ranges.py",
        "trainers.py",
        "trees.py",
    ),
}
"""The files whose code turns a bundle into a model's bytes, by package."""

LIBRARIES: Final = ("numpy", "polars", "scipy", "xgboost-cpu")
"""The libraries that do so with them."""


@functools.cache
def code_digest() -> str:
    """Give the SHA-256 (hex) of the code of the fits."""
    return sources_digest(SOURCES)


def sources_digest(sources: Mapping[str, Sequence[str]]) -> str:
    """Give the SHA-256 (hex) of source files, whatever their line endings.

    Args:
        sources: Names of files by package.
    """
    files = {}
    for package, names in sources.items():
        folder = resources.files(package)
        for name in names:
            data = folder.joinpath(name).read_bytes().replace(b"\r\n", b"\n")
            files[f"{package}/{name}"] = canonical.sha256(data)
    return canonical.sha256(canonical.encode(files))


@functools.cache
def library_versions() -> dict[str, str]:
    """Give the installed version of each library that a fit's bytes depend on."""
    return {name: _version(name) for name in LIBRARIES}


def fit_digest(class_rule: str) -> str:
    """Give the SHA-256 (hex) of all that is not data: code, libraries, class rule."""
    parts = {
        "class_rule": class_rule,
        "code": code_digest(),
        "libraries": library_versions(),
    }
    return canonical.sha256(canonical.encode(parts))


def input_digest(
    model: ModelId, class_key: str, manifests: Iterable[str], fit: str
) -> str:
    """Give the SHA-256 (hex) of everything that decides a model's bytes.

    Args:
        model: Identity of the model.
        class_key: Key of its class.
        manifests: SHA-256 of the manifest of each bundle, in any order.
        fit: What `fit_digest` gives.
    """
    parts = {
        "id": str(model),
        "class": class_key,
        "bundles": sorted(manifests),
        "fit": fit,
    }
    return canonical.sha256(canonical.encode(parts))


def _version(name: str) -> str:
    for candidate in (name, name.removesuffix("-cpu")):
        try:
            return metadata.version(candidate)
        except metadata.PackageNotFoundError:
            continue
    return "absent"
