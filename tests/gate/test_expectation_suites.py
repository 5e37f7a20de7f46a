"""The suites as documents: complete, consistent, and refused when they are not."""

from __future__ import annotations

import pytest

from registry.documents.findings import CODES, RegistryError
from registry.gate.expectations.codes import EXPECTATION_CODES
from registry.gate.expectations.measure import NAMES, Measures
from registry.gate.expectations.suites import PROFILES, parse, suite

SOUND = """
name: s
expectations:
  - id: one
    type: expect_measure_to_be_between
    kwargs: {measure: frequencies, min_value: 10}
    meta: {code: E003, file: runs.csv, what: "{observed}"}
"""


def test_every_measure_is_judged_and_every_code_is_used() -> None:
    judged = [expected for name in PROFILES for expected in suite(name).expectations]
    assert {expected.measure for expected in judged} == set(NAMES)
    assert {expected.code.id for expected in judged} == set(EXPECTATION_CODES)


@pytest.mark.parametrize("profile", PROFILES)
def test_texts_of_a_suite_can_be_filled(profile: str) -> None:
    files = {"manifest.json", "runs.csv"}
    files.add("samples.csv" if profile == "timeseries" else "levels.csv")
    for expected in suite(profile).expectations:
        text = expected.what.format(observed="1", subjects="a", min="2", max="3")
        assert 0 < len(text) < 120
        assert expected.file in files
        assert ("{min}" in expected.what) <= (expected.min_value is not None)
        assert ("{max}" in expected.what) <= (expected.max_value is not None)


def test_bounds_that_the_design_fixes() -> None:
    assert suite("timeseries").expectation("ten-frequencies").min_value == 10
    assert suite("load-levels").expectation("ten-load-levels").min_value == 10
    assert suite("load-levels").expectation("idle-present").min_value == 1
    with pytest.raises(KeyError):
        suite("load-levels").expectation("ten-frequencies")


def test_codes_are_registered_and_say_what_to_do() -> None:
    for number, found in EXPECTATION_CODES.items():
        assert CODES[number] is found
        assert found.title.endswith(".")
        assert found.fix.endswith(".")


def test_an_unknown_profile_has_no_suite() -> None:
    with pytest.raises(ValueError, match="no suite for the profile"):
        suite("vm-guest")


def test_a_sound_suite_is_read() -> None:
    read = parse(SOUND.encode(), "s.yaml")
    assert (read.name, len(read.expectations)) == ("s", 1)
    assert read.expectations[0].min_value == 10.0
    assert read.expectations[0].max_value is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("frequencies", "frequency", "is unknown"),
        ("E003", "E999", "is unknown"),
        ("min_value: 10", "minimum: 10", "expected the keys"),
        (", min_value: 10", "", "with a bound"),
        ("min_value: 10", "min_value: ten", "could not convert"),
        ("expect_measure_to_be_between", "expect_column_to_exist", "with a bound"),
        ("what:", "why:", "expected the keys"),
        ("    kwargs:", "    notes: x\n    kwargs:", "expected the keys"),
        ("expectations:", "expected:", "lists no expectations"),
    ],
)
def test_a_wrong_suite_is_refused(old: str, new: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse(SOUND.replace(old, new).encode(), "s.yaml")


def test_an_expectation_has_one_name() -> None:
    entry = SOUND.partition("expectations:\n")[2]
    with pytest.raises(ValueError, match="twice"):
        parse((SOUND + entry).encode(), "s.yaml")


def test_a_suite_is_strict_yaml() -> None:
    with pytest.raises(RegistryError):
        parse(b"name: &x s\nexpectations: [*x]\n", "s.yaml")


def test_measures_have_known_names_and_finite_values() -> None:
    measures = Measures()
    measures.add("frequencies", 12.3456789)
    measures.add("response", float("nan"), "acpi_watts")
    measures.add_runs("samples_per_run", [3, 4], [7.0, float("inf")])
    assert measures.value("frequencies") == 12.3457
    assert measures.value("response", "acpi_watts") is None
    assert measures.value("samples_per_run", "run 3") == 7.0
    assert measures.value("samples_per_run", "run 4") is None
    assert measures.value("levels") is None
    with pytest.raises(KeyError):
        measures.add("frequency", 1)
