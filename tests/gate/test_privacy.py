"""Bundles hold no identifiers, no free text and what their statement says."""

from __future__ import annotations

import polars as pl
import pytest

from registry.documents.bundle import Bundle
from registry.gate.privacy import (
    check_bundle,
    check_texts,
    manifest_texts,
    spec_texts,
)
from tests.simulators.bundles import changed, levels_bundle, samples_bundle
from tests.simulators.people import Person
from tests.simulators.registry import registry_of


@pytest.fixture(scope="module")
def loaded() -> Bundle:
    return levels_bundle()


@pytest.fixture(scope="module")
def recorded() -> Bundle:
    return samples_bundle()


def codes(bundle: Bundle) -> list[str]:
    return [found.code for found in check_bundle(bundle)]


def test_sound_bundles_name_no_one(loaded: Bundle, recorded: Bundle) -> None:
    assert check_bundle(loaded) == []
    assert check_bundle(recorded) == []


def test_no_file_of_a_sound_registry_names_anyone() -> None:
    simulated = registry_of(3)
    simulated.enrol(Person.new(7, "octo-cat-7"))
    for path, content in simulated.files.items():
        assert check_texts(path, content) == [], path


def test_a_planted_name_is_told_with_field_and_without_itself(loaded: Bundle) -> None:
    system = {"vendor": "Example", "model": "S/N ABC1234567", "form_factor": "rack-1u"}
    bundle = changed(loaded, spec={"system": system})
    (found,) = check_bundle(bundle)
    assert (found.code, found.path) == ("P005", bundle.manifest.spec.path)
    assert found.what.startswith('system.model: "S/N')
    assert "ABC1234567" not in found.what


@pytest.mark.parametrize(
    ("manifest", "code"),
    [
        ({"dataset": "srv-10-0-0-12"}, "P001"),
        ({"dataset": "srv01.example.org"}, "P006"),
        ({"dataset": "web-7d9c8b5f6d-x2k9p"}, "P008"),
        ({"dataset": "node-001a2b3c4d5e"}, "P005"),
        ({"dataset": "node-123456789"}, "P005"),
        ({"tool": {"name": "node.example.com", "version": "1"}}, "P006"),
        ({"tool": {"name": "t", "version": "192.168.0.7"}}, "P001"),
        (
            {
                "source": {
                    "kind": "other",
                    "id": "home/alice",
                    "published": "2020-01-01",
                }
            },
            "P007",
        ),
    ],
)
def test_names_in_the_manifest_are_told(
    loaded: Bundle, manifest: dict[str, object], code: str
) -> None:
    found = check_bundle(changed(loaded, manifest=manifest))
    assert [one.code for one in found] == [code]
    assert found[0].path.endswith("/manifest.json")


@pytest.mark.parametrize(
    ("firmware", "refused"), [("7.2.1.0", False), ("10.20.30.40", True)]
)
def test_versions_are_no_addresses(
    loaded: Bundle, firmware: str, *, refused: bool
) -> None:
    bmc = {"kind": "idrac", "firmware": firmware}
    found = check_bundle(changed(loaded, spec={"bmc": bmc}))
    assert [one.code for one in found] == (["P001"] if refused else [])


def test_digests_keys_and_signatures_are_skipped_in_bytes() -> None:
    key = "AAAAC3NzaC1lZDI1NTE5AAAAI" + "B7x9Kq2" * 6
    text = (
        f"ssh: ssh-ed25519 {key}\n"
        "-----BEGIN SSH SIGNATURE-----\nU1NIU0lHAAAA001a2b3c4d5e\n"
        "-----END SSH SIGNATURE-----\n"
        f'{{"sha256":"{"0a" * 32}","sketch":["{"0b" * 8}"]}}\n'
        "at 10.1.2.3\n"
    )
    (found,) = check_texts("registry/trust/1.yaml", text.encode())
    assert (found.code, found.line) == ("P001", 6)
    assert check_texts("x", text) == check_texts("x", text.encode())


def test_texts_are_named_by_their_field(loaded: Bundle) -> None:
    texts = manifest_texts(loaded.manifest)
    assert texts["measured.from"] == "2026-03-01"
    assert texts["workloads[0]"] == "idle"
    assert not any("sha256" in name or "sketch" in name for name in texts)
    assert spec_texts(loaded.spec)["storage[0].type"] == "nvme"


def pseudonymised(bundle: Bundle, stated: str, *, named: bool = True) -> Bundle:
    label = "w_abcdefgh2345"
    workloads = sorted({*bundle.manifest.workloads, label} if named else {"idle"})
    bundle = changed(
        bundle,
        manifest={"privacy": {"own_workloads": "pseudonymised"}, "workloads": workloads}
        if named
        else {},
        runs=pl.col("workload").replace("ssj2008", label) if named else pl.col("run"),
    )
    privacy = bundle.manifest.privacy.model_copy(update={"own_workloads": stated})
    manifest = bundle.manifest.model_copy(update={"privacy": privacy})
    return Bundle(manifest, "", bundle.spec, bundle.tables)


@pytest.mark.parametrize(
    ("stated", "named", "refused"),
    [
        ("none", False, False),
        ("withheld", False, False),
        ("pseudonymised", True, False),
        ("none", True, True),
        ("withheld", True, True),
        ("pseudonymised", False, True),
    ],
)
def test_the_statement_agrees_with_the_runs(
    loaded: Bundle, stated: str, *, named: bool, refused: bool
) -> None:
    found = codes(pseudonymised(loaded, stated, named=named))
    assert found == (["P009"] if refused else [])


def test_a_reader_that_let_text_pass_is_caught(loaded: Bundle) -> None:
    bundle = changed(
        loaded,
        runs=[
            pl.lit("alice").alias("placement"),
            pl.when(pl.col("run") == 3).then(pl.lit("payroll")).otherwise("workload")
            .alias("workload"),
        ],
        levels=pl.lit("secret").alias("note"),
    )  # fmt: skip
    found = check_bundle(bundle)
    assert [one.code for one in found] == ["P010"] * 3
    lines = {(one.path.rpartition("/")[2], one.line) for one in found}
    assert lines == {("levels.csv", 1), ("runs.csv", 2), ("runs.csv", 5)}
    for one in found:
        assert not {"alice", "payroll", "secret", "note"} & set(one.what.split())


def test_a_clock_that_tells_the_time_is_refused(recorded: Bundle) -> None:
    later = changed(recorded, samples=pl.col("time_seconds") + 86_400)
    (found,) = check_bundle(later)
    assert (found.code, found.line) == ("P011", 2)
