"""One bad sample for every expectation: exactly the findings that it must raise."""

from __future__ import annotations

import pytest

from registry.documents.bundle import Bundle
from registry.gate.expectations import expect
from registry.gate.expectations.codes import EXPECTATION_CODES
from tests.simulators.bad_levels import LEVELS
from tests.simulators.bad_recordings import RECORDINGS
from tests.simulators.bundles import levels_bundle, samples_bundle


@pytest.fixture(scope="module")
def recorded() -> Bundle:
    return samples_bundle()


@pytest.fixture(scope="module")
def loaded() -> Bundle:
    return levels_bundle()


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_bad_recording_is_told(name: str, recorded: Bundle) -> None:
    change, expected = RECORDINGS[name]
    assert {found.code for found in expect(change(recorded))[0]} == expected


@pytest.mark.parametrize("name", LEVELS)
def test_bad_load_levels_are_told(name: str, loaded: Bundle) -> None:
    change, expected = LEVELS[name]
    assert {found.code for found in expect(change(loaded))[0]} == expected


def test_every_code_has_a_bad_sample() -> None:
    tried = [codes for _, codes in (*RECORDINGS.values(), *LEVELS.values())]
    assert set().union(*tried) == set(EXPECTATION_CODES)
