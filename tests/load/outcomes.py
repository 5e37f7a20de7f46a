"""What a parser may do with any input: give a value or findings, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from registry.documents.findings import RegistryError

if TYPE_CHECKING:
    from collections.abc import Callable

    from registry.documents.findings import Finding

__all__ = ["outcome"]

_Value = TypeVar("_Value")


def outcome(parse: Callable[[], _Value]) -> tuple[_Value | None, tuple[Finding, ...]]:
    """The value or the findings, whose texts are bounded and printable."""
    try:
        return parse(), ()
    except RegistryError as refused:
        for found in refused.findings:
            assert 0 < len(found.what) <= 300
            assert (found.path + found.what).isprintable()
        return None, refused.findings
