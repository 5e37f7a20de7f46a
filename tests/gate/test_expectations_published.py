"""Published measurements of real servers: none of them may be refused by mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.documents.bundle import Bundle
from registry.gate.consistency import check_spec_and_data
from registry.gate.expectations import expect
from registry.gate.expectations.measure import Measures
from registry.gate.expectations.measuring import measure
from registry.gate.expectations.suites import suite
from registry.gate.identifiers import identifiers
from tests.simulators.bundles import changed, levels_bundle, samples_bundle
from tests.simulators.published import (
    bursts,
    disclosures,
    load_curves,
    results,
)

EVERY = 24
"""Every how many results the whole library judges, which takes longer."""


@pytest.fixture(scope="module")
def servers(shared_data: Path) -> list[Bundle]:
    return list(results(shared_data))


@pytest.fixture(scope="module")
def nx12(shared_data: Path) -> Bundle:
    source = {
        "kind": "kepler-model-db",
        "id": "v0.6/nx12",
        "published": "2023-09-19",
    }
    return changed(
        samples_bundle(),
        manifest={"derived": "rates", "source": source},
        spec={
            "cpu": {
                "vendor": "intel",
                "model": "unknown",
                "architecture": "x86_64",
                "sockets": {"populated": 1},
                "cores": 16,
                "threads_per_core": 2,
            },
            "rapl_zones": [],
        },
        **bursts(shared_data),
    )


def outside(measures: Measures, profile: str) -> list[str]:
    """What a plain comparison with the suite's bounds refuses."""
    return [
        f"{expected.id} {item.subject} {item.value}"
        for expected in suite(profile).expectations
        for item in measures
        if item.name == expected.measure
        and item.value is not None
        and not (
            (expected.min_value is None or expected.min_value <= item.value)
            and (expected.max_value is None or item.value <= expected.max_value)
        )
    ]


def test_no_published_server_is_refused(servers: list[Bundle]) -> None:
    refused = {
        number: wrong
        for number, bundle in enumerate(servers)
        if (wrong := outside(measure(bundle), "load-levels"))
    }
    assert len(servers) == 577
    assert refused == {}


def test_the_library_refuses_no_published_server(servers: list[Bundle]) -> None:
    for bundle in servers[::EVERY]:
        assert expect(bundle)[0] == ()


def test_published_servers_fit_their_specs(servers: list[Bundle]) -> None:
    codes = {one.code for bundle in servers for one in check_spec_and_data(bundle)}
    assert codes <= {"X009"}  # the manifest is a simulated one, of other workloads


def test_every_measure_of_a_published_server_is_within_sight(
    servers: list[Bundle],
) -> None:
    """The figures that the comments of load-levels.yaml quote."""
    found: dict[str, list[float]] = {}
    for bundle in servers:
        for item in measure(bundle):
            if item.value is not None:
                found.setdefault(item.name, []).append(item.value)
    assert max(found["over_supplies"]) == pytest.approx(0.904)
    assert min(found["response"]) == pytest.approx(0.273, abs=1e-3)
    assert min(found["follows_load"]) == pytest.approx(0.929, abs=1e-3)
    assert max(found["load_missed"]) == pytest.approx(0.024)
    assert min(found["watts_platform"]) == pytest.approx(9.33)
    assert max(found["watts_platform"]) == pytest.approx(2148)
    assert min(found["peak_watts_per_core"]) == pytest.approx(3.07, abs=1e-2)
    assert max(found["peak_watts_per_core"]) == pytest.approx(197)


def test_nx12_is_refused_for_exactly_what_it_lacks(nx12: Bundle) -> None:
    found = expect(nx12)[0]
    assert [(one.code, one.path) for one in found] == [
        ("E001", "datasets/server-b/runs.csv"),
        ("E003", "datasets/server-b/runs.csv"),
    ]
    assert found[0].what.startswith("no accepted run of: fp, vec, mix")
    assert found[1].what.startswith("0 distinct achieved frequencies, at least 10")


def test_the_figures_of_nx12_that_the_suite_quotes(nx12: Bundle) -> None:
    measures = measure(nx12)
    assert measures.value("node_slope", "acpi_watts") == pytest.approx(1.14, abs=0.01)
    assert measures.value("follows_parts", "acpi_watts") > 0.98  # type: ignore[operator]
    assert measures.value("resolution_steps", "acpi_watts") == 225
    assert measures.value("dram_over_package", "rapl_dram_0_watts") == pytest.approx(
        0.57, abs=0.01
    )


def test_curves_of_processors_at_their_limit_are_not_refused(
    shared_data: Path,
) -> None:
    """RAPL curves flatten, and even fall, when a processor meets its power limit."""
    template, seen = levels_bundle(), {}
    for name, tables in load_curves(shared_data):
        measures = measure(changed(template, **tables))
        seen[name] = measures.value("fall", "rapl_package_0_watts")
        assert outside(measures, "load-levels") == [], name
    assert len(seen) == 4
    assert seen["AMD_EPYC_8024P_8C some"] == pytest.approx(0.109, abs=1e-3)


NAMES_OF_PRODUCTS = ("vendor", "hw_vendor", "model", "cpu_name", "form_factor", "os")
OTHERS = ("psu", "psu_details", "disk", "memory_details", "os_version", "jvm_version")


def test_no_published_product_looks_like_an_identifier(shared_data: Path) -> None:
    """Names of products hold no identifier at all; prose no network or person."""
    for name, text in disclosures(shared_data, NAMES_OF_PRODUCTS):
        assert not identifiers(text), (name, text)
    for name, text in disclosures(shared_data, OTHERS):
        kinds = {one.kind for one in identifiers(text)}
        assert kinds <= {"serial"}, (name, text)
