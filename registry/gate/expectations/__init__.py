"""Expectations: what measurements of a real server must show, judged by a library.

    findings, result = expect(bundle)

A bundle is first measured (`measuring`): a few dozen named numbers, such as how many
frequencies were reached or by how much power rises with load. The suite of the bundle's
profile, a YAML file of this package, then says between which bounds each must lie, and
Great Expectations judges them. It loads with the first bundle, not with this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from registry.documents.bundle import Bundle
    from registry.documents.canonical import Json
    from registry.documents.findings import Finding

__all__ = ["expect"]


def expect(bundle: Bundle) -> tuple[tuple[Finding, ...], Json]:
    """Judge a bundle by the suite of its profile.

    Args:
        bundle: Verified tables, manifest and spec.

    Returns:
        Findings of codes E000 to E048, and the complete validation result as JSON,
        which is the same in every run: it holds no times and no random ids.

    """
    from registry.gate.expectations import judging, measuring  # noqa: PLC0415

    return judging.judge(bundle, measuring.measure(bundle))
