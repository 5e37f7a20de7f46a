"""Judge what a sound bundle says: it fits its machine, names nobody, makes sense."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from registry.gate.opening import Examined
    from registry.gate.outcome import Outcome

__all__ = ["judge"]


def judge(examined: Examined, outcome: Outcome, *, expectations: bool) -> None:
    """Add the findings of consistency, privacy and, if asked for, expectations.

    Args:
        examined: a bundle; nothing is judged that has no sound bundle.
        outcome: gets the findings and the full expectation result.
        expectations: whether to run the profile's expectation suite, which loads Great
            Expectations (seconds).
    """
    from registry.gate.consistency import check_spec_and_data  # noqa: PLC0415
    from registry.gate.privacy import check_bundle  # noqa: PLC0415

    bundle = examined.bundle
    if bundle is None:
        return
    outcome.findings += check_spec_and_data(bundle)
    outcome.findings += check_bundle(bundle)
    if expectations:
        from registry.gate.expectations import expect  # noqa: PLC0415  slow import

        findings, result = expect(bundle)
        outcome.findings += findings
        outcome.results[examined.dataset] = result
