"""Attacks on the way into a popular server class: threat-model.md P6."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from registry.documents.classkey import class_key
from registry.documents.spec import HardwareSpec
from registry.gate.consistency import check_spec_and_data
from tests.simulators.bundles import changed, samples_bundle
from tests.simulators.gate import Proposals, found
from tests.simulators.machines import Machine
from tests.simulators.registry import small

if TYPE_CHECKING:
    from pathlib import Path

POPULAR = Machine("popular", "Intel Xeon Gold 6200R")


def test_p6_the_class_depends_on_hardware_only() -> None:
    """Neither the machine's name nor anything else that a contributor chooses."""
    spec = POPULAR.spec()
    same = spec | {"machine": "xeon-platinum-8480-2s-112c-512g", "storage": []}
    same["system"] = {"vendor": "popular", "model": "x", "form_factor": "tower"}
    keys = {class_key(HardwareSpec.model_validate(one)) for one in (spec, same)}
    assert len(keys) == 1


@pytest.mark.parametrize("field", ["class", "class_key", "node_type", "number"])
def test_p6_no_document_has_a_field_that_claims_a_class(
    field: str, tmp_path: Path
) -> None:
    proposals = Proposals(tmp_path / "repo", small())
    claims = small()
    claims.add_levels("server-d", 42)
    claims.edit("server-d", lambda value: value.update({field: "popular"}))
    path = "datasets/server-d/manifest.json"
    assert any(where == path for _, where in found(proposals.check(claims)))
    claims = small()
    claims.add_levels("server-d", 42)
    claims.files["specs/server-d.yaml"] += f"{field}: popular\n".encode()
    claims.reseal("server-d")
    path = "specs/server-d.yaml"
    assert any(where == path for _, where in found(proposals.check(claims)))


def test_p6_a_contribution_brings_no_class_file(tmp_path: Path) -> None:
    """Reviewed classes change by a change of their own, which people look at."""
    proposals = Proposals(tmp_path / "repo", small())
    claims = small()
    claims.add_levels("server-d", 42)
    path = "specs/classes/popular.yaml"
    claims.files[path] = (
        b"schema: server-class/1\nkey: popular\nmachines:\n  - server-d\n"
    )
    assert path in {where for _, where in found(proposals.check(claims))}


def test_p6_measurements_must_fit_the_machine_that_is_claimed() -> None:
    """More CPU seconds than the claimed class has CPUs to spend."""
    honest = samples_bundle()
    assert check_spec_and_data(honest) == []
    cpu = honest.spec.cpu.model_dump(mode="json", exclude_none=True)
    smaller = cpu | {"cores": 2, "sockets": {"populated": 1, "total": 1}}
    lied = changed(honest, spec={"cpu": smaller})
    codes = {one.code for one in check_spec_and_data(lied)}
    assert {"X001", "X003"} <= codes
    busier = pl.col("cpu_seconds_total") * 50
    codes = {one.code for one in check_spec_and_data(changed(honest, samples=busier))}
    assert "X001" in codes
