"""Manifests: what is accepted, and each refusal by its code."""

from __future__ import annotations

import json
from typing import Any

import pytest

from registry.documents import canonical
from registry.documents.findings import RegistryError
from registry.documents.manifest import Manifest, manifest_bytes, read_manifest

PATH = "datasets/r740-6248r-2026/manifest.json"


def test_a_manifest_survives_writing_and_reading(
    manifest_value: dict[str, Any],
) -> None:
    data = canonical.encode(manifest_value)
    manifest = read_manifest(data, PATH)
    assert manifest_bytes(manifest) == data
    dumped = manifest.model_dump(mode="json", by_alias=True)
    assert canonical.encode(dumped) == data
    assert manifest.measured.first == "2026-01-01"
    samples = manifest.file("samples.csv")
    assert samples is not None
    assert samples.columns == ("time_seconds", "run", "acpi_watts")
    assert manifest.file("levels.csv") is None
    assert Manifest.model_validate(manifest_value) == manifest


def test_published_facts_name_their_source(manifest_value: dict[str, Any]) -> None:
    manifest_value["licence"] = "LicenseRef-published-facts"
    manifest_value["source"] = {
        "kind": "spec-ssj2008",
        "id": "power_ssj2008-20071128-00001",
        "published": "2007-12-11",
    }
    data = canonical.encode(manifest_value)
    assert manifest_bytes(read_manifest(data, PATH)) == data


DELETED = object()


@pytest.mark.parametrize(
    ("place", "new", "code", "what"),
    [
        (("extra",), 1, "M001", "extra: no such field"),
        (("version",), DELETED, "M002", "version: the field is missing"),
        (("version",), 0, "M003", "version"),
        (("version",), True, "M003", "version"),
        (("version",), "1", "M003", "version"),
        (("version",), 2, "M004", "later ones have"),
        (("previous",), "ab" * 32, "M004", "version 1 has no previous"),
        (("registry",), "another-registry", "M003", "registry"),
        (("dataset",), "../etc", "M003", "dataset"),
        (("dataset",), "con", "M003", "device name"),
        (("contributor",), -1, "M003", "contributor"),
        (("spec", "path"), "../../etc/passwd", "M003", "spec.path"),
        (("spec", "path"), "specs/a/b.yaml", "M004", "specs/<machine>.yaml"),
        (("spec", "path"), "datasets/a.yaml", "M004", "specs/<machine>.yaml"),
        (("spec", "sha256"), "AB" * 32, "M003", "spec.sha256"),
        (("files", 0, "path"), "/etc/passwd", "M003", "files[0].path"),
        (("files", 0, "rows"), 10**9, "M003", "files[0].rows"),
        (("files", 0, "bytes"), 10**9, "M003", "files[0].bytes"),
        (("files", 1, "columns"), ["run", "run"], "M004", "names a column twice"),
        (("files", 1, "sketch"), ["1" * 16, "0" * 16], "M004", "is not sorted"),
        (("files", 1, "sketch"), [], "M004", "does not fit"),
        (("profile",), "load-levels", "M004", "levels.csv and runs.csv"),
        (("objects",), [{"url": "https://x/y", "bytes": 1, "sha256": "ab" * 32}],
         "M003", "objects"),
        (("licence",), "MIT", "M003", "licence"),
        (("licence",), "LicenseRef-published-facts", "M004", "need their source"),
        (("measured", "to"), "2025-01-01", "M004", "ends before it begins"),
        (("measured", "to"), "2026-02-30", "M003", "measured.to"),
        (("measured", "from"), "1970-01-01", "M003", "before the year 2000"),
        (("workloads",), ["int", "idle"], "M004", "not sorted"),
        (("workloads",), ["my-secret-job"], "M003", "workloads[0]"),
        (("workloads",), ["w_abcdefghij23"], "M004", "pseudonyms"),
        (("privacy", "own_workloads"), "pseudonymised", "M004", "pseudonyms"),
        (("tool", "name"), "/home/me/tool", "M003", "tool.name"),
        (("derived",), "smoothing", "M003", "derived"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(
    manifest_value: dict[str, Any],
    place: tuple[str | int, ...],
    new: object,
    code: str,
    what: str,
) -> None:
    inner: Any = manifest_value
    for key in place[:-1]:
        inner = inner[key]
    if new is DELETED:
        del inner[place[-1]]
    else:
        inner[place[-1]] = new
    with pytest.raises(RegistryError) as caught:
        read_manifest(canonical.encode(manifest_value), PATH)
    found = caught.value.findings[0]
    assert (found.code, found.path) == (code, PATH)
    assert what in found.what


def test_only_the_canonical_bytes_are_read(manifest_value: dict[str, Any]) -> None:
    for data in (
        json.dumps(manifest_value, indent=1).encode(),
        canonical.encode(manifest_value)[:-1],
        canonical.encode({k: v for k, v in manifest_value.items() if k != "objects"}),
    ):
        with pytest.raises(RegistryError, match="M005"):
            read_manifest(data, PATH)


def test_a_list_is_no_manifest() -> None:
    with pytest.raises(RegistryError, match="M006"):
        read_manifest(b"[]\n", PATH)
