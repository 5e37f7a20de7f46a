"""Judge what a sound bundle says: it fits its machine, names nobody, makes sense."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.gate.paths import MANIFEST
from registry.gate.tree import DATASETS

if TYPE_CHECKING:
    from registry.gate.opening import Examined
    from registry.gate.outcome import Outcome

__all__ = ["judge"]


def judge(examined: Examined, outcome: Outcome, *, expectations: bool) -> None:
    """Add the findings of consistency, privacy and, if asked for, expectations.

    Args:
        examined: a bundle; if it cannot be read, only its readable texts are judged.
            Whether it is signed does not matter here: one look shows everything.
        outcome: gets the findings and the full expectation result.
        expectations: whether to run the profile's expectation suite, which loads Great
            Expectations (seconds).
    """
    from registry.gate.consistency import check_spec_and_data  # noqa: PLC0415
    from registry.gate.privacy import check_bundle  # noqa: PLC0415

    bundle = examined.readable
    if bundle is None:
        _judge_texts(examined, outcome)
        return
    outcome.findings += check_spec_and_data(bundle)
    outcome.findings += check_bundle(bundle)
    if expectations:
        from registry.gate.expectations import expect  # noqa: PLC0415  slow import

        findings, result = expect(bundle)
        outcome.findings += findings
        outcome.results[examined.dataset] = result


def _judge_texts(examined: Examined, outcome: Outcome) -> None:
    """Look for identifiers in what could be read, so that one look shows those too."""
    from registry.gate.privacy import (  # noqa: PLC0415
        check_texts,
        manifest_texts,
        spec_texts,
    )

    manifest, spec = examined.manifest, examined.spec
    if manifest is None or examined.unused:
        return
    path = f"{DATASETS}{examined.dataset}/{MANIFEST}"
    outcome.findings += check_texts(path, manifest_texts(manifest))
    if spec is not None:
        outcome.findings += check_texts(manifest.spec.path, spec_texts(spec))
