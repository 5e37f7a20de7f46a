"""Servers by their power over load: the merged ones, to compare a new one with."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from registry.documents.bundle import Bundle
from registry.documents.canonical import sha256
from registry.documents.findings import RegistryError
from registry.documents.manifest import read_manifest
from registry.documents.spec import read_spec
from registry.documents.strict_csv import read_table
from registry.gate.paths import MANIFEST, WITHDRAWN
from registry.gate.tree import DATASETS
from registry.modelling.extract import extract
from registry.modelling.table import evenly

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from registry.documents.manifest import Manifest
    from registry.gate.tree import Tree
    from registry.modelling.extract import Frame
    from registry.modelling.table import Floats
    from registry.review.proposal import State

    Points = tuple[tuple[float, float], ...]

__all__ = ["LOADS", "MAIN", "Server", "read_servers", "read_withdrawn", "server_of"]

LOADS: Final = (0.0, 0.5, 1.0)
"""The loads at which servers are compared."""
MAIN: Final = ("acpi:platform", "rapl-sysfs:package")
"""The power that servers are compared by: the first that both have."""
_BINS: Final = 20
_KEPT: Final = 5_000
"""Values of a recording that are kept to look for copies."""

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, eq=False)
class Server:
    """One bundle as a power curve.

    Attributes:
        dataset: the bundle.
        machine: its server.
        class_key: the class of it.
        contributor: who measured it.
        curves: target (``acpi:platform`` …) to points (load ratio, watts), by load.
        values: the main power's values in W in ascending order, at most `_KEPT`.
        rows: how many there were.
    """

    dataset: str
    machine: str
    class_key: str
    contributor: int
    curves: Mapping[str, Points]
    values: Floats
    rows: int

    def watts(self, target: str) -> Floats | None:
        """Watts at `LOADS`, or None where the target was not measured."""
        points = self.curves.get(target)
        if not points:
            return None
        load, watts = zip(*points, strict=True)
        return np.asarray(np.interp(LOADS, load, watts), dtype=np.float64)


def server_of(frame: Frame, contributor: int) -> Server:
    """Sum up a bundle's rows."""
    targets = [name for name in frame.rows.columns if ":" in name]
    curves = {name: _curve(frame, name) for name in targets}
    main = next((name for name in MAIN if name in targets), None)
    values = np.zeros(0)
    if main is not None:
        values = np.sort(frame.rows[main].drop_nulls().to_numpy().astype(np.float64))
    rows = len(values)
    return Server(
        frame.dataset,
        frame.machine,
        frame.class_key,
        contributor,
        {name: points for name, points in curves.items() if points},
        values[evenly(rows, min(rows, _KEPT))] if rows else values,
        rows,
    )


def read_servers(state: State, progress: Progress) -> Iterator[Server]:
    """Read every merged bundle; one that cannot be read is left out."""
    total = len(state.catalogue.bundles)
    for number, ref in enumerate(state.catalogue.bundles, 1):
        if number % 10 == 0 or number == total:
            progress(f"reading servers to compare with: {number} of {total}")
        with contextlib.suppress(RegistryError):
            bundle = _opened(state.source.tree, ref.manifest, ref.manifest_sha256)
            yield server_of(extract(bundle, ref.class_key), ref.contributor)


def read_withdrawn(tree: Tree) -> Iterator[Server]:
    """Read every withdrawn bundle that still can be read: copies of those count too."""
    for entry in tree.entries(DATASETS):
        folder, _, name = entry.path.rpartition("/")
        if name != WITHDRAWN:
            continue
        path = f"{folder}/{MANIFEST}"
        with contextlib.suppress(RegistryError):
            data = tree.read(path)
            manifest = read_manifest(data, path)
            frame = extract(_opened(tree, manifest, sha256(data)))
            yield server_of(frame, manifest.contributor)


def _opened(tree: Tree, manifest: Manifest, digest: str) -> Bundle:
    """Open a bundle that was verified when it was merged."""
    paths = [f"{DATASETS}{manifest.dataset}/{entry.path}" for entry in manifest.files]
    tables = {}
    for path, data in tree.read_many(paths):
        table = path.rpartition("/")[2].removesuffix(".csv")
        tables[table] = read_table(data, path, table)
    place = manifest.spec.path
    return Bundle(manifest, digest, read_spec(tree.read(place), place), tables)


def _curve(frame: Frame, target: str) -> Points:
    """Give mean watts by load: the levels as they are, recordings in steps of load."""
    rows = frame.rows.select("load_ratio", target).drop_nulls()
    if not len(rows):
        return ()
    load, watts = (rows[name].to_numpy() for name in ("load_ratio", target))
    # Sums in a fixed order: equal rows give equal bytes of the packet.
    key = np.round(load * _BINS) if frame.recorded else load
    step, of_row = np.unique(key, return_inverse=True)
    count = np.bincount(of_row, minlength=len(step))
    means = (np.bincount(of_row, part) / count for part in (load, watts))
    return tuple((float(x), float(y)) for x, y in zip(*means, strict=True))
