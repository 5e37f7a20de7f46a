"""Bundles in memory, for tests of what judges their content."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from registry.documents import canonical
from registry.documents.bundle import Bundle
from registry.documents.manifest import Manifest, read_manifest
from registry.documents.spec import HardwareSpec, read_spec
from registry.documents.strict_csv import read_table
from tests.simulators.registry import Simulator

if TYPE_CHECKING:
    from tests.simulators.machines import Machine

__all__ = ["changed", "levels_bundle", "read_bundle", "samples_bundle", "scaled"]


def levels_bundle(machine: Machine | None = None) -> Bundle:
    """A load-levels bundle that is as it should be."""
    simulated = Simulator()
    simulated.enrol(42)
    simulated.add_levels("server-a", 42, machine)
    return read_bundle(simulated, "server-a")


def samples_bundle(machine: Machine | None = None, **options: Any) -> Bundle:
    """A timeseries bundle that is as it should be."""
    simulated = Simulator()
    simulated.enrol(42)
    simulated.add_samples("server-b", 42, machine, **options)
    return read_bundle(simulated, "server-b")


def read_bundle(simulated: Simulator, dataset: str) -> Bundle:
    """A bundle of a simulated registry, signature and digests not looked at."""
    folder = f"datasets/{dataset}"
    content = simulated.files[f"{folder}/manifest.json"]
    manifest = read_manifest(content, f"{folder}/manifest.json")
    path = manifest.spec.path
    tables = {
        entry.path.removesuffix(".csv"): read_table(
            simulated.files[f"{folder}/{entry.path}"],
            entry.path,
            entry.path.removesuffix(".csv"),
        )
        for entry in manifest.files
    }
    return Bundle(
        manifest,
        canonical.sha256(content),
        read_spec(simulated.files[path], path),
        tables,
    )


def changed(
    bundle: Bundle,
    *,
    spec: dict[str, Any] | None = None,
    manifest: dict[str, Any] | None = None,
    **tables: Any,
) -> Bundle:
    """The same bundle with other tables, or with parts of documents replaced.

    Args:
        bundle: where it starts from.
        spec: top level fields of the spec that differ, as a spec's author writes them.
        manifest: fields of the manifest that differ.
        tables: frames, or expressions that replace columns of the frame.
    """
    frames = dict(bundle.tables)
    for name, change in tables.items():
        whole = isinstance(change, pl.DataFrame)
        frames[name] = change if whole else frames[name].with_columns(change)
    described = bundle.spec.model_dump(mode="json", by_alias=True, exclude_none=True)
    stated = bundle.manifest.model_dump(mode="json", by_alias=True)
    return replace(
        bundle,
        tables=frames,
        spec=HardwareSpec.model_validate(described | (spec or {})),
        manifest=Manifest.model_validate(stated | manifest)
        if manifest
        else bundle.manifest,
    )


def scaled(column: str, factor: float) -> pl.Expr:
    """A column times a factor."""
    return pl.col(column) * factor
