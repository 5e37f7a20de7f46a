"""Class keys: readable, stable, blind to spelling."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.documents.classkey import RULE, class_key, node_type, processor_slug
from registry.documents.names import is_name
from registry.documents.spec import HardwareSpec


@pytest.mark.parametrize(
    ("model", "slug"),
    [
        ("Intel(R) Xeon(R) Gold 6248R CPU @ 3.00GHz", "xeon-gold-6248r"),
        ("Intel Xeon Gold 6248R", "xeon-gold-6248r"),
        ("Xeon Gold 6248R 24-Core Processor 3.0 GHz", "xeon-gold-6248r"),
        ("Intel(R) Xeon(R) CPU E5-2686 v4 @ 2.30GHz", "xeon-e5-2686-v4"),
        ("Intel Xeon X3360", "xeon-x3360"),
        ("Quad-Core AMD Opteron 2356", "opteron-2356"),
        ("AMD Opteron(tm) Processor 6276", "opteron-6276"),
        ("AMD EPYC 7763 64-Core Processor", "epyc-7763"),
        ("Intel Xeon E5-2699 v3 (2.3 GHz, 145W)", "xeon-e5-2699-v3"),
        ("Intel Xeon processor 3.6 GHz", "xeon-3600mhz"),
        ("Intel Xeon E5-2660V2", "xeon-e5-2660-v2"),
        ("Intel Xeon E3-1265Lv3", "xeon-e3-1265l-v3"),
        ("AMD Opteron 4376HE", "opteron-4376-he"),
        ("AMD EPYC 7601 2.20 GHz, Dell SKU [338-BNCG]", "epyc-7601"),
        ("Neoverse-N1", "neoverse-n1"),
        ("Intel", "intel"),
    ],
)
def test_spellings_of_a_processor(model: str, slug: str) -> None:
    assert processor_slug(model) == slug


def test_a_bare_name_takes_the_frequency_of_the_spec() -> None:
    assert processor_slug("Intel Xeon", 3_400_000_000) == "xeon-3400mhz"
    assert processor_slug("Intel Xeon") == "xeon"


def test_the_key_is_readable(spec_value: dict[str, Any]) -> None:
    spec_value["gpus"] = []
    spec = HardwareSpec.model_validate(spec_value)
    assert class_key(spec) == "xeon-gold-6248r-2s-48c-384g"
    assert RULE == "class-key/1"


def test_what_else_is_in_the_key(spec_value: dict[str, Any]) -> None:
    spec = HardwareSpec.model_validate(spec_value)
    assert class_key(spec) == "xeon-gold-6248r-2s-48c-384g-2xa100-80gb-pcie"
    spec_value["gpus"] = []
    spec_value["cpu"].update(threads_per_core=1, smt="off")
    spec_value["virtualisation"] = {"kind": "vm", "hypervisor": "kvm"}
    del spec_value["rapl_zones"]
    spec = HardwareSpec.model_validate(spec_value)
    assert class_key(spec) == "xeon-gold-6248r-2s-48c-384g-1t-vm"


def test_what_does_not_belong_to_the_class_leaves_the_key(
    spec_value: dict[str, Any],
) -> None:
    before = class_key(HardwareSpec.model_validate(spec_value))
    spec_value["machine"] = "another"
    spec_value["system"]["vendor"] = "HPE"
    spec_value["cpu"]["model"] = "Xeon Gold 6248R"
    spec_value["memory"]["bytes"] += 2**20
    del spec_value["os"]
    assert class_key(HardwareSpec.model_validate(spec_value)) == before


def test_long_keys_stay_names(spec_value: dict[str, Any]) -> None:
    spec_value["gpus"] = [
        {"count": n, "vendor": "other", "model": f"Accelerator With A Long Name {n}"}
        for n in range(1, 5)
    ]
    key = class_key(HardwareSpec.model_validate(spec_value))
    assert len(key) == 64
    assert is_name(key)


def test_the_generic_class_is_number_zero() -> None:
    assert node_type("generic") == 0


def test_a_number_never_changes() -> None:
    assert node_type("xeon-gold-6248r-2s-48c-384g") == 220167414


@settings(deadline=None)
@given(st.text(max_size=30).filter(lambda key: key != "generic"))
def test_numbers_have_nine_digits(key: str) -> None:
    assert 100_000_000 <= node_type(key) <= 999_999_999


@settings(deadline=None)
@given(st.text(st.characters(codec="ascii"), min_size=1, max_size=60))
def test_any_model_gives_a_name(model: str) -> None:
    slug = processor_slug(model)
    assert is_name(f"{slug[:50]}-1s")


def test_published_processors_have_distinct_readable_keys(shared_data: Path) -> None:
    with (shared_data / "specpower" / "specpower_results.csv").open() as file:
        names = {row["cpu_name"] for row in csv.DictReader(file)}
    slugs = {name: processor_slug(name) for name in names}
    assert all(is_name(slug) and len(slug) < 40 for slug in slugs.values())
    assert not [slug for slug in slugs.values() if slug.startswith(("intel", "amd"))]
    assert len(set(slugs.values())) > 0.7 * len(names)
