"""Pages, workloads and the bundle."""

from __future__ import annotations

import re
from typing import Any

import polars as pl
import pytest

from registry.documents import bundle, findings, workloads
from registry.documents.codes_page import codes_page
from registry.documents.manifest import Manifest
from registry.documents.spec import HardwareSpec


def test_every_code_is_on_the_page() -> None:
    page = codes_page()
    for declared in findings.CODES.values():
        assert f"| `{declared.id}` |" in page
    assert "## Hardware spec" in page


def test_cells_cannot_break_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(findings, "CODES", {})
    findings.code("C999", findings.Severity.INFO, "A | B.", "Do.", "B1", "B2")
    monkeypatch.setattr("registry.documents.codes_page.CODES", findings.CODES)
    findings.code("€001", findings.Severity.INFO, "Other.", "Do.")
    assert "## €" in codes_page()
    assert r"| `C999` | info | A \| B. | Do. | B1, B2 |" in codes_page()


def test_labels_of_workloads() -> None:
    assert workloads.is_label("int")
    assert workloads.is_label("other")
    assert workloads.is_label("w_abcdefghij27")
    for bad in ("", "Int", "w_short", "w_ABCDEFGHIJKL", "int\n", "my job"):
        assert not workloads.is_label(bad)
    assert workloads.is_pseudonym("w_abcdefghij27")
    assert not workloads.is_pseudonym("int")


def test_the_catalogue_of_workloads() -> None:
    idle = workloads.workload("idle")
    assert idle is not None
    assert idle.idle
    busy = workloads.workload("membw")
    assert busy is not None
    assert busy.target
    assert not busy.idle
    assert workloads.workload("other") is None
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in workloads.WORKLOADS)


def test_a_bundle_gives_its_tables(
    manifest_value: dict[str, Any], spec_value: dict[str, Any]
) -> None:
    made = bundle.Bundle(
        manifest=Manifest.model_validate(manifest_value),
        manifest_sha256="ab" * 32,
        spec=HardwareSpec.model_validate(spec_value),
        tables={"runs": pl.DataFrame({"run": [1]})},
    )
    assert made.path == "datasets/r740-6248r-2026"
    assert made.dataset == "r740-6248r-2026"
    assert made.table("runs") is not None
    assert made.table("levels") is None
