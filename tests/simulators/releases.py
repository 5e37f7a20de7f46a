"""Complete release folders from hand-made models: no fitting and no drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unittest.mock import patch

from registry.documents.canonical import sha256
from registry.documents.classkey import class_key, node_type
from registry.documents.spec import HardwareSpec, write_spec
from registry.modelling.digest import code_digest, library_versions
from registry.modelling.model import CURVE, LINEAR, TREES
from registry.modelling.plan import Plan
from registry.publish import assembly
from registry.publish.header import VALID_SECONDS
from registry.publish.index import (
    Asset,
    BundleEntry,
    ClassEntry,
    Index,
    index_bytes,
    machine_entry,
)
from registry.publish.kepler.node_types import machine_of
from registry.publish.previous import artifact_digest
from registry.publish.provenance import PROVENANCE, provenance_bytes
from registry.publish.staging import Staging, sums_bytes
from tests.simulators import models as made
from tests.simulators.machines import Machine

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from registry.modelling.model import Model

__all__ = [
    "KEY",
    "NUMBER",
    "SERIAL",
    "SPEC",
    "head",
    "make_release",
    "poison",
    "usual_models",
]

SERIAL = 1_780_000_000
SPEC = HardwareSpec.model_validate(Machine("server-a").spec())
KEY = class_key(SPEC)
NUMBER = node_type(KEY)
EMPTY = Plan(fit=(), reuse=(), drop=(), reasons=(), classes={})


def head(serial: int = SERIAL) -> Index:
    """An index without models: one server of one contributor."""
    attributes = machine_entry(machine_of(SPEC))
    bundle = BundleEntry(
        dataset="server-a",
        version=1,
        manifest_sha256="a" * 64,
        spec_sha256=sha256(write_spec(SPEC)),
        machine="server-a",
        attributes=attributes,
        class_key=KEY,
        contributor=42,
        fingerprint="SHA256:" + "A" * 43,
        licence="CDLA-Permissive-2.0",
        cites=None,
        arrived=serial,
    )
    generic = ClassEntry(
        key="generic",
        number=0,
        attributes=None,
        machines=("server-a",),
        contributors=1,
    )
    return Index(
        schema_id="release/1",
        serial=serial,
        commit="c0ffee" + "0" * 34,
        created="2026-05-28T20:26:40Z",
        expires=serial + VALID_SECONDS,
        class_rule="class-key/1",
        code={"artifacts": artifact_digest(), "fits": code_digest()},
        libraries=dict(library_versions()),
        classes=(
            generic,
            generic.model_copy(
                update={"key": KEY, "number": NUMBER, "attributes": attributes}
            ),
        ),
        bundles=(bundle,),
        withdrawn=(),
        models=(),
        assets=(),
    )


def usual_models() -> list[Model]:
    """Generic models of all kinds and sources, and better ones of one class."""
    kinds = [("acpi", trainer) for trainer in (LINEAR, TREES, CURVE)]
    kinds += [("rapl-sysfs", trainer) for trainer in (LINEAR, TREES)]
    found = [
        made.model(trainer, source, number, key=key, mae=mae)
        for number, key, mae in ((0, "generic", 30.0), (NUMBER, KEY, 5.0))
        for source, trainer in kinds
    ]
    counters = made.model(
        LINEAR,
        features=made.COUNTERS,
        part=made.linear(features=made.COUNTERS),
        group="CounterOnly",
        key="generic",
        mae=1.0,
    )
    return [*found, counters]


def make_release(
    out: Path,
    models: Sequence[Model] | None = None,
    *,
    serial: int = SERIAL,
    start: Index | None = None,
) -> Index:
    """Write a release folder.

    Args:
        out: Where.
        models: Models; by default `usual_models`.
        serial: Its serial.
        start: The index without models; by default `head`.
    """
    chosen = usual_models() if models is None else list(models)
    with patch.object(assembly, "power_curves_svg", return_value=b"<svg/>\n"):
        index, _ = assembly.assemble(
            Staging(out), start or head(serial), EMPTY, chosen, None
        )
    return index


def poison(folder: Path, index: Index, changed: dict[str, bytes]) -> None:
    """Change files of a release and everything in it that vouches for them.

    Args:
        folder: The release.
        index: Its index.
        changed: New bytes by path.
    """
    for name, data in changed.items():
        (folder / name).write_bytes(data)

    def fresh(path: str) -> Asset:
        data = (folder / path).read_bytes()
        return Asset(path=path, bytes=len(data), sha256=sha256(data))

    paths = [asset.path for asset in index.assets]
    new = index.model_copy(update={"assets": tuple(map(fresh, paths))})
    (folder / PROVENANCE).write_bytes(provenance_bytes(new))
    new = index.model_copy(update={"assets": tuple(map(fresh, paths))})
    (folder / "index.json").write_bytes(index_bytes(new))
    (folder / "SHA256SUMS").write_bytes(
        sums_bytes(map(fresh, sorted([*paths, "index.json"])))
    )
