"""All measures of a bundle, by its collection profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.gate.expectations.crosscheck import measure_agreement
from registry.gate.expectations.levels import measure_levels
from registry.gate.expectations.recording import measure_recording
from registry.gate.expectations.response import (
    measure_levels_of_power,
    measure_response,
)
from registry.gate.expectations.sources import WHOLE_ZONES

if TYPE_CHECKING:
    from registry.documents.bundle import Bundle
    from registry.gate.expectations.measure import Measures

__all__ = ["measure"]


def measure(bundle: Bundle) -> Measures:
    """Take every measure of a bundle; the same bundle gives the same measures."""
    recorded = bundle.manifest.profile == "timeseries"
    measures, points = measure_recording(bundle) if recorded else measure_levels(bundle)
    measures.add("power_sources", len(points.zone(*WHOLE_ZONES)))
    measure_levels_of_power(points, bundle.spec, measures)
    measure_response(points, measures)
    measure_agreement(points, bundle.spec, measures)
    return measures
