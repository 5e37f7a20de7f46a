"""What workloads of `powerkit bench` run on: names, files of names, or manifests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from tools.assets.manifests import Asset

__all__ = ["items_of"]


def items_of(
    text: str | None, manifests: Path | None, *, large: bool
) -> list[dict[str, Any]]:
    """Return items as an experiment's document has them.

    Args:
        text: names with commas, or a file of names, as `powerkit load plan` takes them.
        manifests: a manifest or a folder of manifests of models, TRIMS's too.
        large: of manifests take the large models, and no others.

    Raises:
        typer.BadParameter: both were given.
        RegistryError: Q004, or the A codes of manifests.
    """
    if text is not None and manifests is not None:
        raise typer.BadParameter("give either --items or --manifests")
    if manifests is not None:
        return _of_manifests(manifests, large=large)
    if text is None:
        return []
    from tools.load.items import read_items

    return [_sized(one.name, one.bytes) for one in read_items(text)]


def _of_manifests(path: Path, *, large: bool) -> list[dict[str, Any]]:
    from tools.assets.library import Choice, open_library

    chosen = open_library(path).chosen(Choice(large=large))
    return [
        _sized(one.canonical, one.bytes) | {"parameters": _parameters(one)}
        for one in chosen
        if one.large == large
    ]


def _sized(name: str, size: int | None) -> dict[str, Any]:
    return {"name": name} if size is None else {"name": name, "bytes": size}


def _parameters(asset: Asset) -> dict[str, str]:
    """Return the shape of a model's first input, under TRIMS's names."""
    if not asset.inputs or len(asset.inputs[0].dimensions) != 3:
        return {}
    first = asset.inputs[0]
    names = ("channels", "height", "width")
    found = {
        name: str(size) for name, size in zip(names, first.dimensions, strict=True)
    }
    mean = first.mean or ()
    if len(mean) == 1:
        mean *= 3
    if len(mean) == 3:
        names = ("mean_r", "mean_g", "mean_b")
        found |= {n: f"{value:g}" for n, value in zip(names, mean, strict=True)}
    return found
